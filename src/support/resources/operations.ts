import { formatAmount } from '../../core/amount.js';
import { counted } from '../../core/collections.js';
import type { Instant } from '../../core/instant.js';
import {
  type Adjustment,
  adjustments,
  type Transfer,
  transfers,
} from '../../db/entities/operations.js';
import {
  type Payout,
  type PayoutRailEvent,
  type PayoutResolution,
  payoutRailEvents,
  payoutResolutions,
  payouts,
} from '../../db/entities/payouts.js';
import { adjustmentResource } from '../../funding/schemas.js';
import { readSeen, type SeenPayout } from '../../payouts/resolution/resolutions.js';
import { destinationText, isUnfinished, transitionsOf } from '../../payouts/rules.js';
import { payoutResource } from '../../payouts/schemas.js';
import { payoutWorkflowId } from '../../temporal/contracts.js';
import { movedAmount } from '../../transfers/rules.js';
import { transferResource } from '../../transfers/schemas.js';
import { approvalActions } from '../actions/controls.js';
import {
  ADJUSTMENT_ACTIONS,
  DIRECTIONS,
  PAYOUT_ACTIONS,
  REFUND_ACTION,
} from '../actions/proposals.js';
import { type Content, html } from '../html.js';
import { link, metadataFact, money, publicFacts, tag } from '../pages/layout.js';
import { operationStatus } from '../pages/statuses.js';
import {
  inWords,
  moneyText,
  payoutWaitsFor,
  SECOND_PERSON,
  resolutionLine,
  stuckText,
} from '../reading/payouts.js';
import { line, memberLine, type TimelineLine } from '../reading/timeline.js';
import { readTransferDetails } from '../reading/transfers.js';
import type { WaitingKind } from '../reading/waiting.js';
import { refundFacts, REFUNDS } from './bonuses.js';
import type { ResourceKind } from './resource-kind.js';

/** Time within which workflows are usually notified. */
const NOTIFIED_WITHIN_MS = 60_000;

export const transferKind: ResourceKind<Transfer> = {
  name: 'transfers',
  subjectType: 'transfer',
  actions: [
    ...approvalActions(
      'transfer',
      ({ transferApprovals }) => transferApprovals,
      (transfer: Transfer) => transfer,
    ),
    REFUND_ACTION,
  ],
  lists: [REFUNDS],
  find: ({ database: { reader } }, id) => reader.find(transfers, { id }),
  rowOf: (transfer) => transfer,
  titleOf: (transfer) => `Transfer of ${formatAmount(transfer)}`,
  decisionOf: ({ sourceAccountId, asset, destinationAccountId }) => ({
    accountId: sourceAccountId,
    asset,
    recipient: destinationAccountId,
  }),
  async describe(transfer, { reader, now, time, since, tenant }) {
    const { sourceAccountId: from, destinationAccountId: to, feeAccountId } = transfer;
    const { createdAt, asset, approvalExpiresAt } = transfer;
    const { feeRaw } = movedAmount(transfer);
    const details = await readTransferDetails(reader, transfer, now);
    const isPending = transfer.status === 'pending_approval';
    const isLate = details.outbox.some((row) => now - row.createdAt > NOTIFIED_WITHIN_MS);
    return {
      status: operationStatus(transfer),
      facts: [
        ['Needs', (isPending || transfer.status === 'held') && details.waitsFor],
        ['Expires', isPending && since(approvalExpiresAt)],
        ['Amount', html`<strong>${money(transfer)}</strong>`],
        ['Fee', feeRaw > 0n && formatAmount({ raw: feeRaw, asset })],
        ['From', link('accounts', from, details.source)],
        ['To', link('accounts', to, details.destination)],
        ...refundFacts(transfer),
        ['Refund of', refundOfLink(transfer)],
        ...publicFacts(transferResource.presentToStaff('desk', transfer)),
        metadataFact(transfer.metadata),
        tenant,
        ['Requested', time(createdAt, `by ${details.createdBy}`)],
        [
          'Ended because',
          transfer.status === 'expired'
            ? transfer.captureExpiresAt !== null
              ? 'not captured in time'
              : `not approved in time: ${transfer.approvalsReceived} of ${transfer.approvalsRequired} approvals`
            : inWords(transfer.rejectionCode, transfer.rejectionReason),
        ],
        ['Workflow', isLate && 'not notified yet. The service keeps trying; you can decide here'],
      ],
      history: {
        accountIds: [from, to, ...(feeAccountId === null ? [] : [feeAccountId])],
        instants: [createdAt, approvalExpiresAt],
        lines: [memberLine(createdAt, 'Requested', details.createdBy)],
      },
      list: 'transfers',
      hasLeftList: !isPending,
      workflowId: details.workflowId,
    };
  },
};

function refundOfLink({ refundOfType: type, refundOfId: id }: Transfer): Content {
  if (type === null || id === null) return null;
  return type === 'transfer' ? link('transfers', id, 'a transfer') : link('bonuses', id, 'a bonus');
}

function listOf(payout: Payout, proposal: PayoutResolution | undefined): WaitingKind {
  if (proposal !== undefined) return 'proposals';
  if (payout.stuckSince !== null) return 'stuck';
  return payout.status === 'in_progress' ? 'unanswered' : 'payouts';
}

export const payoutKind: ResourceKind<SeenPayout> = {
  name: 'payouts',
  subjectType: 'payout',
  actions: PAYOUT_ACTIONS,
  async find({ database: { reader } }, id) {
    const payout = await reader.find(payouts, { id });
    return payout === undefined ? undefined : readSeen(reader, payout);
  },
  rowOf: ({ payout }) => payout,
  titleOf: ({ payout }) => `Payout of ${formatAmount(payout)}`,
  decisionOf: ({ payout }) => ({
    accountId: payout.sourceAccountId,
    asset: payout.asset,
    recipient: payout,
  }),
  async describe({ payout, proposal }, { reader, now, names, time, since, tenant }) {
    const { id, status, sourceAccountId: from, feeAccountId, feeRaw, asset } = payout;
    const { createdAt, approvalExpiresAt, batchId } = payout;
    const [reports, [applied]] = await Promise.all([
      reader.select(payoutRailEvents, { payoutId: id }, { orderBy: ['id'] }),
      reader.select(payoutResolutions, { payoutId: id, status: 'applied' }),
    ]);
    const requester = names.person(payout.createdBy);
    const isPending = status === 'pending_approval';
    return {
      status: operationStatus(payout),
      facts: [
        [
          isPending ? 'Needs' : 'Waits for',
          proposal ? SECOND_PERSON : isUnfinished(payout) && payoutWaitsFor(payout, now),
        ],
        ['Rail so far', status === 'in_progress' && railText(reports)],
        ['Money', moneyText(payout, names.account(from))],
        ['Stuck since', since(payout.stuckSince)],
        ['Stuck because', stuckText(payout)],
        ['Proposed', proposal && resolutionLine(proposal)],
        ['Expires', isPending && since(approvalExpiresAt)],
        ['Amount', html`<strong>${money(payout)}</strong>`],
        ['Fee', feeRaw > 0n && formatAmount({ raw: feeRaw, asset })],
        ['From', link('accounts', from, names.account(from))],
        ['To', destinationText(payout)],
        ...publicFacts(payoutResource.presentToStaff('desk', payout)),
        ['Reference', payout.reference],
        metadataFact(payout.metadata),
        ['Batch', batchId !== null && link('payout_batches', batchId, `row ${payout.batchRow}`)],
        tenant,
        ['Requested', time(createdAt, `by ${requester}`)],
        ['Rail', payout.rail],
        ["Rail's reference", payout.railReference],
        ['Ended because', inWords(payout.rejectionCode, payout.rejectionReason)],
        ['Resolved', applied && resolutionLine(applied)],
        [
          status === 'returned' ? 'Returned because' : 'Failed because',
          !applied && inWords(payout.failureCode, payout.failureMessage),
        ],
      ],
      history: {
        accountIds: [from, ...(feeAccountId === null ? [] : [feeAccountId])],
        instants: [createdAt, approvalExpiresAt, ...transitionsOf(payout).map(({ at }) => at)],
        lines: [memberLine(createdAt, 'Requested', requester), ...reportLines(reports)],
      },
      list: listOf(payout, proposal ?? applied),
      hasLeftList:
        !proposal && payout.stuckSince === null && !isPending && status !== 'in_progress',
      workflowId: payoutWorkflowId(id),
    };
  },
};

const REPORTS: Readonly<Record<PayoutRailEvent['kind'], string>> = {
  submission: 'Sent to the rail',
  inquiry: 'Asked the rail',
  callback: 'Reported by the rail',
  statement: 'Read in a statement',
  resolution: 'Resolved by staff',
  void: 'Asked the rail to cancel',
  resolve: 'Asked the rail who holds the key',
};

/** Returns what was reported, such as "Sent to the rail: no answer". */
function reportText({ kind, reported, effect }: PayoutRailEvent): string {
  const answer = reported === 'voided' ? 'confirmed' : (inWords(reported) ?? inWords(effect) ?? '');
  const isPlain = reported === null || effect === 'applied' || effect === 'noted';
  return `${REPORTS[kind]}: ${answer}${isPlain ? '' : ` (${inWords(effect)})`}`;
}

/** Returns a text about a payout that its rail has, such as "sent once, asked 8 times". */
function railText(reports: readonly PayoutRailEvent[]): string {
  const asked = reports.filter(({ kind }) => kind === 'inquiry').length;
  const sent = reports.filter(({ effect }) => effect === 'sent').length;
  const answer = reports.some(({ reported }) => reported !== null) ? '' : ', no answer';
  return `sent ${counted(sent, 'time')}, asked ${counted(asked, 'time')}${answer}`;
}

/** Returns a line for each report. The same report several times in a row is one line. */
function reportLines(reports: readonly PayoutRailEvent[]): readonly TimelineLine[] {
  const runs: { what: string; details: string; at: Instant; count: number }[] = [];
  // The timeline has the staff's resolutions as actions.
  for (const report of reports.filter(
    ({ effect, kind }) => effect !== 'sent' && kind !== 'resolution',
  )) {
    const { at, railReference: reference, callbackId: callback } = report;
    const named = Object.entries({ reference, callback }).filter(([, value]) => value !== null);
    const details = named.map((pair) => pair.join(' ')).join(' · ');
    const [what, run] = [reportText(report), runs.at(-1)];
    if (run?.what === what && run.details === details)
      Object.assign(run, { at, count: run.count + 1 });
    else runs.push({ what, details, at, count: 1 });
  }
  return runs.map(({ what, details, at, count }) =>
    line(at, count === 1 ? what : `${what}, ${count} times`, null, details),
  );
}

export const adjustmentKind: ResourceKind<Adjustment> = {
  name: 'adjustments',
  subjectType: 'adjustment',
  actions: ADJUSTMENT_ACTIONS,
  find: ({ database: { reader } }, id) => reader.find(adjustments, { id }),
  rowOf: (adjustment) => adjustment,
  titleOf: (adjustment) =>
    `Adjustment of ${formatAmount(adjustment)} ${DIRECTIONS[adjustment.direction]}`,
  decisionOf: ({ accountId, asset }) => ({ accountId, asset }),
  describe(adjustment, { names, time, tenant }) {
    const { accountId, direction, createdAt, decidedAt } = adjustment;
    return {
      status: tag(adjustment.status),
      facts: [
        ['Amount', html`<strong>${money(adjustment)}</strong>`],
        [
          'Account',
          html`${DIRECTIONS[direction]} ${link('accounts', accountId, names.account(accountId))}`,
        ],
        ...publicFacts(adjustmentResource.presentToStaff('desk', adjustment)),
        tenant,
        ['Proposed', time(createdAt, `by ${adjustment.proposedBy}`)],
        ['Decided', time(decidedAt, `by ${adjustment.decidedBy}`)],
      ],
      history: { accountIds: [accountId], instants: [createdAt, decidedAt], lines: [] },
      list: 'adjustments',
      hasLeftList: adjustment.status !== 'proposed',
    };
  },
};
