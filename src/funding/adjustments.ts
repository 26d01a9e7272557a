import type { Amount } from '../core/amount.js';
import { checkedText, MAX_REASON } from '../core/checked-text.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Reader } from '../db/database.js';
import { type Adjustment, adjustments } from '../db/entities/operations.js';
import { literal } from '../db/statements.js';
import { type CommandKind, naming, need } from '../ledger/writer/types.js';
import { assertMayAct, type StaffIdentity } from '../staff/rules.js';
import {
  assertPositive,
  type FundingDeps,
  opsKey,
  type FundingResult,
  resultOf,
  systemAccountId,
} from './reference.js';
import {
  decideApproval,
  type DecideAdjustment,
  decideProposal,
  decideRejection,
  type ProposeAdjustment,
} from './decide.js';
import { assertNotOfRefund } from './refund-references.js';

export interface NewAdjustment {
  readonly tenantId: Uuid;
  readonly accountId: Uuid;
  readonly direction: Adjustment['direction'];
  readonly amount: Amount;
  /** The operator's reference, unique in the tenant: `^[A-Za-z0-9._-]{1,64}$`. */
  readonly reference: string;
  /** 1 to 140 characters; the account's owner sees this as the movement's description. */
  readonly reason: string;
  readonly by: StaffIdentity;
}

const proposalKind: CommandKind<ProposeAdjustment, Adjustment> = {
  name: 'propose adjustment',
  resourceType: 'adjustment',
  table: adjustments,
  accounts: naming(({ accountId }) => [accountId]),
  needs: () => [],
  decide: decideProposal,
};

const approvalKind: CommandKind<DecideAdjustment, Adjustment> = {
  name: 'approve adjustment',
  resourceType: 'adjustment',
  table: adjustments,
  accounts: naming(({ accountId, systemAccountId: system }) => [accountId, system]),
  needs: ({ adjustmentId }) => [need(adjustments, { id: adjustmentId })],
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
  wanted: NewAdjustment,
): Promise<FundingResult<Adjustment>> {
  assertNotOfRefund(wanted);
  return proposeRefundPart(deps, wanted);
}

export async function proposeRefundPart(
  { desk }: FundingDeps,
  wanted: NewAdjustment,
): Promise<FundingResult<Adjustment>> {
  const { accountId, direction, amount, reference } = wanted;
  const key = opsKey(reference);
  assertMayAct('adjustment.propose', wanted.by);
  assertPositive(amount.raw);
  const reason = checkedText('reason', wanted.reason, MAX_REASON);
  const content = ['adjustment', accountId, direction, amount.asset, amount.raw.toString(), reason];
  const answer = await desk.submit(proposalKind, {
    ...wanted,
    key,
    fingerprint: commandFingerprint(content),
    adjustmentId: newId(),
    auditId: newId(),
    reason,
  });
  return resultOf(answer, reference);
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
  { database, desk }: FundingDeps,
  kind: CommandKind<DecideAdjustment, Adjustment>,
  action: 'approve' | 'reject',
  { id: adjustmentId, tenantId, accountId, reference }: Adjustment,
  { by, why }: Pick<DecideAdjustment, 'by' | 'why'>,
): Promise<FundingResult<Adjustment>> {
  assertMayAct(`adjustment.${action}`, by);
  const step = action === 'approve' ? 'post' : action;
  const answer = await desk.submit(kind, {
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
  return resultOf(answer, reference);
}

/** Returns the newest `limit` in this state (null: any). */
export async function listAdjustments(
  reader: Reader,
  tenantId: Uuid,
  status: Adjustment['status'] | null,
  limit: number,
): Promise<readonly Adjustment[]> {
  const inStatus = status === null ? '' : ` AND status=${literal(adjustments, 'status', status)}`;
  return reader.list(
    adjustments,
    `WHERE tenant_id=${literal(adjustments, 'tenantId', tenantId)}${inStatus}
     ORDER BY created_at DESC, id DESC LIMIT ${Math.trunc(limit)}`,
  );
}
