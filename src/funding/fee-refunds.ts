import { type Asset, calculateFee } from '../core/amount.js';
import { ApiError, invalidField, invalidState } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { TimePosition } from '../core/page.js';
import { time, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type Adjustment, adjustments } from '../db/entities/operations.js';
import {
  accounts,
  type FeeKey,
  feeKeyOf,
  type FeeScheduleRow,
  feeSchedules,
} from '../db/entities/parties.js';
import { literal } from '../db/statements.js';
import { withColumns } from '../db/table.js';
import { readVisible } from '../db/visible-list.js';
import type { StaffIdentity } from '../staff/rules.js';
import { NO_REFUND, type RefundColumns } from './decide.js';
import { approveAdjustment, type FundingDeps, proposeWithRefund } from './service.js';
import {
  assertBalanced,
  assertRefundName,
  CHARGED,
  CHARGED_COLUMNS,
  type CurrentRefund,
  isActive,
  readCaptures,
  readCurrentRefund,
  readLastRefunds,
  refundReference,
} from './current-refund.js';

/**
 * Refunds what a wrong fee schedule overcharged, from the account that received the fees. One
 * person proposes, another posts. Each refund is an adjustment that stores its operation, of which
 * the database accepts one at a time that is not rejected. Proposing again repeats rejected refunds and makes
 * the fee accounts give exactly the sum of the refunds. (docs/runbooks/wrong-fee-schedule.md)
 */

interface RefundRequest extends FeeKey {
  /** Bounds of the operations' creation, both inclusive. */
  readonly from: Instant;
  readonly to: Instant;
  /** The operators' name for the whole refund: `^[A-Za-z0-9_-]{1,24}$`. */
  readonly reference: string;
  /** Up to 110 characters, shown to the payer with the movement, after the reference. */
  readonly reason: string;
}

interface Overcharge {
  readonly operationId: Uuid;
  readonly payerId: Uuid;
  readonly isClosed: boolean;
  readonly feeAccountId: Uuid;
  readonly raw: bigint;
}

type Proposal = Pick<Adjustment, 'accountId' | 'direction' | 'asset' | 'raw' | 'reference'> & {
  readonly refund: RefundColumns;
};

export interface RefundMoves<Move extends Pick<Adjustment, 'asset' | 'raw'>> {
  readonly taken: readonly Move[];
  readonly toPayers: readonly Move[];
  /** Sums returned to fee accounts from which more was taken than payers receive. */
  readonly returned: readonly Move[];
}

interface RefundPlan {
  readonly operations: number;
  readonly totalRaw: bigint;
  readonly refundedBefore: number;
  readonly closed: number;
  readonly moves: RefundMoves<Proposal>;
}

const PAGE_SIZE = 1_000;
const CONCURRENCY = 50;

export async function planRefund(reader: Reader, request: RefundRequest): Promise<RefundPlan> {
  const { tenantId, asset, reference: name } = request;
  assertRefundName(name);
  if (request.from > request.to) throw new ApiError(invalidField('to', 'before_from'));
  const schedule = await reader.find(feeSchedules, feeKeyOf(request));
  const counts = { operations: 0, totalRaw: 0n, refundedBefore: 0, closed: 0 };
  const newRefunds: (Overcharge & { readonly proposal: Proposal })[] = [];
  let before: TimePosition | null = null;
  do {
    const { next, found } = await readOvercharges(reader, request, before, schedule);
    const ids = found.map(({ operationId }) => operationId);
    const lastRefunds = await readLastRefunds(reader, ids);
    for (const one of found) {
      const previous = lastRefunds.get(one.operationId);
      const refund = previous !== undefined && isActive(previous) ? previous : null;
      if (refund !== null && refund.refundName !== name) counts.refundedBefore += 1;
      else if (refund === null && one.isClosed) counts.closed += 1;
      else {
        counts.operations += 1;
        counts.totalRaw += refund?.raw ?? one.raw;
        if (refund !== null) continue;
        newRefunds.push({ ...one, proposal: payerProposal(request, one, previous) });
      }
    }
    before = next;
  } while (before !== null);
  const due = sumDue(asset, newRefunds, await readCurrentRefund(reader, tenantId, name));
  return {
    ...counts,
    moves: { ...feeAccountMoves(name, due), toPayers: newRefunds.map(({ proposal }) => proposal) },
  };
}

function payerProposal(
  { asset, reference: refundName }: RefundRequest,
  { operationId, payerId: accountId, raw }: Overcharge,
  previous: Adjustment | undefined,
): Proposal {
  const attempt = (previous?.refundAttempt ?? 0) + 1;
  const reference = refundReference('fee-refund', operationId, attempt);
  const refund = {
    refundName,
    refundOperationId: operationId,
    refundAttempt: attempt,
    isActiveRefund: true,
  };
  return { accountId, direction: 'in', asset, raw, reference, refund };
}

interface AmountDue {
  readonly accountId: Uuid;
  readonly asset: Asset;
  /** Negative if the account has given too much. */
  raw: bigint;
  readonly attempt: number;
}

/** Returns what the refunds need from each fee account beyond the sums already proposed. */
function sumDue(
  asset: Asset,
  newRefunds: readonly Overcharge[],
  { feeAccountParts, payerRefunds }: CurrentRefund,
): readonly AmountDue[] {
  const due = new Map<string, AmountDue>();
  const add = (accountId: Uuid, of: Asset, raw: bigint): void => {
    const one = due.get(`${accountId} ${of}`);
    if (one !== undefined) one.raw += raw;
    else {
      const before = feeAccountParts.filter((part) => part.accountId === accountId);
      // A reference names no asset, so the sums of further assets get further numbers.
      const others = [...due.values()].filter((other) => other.accountId === accountId).length;
      const last = Math.max(0, ...before.map((part) => part.refundAttempt ?? 0));
      due.set(`${accountId} ${of}`, { accountId, asset: of, raw, attempt: last + 1 + others });
    }
  };
  const refunds = payerRefunds.filter(isActive);
  const refunded = new Set(refunds.map(({ operationId }) => operationId));
  for (const one of refunds) add(one.feeAccountId, one.asset, one.raw);
  // A colleague may have proposed some of them since the search.
  for (const one of newRefunds)
    if (!refunded.has(one.operationId)) add(one.feeAccountId, asset, one.raw);
  for (const part of feeAccountParts.filter(isActive))
    add(part.accountId, part.asset, part.direction === 'out' ? -part.raw : part.raw);
  return [...due.values()];
}

function feeAccountMoves(
  name: string,
  due: readonly AmountDue[],
): Pick<RefundMoves<Proposal>, 'taken' | 'returned'> {
  const proposal = ({ accountId, asset, raw, attempt }: AmountDue): Proposal => ({
    accountId,
    direction: raw > 0n ? 'out' : 'in',
    asset,
    raw: raw > 0n ? raw : -raw,
    reference: refundReference(name, accountId, attempt),
    refund: { ...NO_REFUND, refundName: name, refundAttempt: attempt },
  });
  return {
    taken: due.filter(({ raw }) => raw > 0n).map(proposal),
    returned: due.filter(({ raw }) => raw < 0n).map(proposal),
  };
}

interface OverchargePage {
  /** Null on the last page. */
  readonly next: TimePosition | null;
  readonly found: readonly Overcharge[];
}

async function readOvercharges(
  reader: Reader,
  { tenantId, operation, asset, from, to }: RefundRequest,
  before: TimePosition | null,
  schedule: FeeScheduleRow | undefined,
): Promise<OverchargePage> {
  const { table, index, oneOf } = CHARGED[operation];
  const within = [
    `t.tenant_id=${uuid.literal(tenantId)}`,
    `t.created_at>=${time.literal(from)} AND t.created_at<=${time.literal(to)}`,
  ];
  const isCharged = [
    `l.asset=${literal(adjustments, 'asset', asset)}`,
    'l.fee_account_id IS NOT NULL',
  ];
  const list = { table: withColumns(table, CHARGED_COLUMNS), index, oneOf, within };
  const page = await readVisible(reader, { ...list, filters: isCharged }, before, PAGE_SIZE);
  const payers = await reader.select(withColumns(accounts, ['id', 'status']), {
    id: [...new Set(page.items.map(({ sourceAccountId }) => sourceAccountId))],
  });
  const closed = new Set(payers.flatMap(({ id, status }) => (status === 'closed' ? id : [])));
  const captures = await readCaptures(reader, page.items);
  const found = page.items.flatMap(
    ({ id: operationId, sourceAccountId: payerId, feeAccountId, ...held }): Overcharge[] => {
      const charged = captures.get(operationId) ?? held;
      const rightFee = schedule === undefined ? 0n : calculateFee(schedule, charged.raw);
      const raw = charged.feeRaw - rightFee;
      const isClosed = closed.has(payerId);
      return raw > 0n && feeAccountId !== null
        ? [{ operationId, payerId, isClosed, feeAccountId, raw }]
        : [];
    },
  );
  return { next: page.next, found };
}

/**
 * Proposes the moves of the plan, fee accounts first. A repeated call continues where it stopped. Throws
 * idempotency_key_reused if two people propose under the name at the same time.
 */
export async function proposeRefund(
  deps: FundingDeps,
  { tenantId, reference: name, reason: why }: RefundRequest,
  { moves }: RefundPlan,
  by: StaffIdentity,
  steps: Steps,
): Promise<void> {
  const reason = `${name}: ${why}`;
  const propose = ({ asset, raw, ...proposal }: Proposal): Promise<unknown> =>
    proposeWithRefund(deps, {
      ...proposal,
      tenantId,
      amount: { raw, asset },
      reason,
      by,
    });
  for (const one of [...moves.taken, ...moves.returned]) await propose(one);
  await runInSteps(moves.toPayers, steps, propose);
}

/**
 * Returns the undecided proposals under the name. Throws invalid_state if there are any and the sums
 * taken and refunded differ.
 */
export async function readProposedRefund(
  reader: Reader,
  tenantId: Uuid,
  name: string,
): Promise<RefundMoves<Adjustment>> {
  assertRefundName(name);
  const current = await readCurrentRefund(reader, tenantId, name);
  const isProposed = ({ status }: Adjustment): boolean => status === 'proposed';
  const feeAccountParts = current.feeAccountParts.filter(isProposed);
  const toPayers = current.payerRefunds.filter(isProposed);
  if (feeAccountParts.length + toPayers.length > 0) assertBalanced(name, current);
  const taken = feeAccountParts.filter(({ direction }) => direction === 'out');
  const returned = feeAccountParts.filter(({ direction }) => direction === 'in');
  return { taken, toPayers, returned };
}

/**
 * Posts the refund for a second person: payers' parts only once all parts of the fee accounts are
 * posted, so that no refund exceeds what was collected. A repeated call continues where it stopped.
 */
export async function approveRefund(
  deps: FundingDeps,
  { tenantId, reference: name }: Pick<RefundRequest, 'tenantId' | 'reference'>,
  { taken, toPayers, returned }: RefundMoves<Adjustment>,
  by: StaffIdentity,
  steps: Steps,
): Promise<void> {
  for (const adjustment of taken) await approveAdjustment(deps, adjustment, by);
  const current = await readCurrentRefund(deps.database.reader, tenantId, name);
  assertBalanced(name, current);
  if (
    current.feeAccountParts.some(
      ({ direction, status }) => direction === 'out' && status === 'proposed',
    )
  )
    throw new ApiError(
      invalidState(`more was proposed under ${name} meanwhile: check the refund again`),
    );
  await runInSteps([...toPayers, ...returned], steps, (adjustment) =>
    approveAdjustment(deps, adjustment, by),
  );
}

interface Steps {
  /** Throws if the person has lost the right; no further step is started. */
  readonly assertStillAuthorised: () => Promise<void>;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Works concurrently, because the ledger posts such commands together. Throws a failure once the
 * other items were tried, unless all of a step failed.
 */
async function runInSteps<T>(
  items: readonly T[],
  { assertStillAuthorised, onProgress }: Steps,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const faults: unknown[] = [];
  for (let from = 0; from < items.length; from += CONCURRENCY) {
    await assertStillAuthorised();
    const ended = await Promise.allSettled(items.slice(from, from + CONCURRENCY).map(work));
    faults.push(...ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])));
    if (ended.every(({ status }) => status === 'rejected')) break;
    onProgress(Math.min(from + CONCURRENCY, items.length), items.length);
  }
  for (const fault of faults) throw fault;
}
