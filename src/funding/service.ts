import { checkedText, MAX_DESCRIPTION, MAX_REASON } from '../core/checked-text.js';
import type { Amount } from '../core/amount.js';
import { ApiError, type CommandResult, invalidField } from '../core/errors.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { TimePosition } from '../core/page.js';
import type { Database, Reader } from '../db/database.js';
import { type Adjustment, adjustments, type PayIn, payIns } from '../db/entities/operations.js';
import { accounts, type SystemRole } from '../db/entities/parties.js';
import type { OperationFilter } from '../operations/operation-list.js';
import { amountsSql, literal, olderSql } from '../db/statements.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import { type CommandKind, accountsFrom, rowKey } from '../ledger/writer/types.js';
import { assertMayAct, type StaffIdentity } from '../staff/rules.js';
import {
  type DecideAdjustment,
  decideApproval,
  decidePayIn,
  decideProposal,
  decideRejection,
  type NewAdjustment,
  type NewPayIn,
  NO_REFUND,
  type ProposeAdjustment,
  type RecordPayIn,
  type RefundColumns,
} from './decide.js';

export interface FundingDeps {
  readonly database: Database;
  readonly writer: LedgerWriter;
}

interface FundingResult<Row> {
  readonly resource: Row;
  readonly replayed: boolean;
}

const OPERATOR_REFERENCE = /^[A-Za-z0-9._-]{1,64}$/;

export function assertReference(reference: string): void {
  if (!OPERATOR_REFERENCE.test(reference)) throw new ApiError(invalidField('reference', 'pattern'));
}

/** A reference has no slash, so keys never collide. */
function opsKey(reference: string, step?: 'post' | 'reject'): string {
  return step === undefined ? `ops/${reference}` : `ops/${reference}/${step}`;
}

/** Throws a refusal, worded for a command with a reference. */
export function resultOf<Row>(
  { outcome, replayed }: CommandResult<Row>,
  reference: string,
): FundingResult<Row> {
  if (outcome.done) return { resource: outcome.resource, replayed };
  const { refusal } = outcome;
  if (refusal.code === 'idempotency_key_reused')
    throw new ApiError({
      ...refusal,
      message: `the reference ${reference} was already used in this tenant, for something else`,
    });
  if (refusal.code === 'ledger_unavailable')
    throw new ApiError({
      ...refusal,
      message: `the ledger did not answer, so the result is unknown; repeat the same command with the reference ${reference}: it moves money at most once`,
    });
  throw new ApiError(refusal);
}

/** Throws invalid_field for a reference or amount that no pay-in or adjustment can have. */
export function assertReferenceAndAmount(reference: string, { raw }: Amount): void {
  assertReference(reference);
  if (raw <= 0n) throw new ApiError(invalidField('amount.raw', 'must_be_positive'));
}

export async function systemAccountId(
  reader: Reader,
  tenantId: Uuid,
  systemRole: SystemRole,
): Promise<Uuid> {
  const account = await reader.find(accounts, { tenantId, systemRole });
  if (account === undefined)
    throw new ApiError({ code: 'not_found', message: 'the tenant does not exist' });
  return account.id;
}

const payInKind: CommandKind<RecordPayIn, PayIn> = {
  name: 'record pay-in',
  resourceType: 'payin',
  table: payIns,
  accounts: accountsFrom(({ accountId, systemAccountId: system }) => [accountId, system]),
  rowKeys: () => [],
  decide: decidePayIn,
};

/** Credits money from outside. The same reference with the same content moves it once. */
export async function recordPayIn(
  { database, writer }: FundingDeps,
  request: NewPayIn,
): Promise<FundingResult<PayIn>> {
  const { tenantId, accountId, amount, reference } = request;
  assertReferenceAndAmount(reference, amount);
  const key = opsKey(reference);
  assertMayAct('payin.record', request.by);
  const description =
    request.description === null
      ? null
      : checkedText('description', request.description, MAX_DESCRIPTION);
  const result = await writer.submit(payInKind, {
    ...request,
    key,
    // The operator's name is not part of the request, so another operator may repeat it.
    fingerprint: commandFingerprint([
      'payin',
      accountId,
      amount.asset,
      amount.raw.toString(),
      description ?? '',
    ]),
    payInId: newId(),
    auditId: newId(),
    systemAccountId: await systemAccountId(database.reader, tenantId, 'pay_in'),
    description,
  });
  return resultOf(result, reference);
}

const proposalKind: CommandKind<ProposeAdjustment, Adjustment> = {
  name: 'propose adjustment',
  resourceType: 'adjustment',
  table: adjustments,
  accounts: accountsFrom(({ accountId }) => [accountId]),
  rowKeys: () => [],
  decide: decideProposal,
};

const approvalKind: CommandKind<DecideAdjustment, Adjustment> = {
  name: 'approve adjustment',
  resourceType: 'adjustment',
  table: adjustments,
  accounts: accountsFrom(({ accountId, systemAccountId: system }) => [accountId, system]),
  rowKeys: ({ adjustmentId }) => [rowKey(adjustments, { id: adjustmentId })],
  decide: decideApproval,
};

const rejectionKind: CommandKind<DecideAdjustment, Adjustment> = {
  ...approvalKind,
  name: 'reject adjustment',
  decide: decideRejection,
};

/** Proposes a correction, which a second person posts. */
export async function proposeAdjustment(
  deps: FundingDeps,
  request: NewAdjustment,
): Promise<FundingResult<Adjustment>> {
  assertReferenceAndAmount(request.reference, request.amount);
  return proposeWithRefund(deps, { ...request, refund: NO_REFUND });
}

/** Proposes a correction that may be part of a refund of fees. */
export async function proposeWithRefund(
  { writer }: FundingDeps,
  request: NewAdjustment & { readonly refund: RefundColumns },
): Promise<FundingResult<Adjustment>> {
  const { accountId, direction, amount, reference } = request;
  const key = opsKey(reference);
  assertMayAct('adjustment.propose', request.by);
  const reason = checkedText('reason', request.reason, MAX_REASON);
  const content = ['adjustment', accountId, direction, amount.asset, amount.raw.toString(), reason];
  const result = await writer.submit(proposalKind, {
    ...request,
    key,
    fingerprint: commandFingerprint(content),
    adjustmentId: newId(),
    auditId: newId(),
    reason,
  });
  return resultOf(result, reference);
}

/** Posts a proposed correction. Throws authority_insufficient for the proposer. */
export function approveAdjustment(
  deps: FundingDeps,
  adjustment: Adjustment,
  by: StaffIdentity,
  why: string | null = null,
): Promise<FundingResult<Adjustment>> {
  return decide(deps, approvalKind, 'approve', adjustment, { by, why });
}

/** Rejects a proposed correction. */
export function rejectAdjustment(
  deps: FundingDeps,
  adjustment: Adjustment,
  by: StaffIdentity,
  why: string | null = null,
): Promise<FundingResult<Adjustment>> {
  return decide(deps, rejectionKind, 'reject', adjustment, { by, why });
}

async function decide(
  { database, writer }: FundingDeps,
  kind: CommandKind<DecideAdjustment, Adjustment>,
  action: 'approve' | 'reject',
  { id: adjustmentId, tenantId, accountId, reference }: Adjustment,
  { by, why }: Pick<DecideAdjustment, 'by' | 'why'>,
): Promise<FundingResult<Adjustment>> {
  assertMayAct(`adjustment.${action}`, by);
  const step = action === 'approve' ? 'post' : action;
  const result = await writer.submit(kind, {
    tenantId,
    key: opsKey(reference, step),
    fingerprint: commandFingerprint([step, adjustmentId]),
    adjustmentId,
    accountId,
    systemAccountId: await systemAccountId(database.reader, tenantId, 'adjustment'),
    by,
    why,
    auditId: newId(),
  });
  return resultOf(result, reference);
}

type AdjustmentFilter = Pick<OperationFilter, 'from' | 'to' | 'amounts'> & {
  readonly before?: TimePosition | null;
};

/** Returns the newest adjustments, at most `limit`; null means any tenant or any status. */
export async function listAdjustments(
  reader: Reader,
  tenantId: Uuid | null,
  status: Adjustment['status'] | null,
  limit: number,
  { from, to, amounts, before = null }: AdjustmentFilter = {},
): Promise<readonly Adjustment[]> {
  const at = (time: Instant): string => literal(adjustments, 'createdAt', time);
  const conditions = [
    'TRUE',
    ...(tenantId === null ? [] : [`tenant_id=${literal(adjustments, 'tenantId', tenantId)}`]),
    ...(status === null ? [] : [`status=${literal(adjustments, 'status', status)}`]),
    ...(from === undefined ? [] : [`created_at>=${at(from)}`]),
    ...(to === undefined ? [] : [`created_at<=${at(to)}`]),
    ...(amounts === undefined ? [] : [amountsSql('asset', 'raw', amounts)]),
    ...(before === null ? [] : [olderSql(adjustments.name, before)]),
  ];
  return reader.list(
    adjustments,
    `WHERE ${conditions.join(' AND ')}
     ORDER BY created_at DESC, id DESC LIMIT ${Math.trunc(limit)}`,
  );
}
