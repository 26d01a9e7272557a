import { invalidState, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { type Operation, type Role, roleAllows } from '../core/permissions.js';
import type { Approval, ApprovalPolicyRow } from '../db/entities/approvals.js';
import type { Staff } from '../db/entities/staff.js';
import { AUTHORITY_INSUFFICIENT } from '../accounts/rules.js';
import { rowRefusal, type StaffIdentity } from '../staff/rules.js';
import { type Policy, policyAt } from './policy-rules.js';

export const APPROVAL_ACTIONS = ['approve', 'reject', 'cancel'] as const;
export type ApprovalAction = (typeof APPROVAL_ACTIONS)[number];

export type ApprovalActor =
  | { readonly by: 'member'; readonly memberId: Uuid }
  | { readonly by: 'staff'; readonly staff: StaffIdentity };

interface WaitingApproval {
  readonly status: string;
  readonly createdBy: Uuid;
  readonly required: number;
  readonly received: number;
  readonly expiresAt: Instant;
}

/** The columns of a resource that may wait for approval; null if it needed none. */
export interface ApprovalColumns {
  readonly status: string;
  readonly createdBy: Uuid;
  readonly approvalsRequired: number | null;
  readonly approvalsReceived: number | null;
  readonly approvalExpiresAt: Instant | null;
}

/** Null for a resource that needed no approval. */
export function waitingOf(row: ApprovalColumns): WaitingApproval | null {
  const { status, createdBy, approvalsRequired, approvalsReceived, approvalExpiresAt } = row;
  if (approvalsRequired === null || approvalsReceived === null || approvalExpiresAt === null)
    return null;
  return {
    status,
    createdBy,
    required: approvalsRequired,
    received: approvalsReceived,
    expiresAt: approvalExpiresAt,
  };
}

export interface RequiredApprovals {
  readonly required: number;
  readonly expiresAt: Instant;
}

/** Returns null if the operation proceeds at once. */
export function requiredApprovals(
  row: ApprovalPolicyRow | undefined,
  raw: bigint,
  at: Instant,
): RequiredApprovals | null {
  const policy = policyAt(row, at);
  if (policy === null || !needsApproval(policy, raw)) return null;
  return { required: policy.approvals, expiresAt: instant(at + policy.expiresInS * 1_000) };
}

/** Returns the policy if validation must reject a batch of this total. */
export function batchRefusal(
  row: ApprovalPolicyRow | undefined,
  totalRaw: bigint,
  at: Instant,
): Policy | null {
  const policy = policyAt(row, at);
  return policy !== null && policy.refusesBatches && needsApproval(policy, totalRaw)
    ? policy
    : null;
}

interface ActorRights {
  readonly role?: Role | undefined;
  readonly staff?: Staff | undefined;
}

export type ApprovableType = 'transfer' | 'payout';

export interface ApprovalOperations {
  readonly approve: Operation;
  readonly cancel: Operation;
  /** Further statuses, besides pending approval, in which the resource can be canceled. */
  readonly alsoCanceledIn?: readonly string[];
}

export const PENDING_APPROVAL = 'pending_approval';

export const SUPPORT = 'support';

/** The name under which an approval counts: each member once, and the staff together once. */
export function approverOf(acting: ApprovalActor): string {
  return acting.by === 'member' ? `member:${acting.memberId}` : SUPPORT;
}

export function claimedName(acting: ApprovalActor): string {
  return acting.by === 'member' ? approverOf(acting) : acting.staff.name;
}

/** The creator may cancel, but not approve or reject. */
export function authorityRefusal(
  action: ApprovalAction,
  acting: ApprovalActor,
  rights: ActorRights,
  waiting: WaitingApproval,
  {
    resourceType,
    operations,
  }: { readonly resourceType: ApprovableType; readonly operations: ApprovalOperations },
): Refusal | null {
  if (acting.by === 'staff')
    return rowRefusal(`${resourceType}.${action}`, acting.staff, rights.staff);
  const isCreator = acting.memberId === waiting.createdBy;
  const { role } = rights;
  if (action === 'cancel') {
    const may = roleAllows(operations.cancel, role) || (isCreator && role !== undefined);
    return may ? null : AUTHORITY_INSUFFICIENT;
  }
  if (isCreator && role !== undefined)
    return { code: 'authority_insufficient', message: `whoever created it cannot ${action} it` };
  return roleAllows(operations.approve, role) ? null : AUTHORITY_INSUFFICIENT;
}

export function malformedRefusal(acting: ApprovalActor, reason: string | null): Refusal | null {
  if (acting.by === 'member' || reason !== null) return null;
  return { code: 'invalid_field', message: 'no reason of 1 to 140 characters was given' };
}

/** (docs/contract.md, Invalid state) */
export function stateRefusal(
  current: string,
  allowed: readonly string[] = [PENDING_APPROVAL],
): Refusal {
  const what = allowed.length === 1 ? 'and waits for no approval' : 'and can no longer be canceled';
  return invalidState(`it is ${current}, ${what}`, current, allowed);
}

/** A refused second approval by staff is recorded. */
const SUPPORT_COUNTS_ONCE = invalidState(
  'support has approved it already, and counts once',
  PENDING_APPROVAL,
  [],
);

export function allowedFor(
  action: ApprovalAction,
  { alsoCanceledIn = [] }: ApprovalOperations,
): readonly string[] {
  return action === 'cancel' ? [PENDING_APPROVAL, ...alsoCanceledIn] : [PENDING_APPROVAL];
}

export type ActionVerdict =
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  /** The expiry has passed: the resource is settled as expired, and the action is refused. */
  | { readonly outcome: 'expired' }
  /** A repeated approval by the same member, which changes nothing. */
  | { readonly outcome: 'repeated' }
  | { readonly outcome: 'approved'; readonly received: number; readonly isLast: boolean }
  | { readonly outcome: 'ended' };

/** Returns the result of an action: 403 first, then 409, then its outcome. */
export function checkAction(
  action: ApprovalAction,
  acting: ApprovalActor,
  waiting: WaitingApproval,
  context: {
    readonly rights: ActorRights;
    readonly approvals: readonly Approval[];
    readonly resourceType: ApprovableType;
    readonly operations: ApprovalOperations;
    readonly at: Instant;
  },
): ActionVerdict {
  const refusal = authorityRefusal(action, acting, context.rights, waiting, context);
  if (refusal !== null) return { outcome: 'refused', refusal };
  const allowed = allowedFor(action, context.operations);
  if (!allowed.includes(waiting.status))
    return { outcome: 'refused', refusal: stateRefusal(waiting.status, allowed) };
  if (waiting.status === PENDING_APPROVAL && isExpired(waiting, context.at))
    return { outcome: 'expired' };
  if (action !== 'approve') return { outcome: 'ended' };
  if (context.approvals.some(({ approver }) => approver === approverOf(acting)))
    return acting.by === 'staff'
      ? { outcome: 'refused', refusal: SUPPORT_COUNTS_ONCE }
      : { outcome: 'repeated' };
  const received = waiting.received + 1;
  return { outcome: 'approved', received, isLast: received >= waiting.required };
}

export function isExpired({ expiresAt }: Pick<WaitingApproval, 'expiresAt'>, at: Instant): boolean {
  return at >= expiresAt;
}

function needsApproval(policy: { readonly threshold: bigint } | undefined, raw: bigint): boolean {
  return policy !== undefined && raw >= policy.threshold;
}
