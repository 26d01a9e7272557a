import { displayName } from '../../accounts/recipients.js';
import { isExpired, approvalProgress } from '../../approvals/rules.js';
import { batchPath } from '../../batches/rules.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { TimePosition } from '../../core/page.js';
import { counted } from '../../core/collections.js';
import type { Reader } from '../../db/database.js';
import type { Transfer } from '../../db/entities/operations.js';
import { type Payout, payoutResolutions } from '../../db/entities/payouts.js';
import { DIRECTIONS } from '../actions/proposals.js';
import { type Content, html, type Html, paragraph, withValues } from '../html.js';
import { destinationText } from '../../payouts/rules.js';
import { readTakers } from '../../staff/remarks.js';
import { inWords, resolutionLine, stuckText } from '../reading/payouts.js';
import { findResources, KINDS, type Rows } from '../reading/search.js';
import { relative } from '../reading/timeline.js';
import { readTotals, type TenantTotals, todayOf } from '../reading/totals.js';
import { type Names, namesOf } from '../reading/transfers.js';
import { readApprovedBySupport } from '../reading/waiting.js';
import type { ListRows, RowAmount } from './export.js';
import {
  distance,
  type Fact,
  link,
  money,
  type Row,
  table,
  tag,
  tenantFact,
  time,
} from './layout.js';
import { printPosition } from './position.js';
import {
  batchStatus,
  batchTitle,
  endpointStatus,
  operationStatus,
  progressText,
} from './statuses.js';

/** Tables of resources. The first column links to the resource. */

interface Context extends Names {
  readonly now: Instant;
  readonly approvedBySupport: ReadonlySet<Uuid>;
  /** Query for the links to the resources. */
  readonly query: string;
  /** Returns the resolutions that are proposed for a payout. */
  proposals(id: Uuid): readonly string[];
  readonly totals: readonly TenantTotals[];
}

export const NONE = html`<p class="card soft">Nothing here.</p>`;
const NOT_YET = withValues(html`none`, { '': null });

type RowOf<Row> = (row: Row, context: Context) => readonly Fact[];

/** Database reader and current time of a page. */
export interface View {
  readonly reader: Reader;
  readonly now: Instant;
}

export interface TableOptions {
  readonly without?: 'Tenant';
  readonly query?: string;
  /** Set if the rows wait for a person, so that they show who has taken them. */
  readonly isWaiting?: boolean;
  /** Returns a last cell for a row. */
  readonly more?: (row: object) => Fact;
}

/** Returns null without rows. */
export async function tableOf<K extends keyof Rows>(
  view: View,
  kind: K,
  rows: readonly Rows[K][],
  options: TableOptions = {},
): Promise<Html | null> {
  if (rows.length === 0) return null;
  const all = await factsOf(view, kind, rows, options);
  return table(all, (row) => row.filter(([heading]) => heading !== options.without));
}

/** Returns a part of a list of resources. */
export async function listRows<K extends keyof Rows>(
  view: View,
  kind: K,
  items: readonly Rows[K][],
  next: TimePosition | null,
  options: TableOptions = {},
): Promise<ListRows> {
  const facts = await factsOf(view, kind, items, options);
  const rows = facts.map((row) => row.filter(([heading]) => heading !== options.without));
  const all: readonly (RowAmount & { id: Uuid; totalRaw?: bigint })[] = items;
  const amounts = all.map((one) => ({ ...one, raw: one.raw ?? one.totalRaw ?? 0n }));
  return { ids: items.map(({ id }) => id), rows, amounts, next: printPosition(next) };
}

/** Returns the facts of each row. */
export async function factsOf<K extends keyof Rows>(
  { reader, now }: View,
  kind: K,
  rows: readonly Rows[K][],
  { query = '', isWaiting = false, more }: TableOptions = {},
): Promise<readonly Row[]> {
  const rowOf: RowOf<Rows[K]> = ROWS[kind];
  const all: readonly Rows[keyof Rows][] = rows;
  const ids = all.map(({ id }) => id);
  const owned = all.flatMap((row) => ('tenantId' in row ? [row] : []));
  const [names, approvedBySupport, proposed, totals, takers] = await Promise.all([
    namesOf(reader, owned),
    readApprovedBySupport(reader, ids),
    kind === 'payouts'
      ? reader.select(payoutResolutions, { payoutId: ids, status: 'proposed' })
      : [],
    kind === 'tenants' ? readTotals(reader, ids, now) : [],
    readTakers(reader, isWaiting ? ids : [], now),
  ]);
  const context: Context = {
    ...names,
    now,
    query,
    totals,
    approvedBySupport,
    proposals: (id) => proposed.filter(({ payoutId }) => payoutId === id).map(resolutionLine),
  };
  return rows.map((row) => {
    const taker = takers.get(row.id);
    const facts = [...rowOf(row, context), ...(more === undefined ? [] : [more(row)])];
    if (taker === undefined) return facts;
    const taken = paragraph(html`taken by ${taker.name} ${distance(taker.since, now)}`);
    return facts.map((fact): Fact => (fact[0] === 'Status' ? ['Status', [fact[1], taken]] : fact));
  });
}

/** Returns the facts of the resources of all kinds with these ids, by id. */
export async function factsOfAll(view: View, ids: readonly Uuid[]) {
  const found = await findResources(view.reader, ids);
  const factsIn = async <K extends keyof Rows>(kind: K): Promise<[string, Row][]> => {
    const rows: readonly Rows[K][] = found[kind];
    const facts = await factsOf(view, kind, rows);
    return rows.map(({ id }, index) => [id, facts[index] ?? []]);
  };
  const kinds = KINDS.filter((kind) => found[kind].length > 0);
  return new Map<string, Row>((await Promise.all(kinds.map((kind) => factsIn(kind)))).flat());
}

const ROWS: { readonly [K in keyof Rows]: RowOf<Rows[K]> } = {
  transfers(transfer, context) {
    const { destinationAccountId: to, tenantId } = transfer;
    return operationRow('transfers', transfer, context, context.account(to, tenantId));
  },
  schedules(schedule, context) {
    const { id, tenantId, sourceAccountId: from, destinationAccountId: to } = schedule;
    return [
      ['Amount', link('schedules', id, money(schedule)), 'number'],
      direction(context.account(from), context.account(to, tenantId)),
      ['Description', schedule.description],
      ['Status', tag(schedule.status)],
      since('Next run', schedule.nextRunAt, context, tenantId),
      tenantFact(tenantId, context.tenant(tenantId)),
    ];
  },
  bonuses(bonus, context) {
    const { id, tenantId, sourceAccountId, recipientAccountId, createdAt, createdBy } = bonus;
    const to = context.account(recipientAccountId, tenantId);
    return [
      ['Amount', link('bonuses', id, money(bonus)), 'number'],
      direction(context.account(sourceAccountId), to),
      ['Description', bonus.description],
      ['Reference', bonus.reference],
      tenantFact(tenantId, context.tenant(tenantId)),
      doneBy('Paid', createdAt, createdBy, context, tenantId),
    ];
  },
  payouts: (payout, context) => operationRow('payouts', payout, context, destinationText(payout)),
  batches(batch, context) {
    const { id, asset, totalRaw: raw, createdAt, tenantId } = batch;
    return [
      [
        'Batch',
        link(batchPath(batch.kind), id, batch.description ?? batchTitle(batch), context.query),
      ],
      ['Rows', batch.rowCount > 0 && batch.rowCount, 'number'],
      ['Total', asset !== null && money({ raw, asset }), 'number'],
      ['From', context.account(batch.sourceAccountId)],
      ['Status', [batchStatus(batch), html`<div class="soft">${progressText(batch)}</div>`]],
      tenantFact(tenantId, context.tenant(tenantId)),
      ['Requested by', context.person(batch.createdBy)],
      since('Uploaded', createdAt, context, tenantId),
    ];
  },
  endpoints(endpoint, context) {
    const { failingSince, lastSuccessAt, tenantId } = endpoint;
    return [
      ['Address', link('endpoints', endpoint.id, endpoint.url, context.query)],
      ['Status', endpointStatus(endpoint)],
      ['Disabled', inWords(endpoint.disabledReason)],
      tenantFact(tenantId, context.tenant(tenantId)),
      since('Failing since', failingSince, context, tenantId),
      ['Last success', time(lastSuccessAt, context.timeZone(tenantId)) ?? NOT_YET],
    ];
  },
  adjustments(adjustment, context) {
    const { id, tenantId, createdAt, direction } = adjustment;
    return [
      ['Amount', link('adjustments', id, money(adjustment), context.query), 'number'],
      ['Direction', withValues(html`${DIRECTIONS[direction]}`, { '': direction })],
      ['Account', context.account(adjustment.accountId)],
      ['Reason', adjustment.reason],
      ['Reference', adjustment.reference],
      ['Status', tag(adjustment.status)],
      tenantFact(tenantId, context.tenant(tenantId)),
      ['Proposed by', adjustment.proposedBy],
      since('Proposed', createdAt, context, tenantId),
    ];
  },
  payIns(payIn, context) {
    const { accountId, tenantId, createdAt, recordedBy } = payIn;
    return [
      ['Amount', link('accounts', accountId, money(payIn)), 'number'],
      ['Account', context.account(accountId)],
      ['Description', payIn.description],
      ['Reference', payIn.reference],
      tenantFact(tenantId, context.tenant(tenantId)),
      ['Recorded', time(createdAt, context.timeZone(tenantId), recordedBy)],
    ];
  },
  accounts: ({ id, type, name, alias, status, tenantId }, context) => [
    ['Account', link('accounts', id, displayName(type, name))],
    ['Alias', alias],
    ['Type', type],
    ['Status', tag(status)],
    tenantFact(tenantId, context.tenant(tenantId)),
  ],
  tenants({ id, name, network, timeZone }, { totals }) {
    const own = totals.filter(({ tenant }) => tenant.id === id);
    const sums = (what: 'moved' | 'pending' | 'failed'): Content =>
      own.length > 0 &&
      own.map(({ asset, days }) => paragraph(money({ raw: todayOf(days)[what], asset })));
    return [
      ['Tenant', link('tenants', id, name)],
      ['Network', network],
      ['Time zone', timeZone],
      ['Moved today', sums('moved'), 'number'],
      ['Pending', sums('pending'), 'number'],
      ['Failed today', sums('failed'), 'number'],
    ];
  },
};

function operationRow(
  path: 'transfers' | 'payouts',
  operation: Transfer | Payout,
  context: Context,
  to: string,
): readonly Fact[] {
  const { id, tenantId, createdAt } = operation;
  return [
    ['Amount', link(path, id, money(operation), context.query), 'number'],
    direction(context.account(operation.sourceAccountId), to),
    ['Description', operation.description],
    [
      'Status',
      [operationStatus(operation), html`<div class="soft">${needs(operation, context)}</div>`],
    ],
    urgency(operation, context),
    tenantFact(tenantId, context.tenant(tenantId)),
    doneBy('Requested', createdAt, operation.createdBy, context, tenantId),
  ];
}

/** The names are apart, because one written from right to left would otherwise change places. */
function direction(from: string, to: string): Fact {
  return ['From → to', withValues(html`${from} → ${to}`, { From: from, To: to })];
}

function doneBy(label: string, at: Instant, by: Uuid, context: Context, tenantId: Uuid): Fact {
  const name = context.person(by);
  return [label, time(at, context.timeZone(tenantId), name, { [`${label} by`]: name })];
}

function needs(operation: Transfer | Payout, context: Context): Content {
  if ('stuckSince' in operation) {
    const lines = [stuckText(operation) ?? [], context.proposals(operation.id)].flat();
    if (lines.length > 0) return lines.map((line) => html`<p>${line}</p>`);
  }
  const waiting = approvalProgress(operation);
  if (waiting === null || waiting.status !== 'pending_approval') return null;
  if (isExpired(waiting, context.now)) return 'nothing: it has expired';
  const by = context.approvedBySupport.has(operation.id) ? 'by a member' : 'by support or a member';
  return `${counted(waiting.required - waiting.received, 'more approval')}, ${by}`;
}

/** Shows when the operation expires, or since when it has been at the rail or stuck. */
function urgency(operation: Transfer | Payout, context: Context): Fact {
  const { status, approvalExpiresAt, tenantId } = operation;
  if ('stuckSince' in operation && operation.stuckSince !== null)
    return since('Stuck since', operation.stuckSince, context, tenantId);
  if ('submittedAt' in operation && status === 'in_progress')
    return since('At the rail since', operation.submittedAt, context, tenantId);
  const expiresAt = status === 'pending_approval' ? approvalExpiresAt : null;
  const [label, at] = since('Expires', expiresAt, context, tenantId);
  if (expiresAt === null || expiresAt - context.now > SOON_MS) return [label, at];
  const text = html`${relative(expiresAt, context.now)} ${tag('expires soon')}`;
  return [label, time(expiresAt, context.timeZone(tenantId), text)];
}

/** Time to the expiry at which an operation is marked. */
const SOON_MS = 3_600_000;

function since(label: string, at: Instant | null, context: Context, tenantId: Uuid): Fact {
  return [label, time(at, context.timeZone(tenantId), at && relative(at, context.now))];
}
