import { formatAmount } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import { counted } from '../../core/collections.js';
import type { Instant } from '../../core/instant.js';
import { displayName } from '../../accounts/recipients.js';
import { isExpired, SUPPORT, waitingOf } from '../../approvals/rules.js';
import { isPaused, pendingRows } from '../../batches/rules.js';
import type { Reader } from '../../db/database.js';
import { approvals } from '../../db/entities/approvals.js';
import type { BonusBatch } from '../../db/entities/bonuses.js';
import type { Transfer } from '../../db/entities/operations.js';
import { type Payout, payoutResolutions } from '../../db/entities/payouts.js';
import type { WebhookEndpoint } from '../../db/entities/webhooks.js';
import { DIRECTIONS } from '../actions/adjustments.js';
import { type Content, html, type Html } from '../html.js';
import { type Names, namesOf } from '../reading/transfers.js';
import { endText, resolutionLine, stuckText } from '../reading/payouts.js';
import type { Rows } from '../reading/search.js';
import {
  dated,
  distance,
  type Fact,
  pathOf,
  type ResourcePath,
  table,
  tag,
  tenantFact,
  time,
} from './layout.js';

/** Tables of resources. The first column links to the resource. */

interface Context extends Names {
  readonly now: Instant;
  /** Whether support has approved the resource. */
  hasSupport(id: Uuid): boolean;
  /** Returns the resolutions that are proposed for a payout. */
  proposals(id: Uuid): readonly string[];
}

/** Characters of a shortened id. They contain its time, which distinguishes nearly all ids. */
const SHORT_ID = 13;

type RowOf<Row> = (row: Row, context: Context) => readonly Fact[];

export async function tableOf<K extends keyof Rows>(
  reader: Reader,
  now: Instant,
  kind: K,
  label: string,
  rows: readonly Rows[K][],
): Promise<Html> {
  const rowOf: RowOf<Rows[K]> = ROWS[kind];
  const all: readonly Rows[keyof Rows][] = rows;
  const ids = all.map(({ id }) => id);
  const owned = all.flatMap((row) => ('tenantId' in row ? [row] : []));
  const hasApprovals = (kind === 'transfers' || kind === 'payouts') && ids.length > 0;
  const [names, given, proposed] = await Promise.all([
    namesOf(reader, owned),
    hasApprovals ? reader.select(approvals, { resourceId: ids, approver: SUPPORT }) : [],
    hasApprovals && kind === 'payouts'
      ? reader.select(payoutResolutions, { payoutId: ids, status: 'proposed' })
      : [],
  ]);
  const supported = new Set(given.map(({ resourceId }) => resourceId));
  const context: Context = {
    ...names,
    now,
    hasSupport: (id) => supported.has(id),
    proposals: (id) => proposed.filter(({ payoutId }) => payoutId === id).map(resolutionLine),
  };
  return table(
    label,
    rows.map((row) => [
      ...rowOf(row, context),
      ['Id', html`<code>${row.id.slice(0, SHORT_ID)}</code>`],
    ]),
  );
}

const ROWS: { readonly [K in keyof Rows]: RowOf<Rows[K]> } = {
  transfers: (transfer, context) =>
    operationRow('transfers', transfer, context, context.account(transfer.destinationAccountId)),
  payouts: (payout, context) => operationRow('payouts', payout, context, bankAccountText(payout)),
  batches(batch, context) {
    const { id, asset, totalRaw: raw, createdAt, tenantId } = batch;
    return [
      ['Batch', plainLink('batches', id, batchTitle(batch))],
      ['Total', asset !== null && formatAmount({ raw, asset })],
      ['From', context.account(batch.sourceAccountId)],
      ['Description', batch.description && plainLink('batches', id, batch.description)],
      ['Status', batchStatus(batch)],
      ['Rows', batch.status === 'executing' && paymentsText(batch)],
      tenantFact(tenantId, context.tenant(tenantId)),
      ['Requested by', context.person(batch.createdBy)],
      ['Time', agoText('Uploaded', createdAt, context, tenantId)],
    ];
  },
  endpoints(endpoint, context) {
    const { failingSince, lastSuccessAt, tenantId } = endpoint;
    const { now } = context;
    const zone = context.timeZone(tenantId);
    return [
      ['Address', plainLink('endpoints', endpoint.id, endpoint.url)],
      ['Status', endpointStatus(endpoint)],
      ['Disabled', endText(endpoint.disabledReason)],
      tenantFact(tenantId, context.tenant(tenantId)),
      [
        'Time',
        failingSince !== null &&
          dated(`Failing for ${distance(failingSince, now)}`, failingSince, zone),
      ],
      ['Last success', time(lastSuccessAt, zone) ?? 'none'],
    ];
  },
  adjustments(adjustment, context) {
    const { id, tenantId, createdAt } = adjustment;
    return [
      ['Amount', plainLink('adjustments', id, formatAmount(adjustment), 'amount')],
      ['Direction', DIRECTIONS[adjustment.direction]],
      ['Account', context.account(adjustment.accountId)],
      ['Reason', adjustment.reason],
      ['Reference', adjustment.reference],
      ['Status', tag(adjustment.status)],
      tenantFact(tenantId, context.tenant(tenantId)),
      ['Proposed by', adjustment.proposedBy],
      ['Time', agoText('Proposed', createdAt, context, tenantId)],
    ];
  },
  accounts: ({ id, type, name, alias, status, tenantId }, context) => [
    ['Account', plainLink('accounts', id, displayName(type, name))],
    ['Alias', alias],
    ['Type', type],
    ['Status', tag(status)],
    tenantFact(tenantId, context.tenant(tenantId)),
  ],
  tenants: ({ id, name, network, timeZone }) => [
    ['Tenant', plainLink('tenants', id, name)],
    ['Network', network],
    ['Time zone', timeZone],
  ],
};

function plainLink(path: ResourcePath, id: string, text: string, kind = 'plain'): Html {
  return html`<a class="${kind}" href="${pathOf(path, id)}">${text}</a>`;
}

function operationRow(
  path: 'transfers' | 'payouts',
  operation: Transfer | Payout,
  context: Context,
  to: string,
): readonly Fact[] {
  const { id, tenantId } = operation;
  return [
    ['Amount', plainLink(path, id, formatAmount(operation), 'amount')],
    ['From', context.account(operation.sourceAccountId)],
    ['To', to],
    ['Description', operation.description && plainLink(path, id, operation.description)],
    ['Status', [tag(operation.status), html`<div>${needs(operation, context)}</div>`]],
    ['Due', urgency(operation, context)],
    tenantFact(tenantId, context.tenant(tenantId)),
    [
      'Requested',
      html`<span class="due">${context.person(operation.createdBy)}</span>
        <span class="soft">${time(operation.createdAt, context.timeZone(tenantId))}</span>`,
    ],
  ];
}

function needs(operation: Transfer | Payout, context: Context): Content {
  if ('stuckSince' in operation) {
    const lines = [stuckText(operation) ?? [], context.proposals(operation.id)].flat();
    if (lines.length > 0) return lines.map((line) => html`<p>${line}</p>`);
  }
  const waiting = waitingOf(operation);
  if (waiting === null || waiting.status !== 'pending_approval') return null;
  if (isExpired(waiting, context.now)) return 'nothing: it has expired';
  const people = 'by a member who did not create it';
  const by = context.hasSupport(operation.id) ? people : `by support, or ${people}`;
  return `${counted(waiting.required - waiting.received, 'more approval')}: ${by}`;
}

/** Shows when the operation expires, or how long it has been stuck. Returns null otherwise. */
function urgency(operation: Transfer | Payout, context: Context): Content {
  const { status, approvalExpiresAt, tenantId } = operation;
  const { now } = context;
  const zone = context.timeZone(tenantId);
  if ('stuckSince' in operation && operation.stuckSince !== null)
    return dated(`Stuck for ${distance(operation.stuckSince, now)}`, operation.stuckSince, zone);
  if (status === 'pending_approval' && approvalExpiresAt !== null && approvalExpiresAt > now)
    return dated(`Expires in ${distance(approvalExpiresAt, now)}`, approvalExpiresAt, zone);
  return null;
}

function agoText(what: string, at: Instant, { now, timeZone }: Context, tenantId: Uuid): Html {
  return dated(`${what} ${distance(at, now)} ago`, at, timeZone(tenantId));
}

/** Describes a payout's destination with only the end of the account number. */
export function bankAccountText(payout: Payout): string {
  return `${payout.holderName}, ${payout.country} ${payout.bankCode} ****${payout.accountEnd}`;
}

export function paymentsText(batch: BonusBatch): string {
  return `${batch.rowsPaid} paid, ${batch.rowsFailed} failed, ${pendingRows(batch)} to be paid`;
}

export function batchTitle({ status, rowCount }: BonusBatch): string {
  if (status === 'validating') return 'Batch that is being validated';
  return `Batch of ${rowCount} ${rowCount === 1 ? 'bonus' : 'bonuses'}`;
}

export function batchStatus(batch: BonusBatch): Content {
  return [tag(batch.status), isPaused(batch) ? html` ${tag('paused')}` : ''];
}

export function endpointStatus({ status, pausedAt, failingSince }: WebhookEndpoint): Content {
  return [
    tag(status === 'enabled' && failingSince !== null ? 'failing' : status),
    pausedAt === null ? '' : html` ${tag('paused')}`,
  ];
}
