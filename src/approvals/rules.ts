import type { Actor } from '../access/audit-log.js';
import { invalidState, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { type Operation, type Role, roleAllows } from '../core/permissions.js';
import type { ApprovableType, Approval, ApprovalPolicyRow } from '../db/entities/approvals.js';
import type { Staff } from '../db/entities/staff.js';
import { AUTHORITY_INSUFFICIENT } from '../accounts/rules.js';
import { rowRefusal, type StaffIdentity } from '../staff/rules.js';
import { type Policy, policyAt } from './policy-rules.js';

export const APPROVAL_ACTIONS = ['approve', 'reject', 'cancel'] as const;
export type ApprovalAction = (typeof APPROVAL_ACTIONS)[number];

export type ApprovalActor =
  | { readonly by: 'member'; readonly memberId: Uuid }
  | { readonly by: 'staff'; readonly staff: StaffIdentity };

interface ApprovalProgress {
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

/** Returns null for a resource that needed no approval. */
export function approvalProgress(row: ApprovalColumns): ApprovalProgress | null {
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

/** Returns the policy if it requires that validation rejects a batch of this total. */
export function policyRefusingBatch(
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

export interface ApprovalOperations {
  readonly approve: Operation;
  readonly cancel: Operation;
  /** Further statuses, besides pending approval, in which the resource can be canceled. */
  readonly alsoCanceledIn?: readonly string[];
}

export const PENDING_APPROVAL = 'pending_approval';
/** An authorised transfer, whose money is held until it is captured. */
export const HELD = 'held';
/** Statuses that end when their time is over. */
export const EXPIRING_STATUSES: readonly string[] = [PENDING_APPROVAL, HELD];

export const SUPPORT = 'support';

/** Returns the name by which an approval counts: each member once, and the staff together once. */
export function approverOf(actor: ApprovalActor): string {
  return actor.by === 'member' ? `member:${actor.memberId}` : SUPPORT;
}

/** Returns the actor as the audit log names it; a person of the staff states their own name. */
export function auditActor(actor: ApprovalActor): Actor {
  if (actor.by === 'member') return { channel: 'api', name: approverOf(actor) };
  return { channel: actor.staff.channel, name: actor.staff.name };
}

/** The creator may cancel, but not approve or reject. */
export function authorityRefusal(
  action: ApprovalAction,
  actor: ApprovalActor,
  rights: ActorRights,
  progress: ApprovalProgress,
  {
    resourceType,
    operations,
  }: { readonly resourceType: ApprovableType; readonly operations: ApprovalOperations },
): Refusal | null {
  const { role } = rights;
  if (actor.by === 'staff') {
    const refusal = rowRefusal(`${resourceType}.${action}`, actor.staff, rights.staff);
    const isProposer = actor.staff.id === progress.createdBy && action !== 'cancel';
    return refusal ?? (isProposer ? creatorRefusal(action) : null);
  }
  const isCreator = actor.memberId === progress.createdBy;
  if (action === 'cancel') {
    const isAllowed = roleAllows(operations.cancel, role) || (isCreator && role !== undefined);
    return isAllowed ? null : AUTHORITY_INSUFFICIENT;
  }
  if (isCreator && role !== undefined) return creatorRefusal(action);
  return roleAllows(operations.approve, role) ? null : AUTHORITY_INSUFFICIENT;
}

function creatorRefusal(action: ApprovalAction): Refusal {
  return {
    code: 'authority_insufficient',
    message: `its creator cannot ${action} it`,
    details: { reason: 'creator' },
  };
}

export function missingReasonRefusal(actor: ApprovalActor, reason: string | null): Refusal | null {
  if (actor.by === 'member' || reason !== null) return null;
  return { code: 'invalid_field', message: 'no reason of 1 to 140 characters was given' };
}

/** (docs/contract.md, Invalid state) */
export function stateRefusal(
  current: string,
  allowed: readonly string[] = [PENDING_APPROVAL],
): Refusal {
  const consequence =
    allowed.length === 1 ? 'and waits for no approval' : 'and can no longer be canceled';
  return invalidState(`it is ${current}, ${consequence}`, current, allowed);
}

/** Refuses a second approval by staff, even by another person. */
const SUPPORT_COUNTS_ONCE = invalidState(
  'support has approved it already, and counts once',
  PENDING_APPROVAL,
  [],
);

export function allowedStatuses(
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
  actor: ApprovalActor,
  progress: ApprovalProgress,
  context: {
    readonly rights: ActorRights;
    readonly approvals: readonly Approval[];
    readonly resourceType: ApprovableType;
    readonly operations: ApprovalOperations;
    readonly at: Instant;
  },
): ActionVerdict {
  const refusal = authorityRefusal(action, actor, context.rights, progress, context);
  if (refusal !== null) return { outcome: 'refused', refusal };
  const allowed = allowedStatuses(action, context.operations);
  if (!allowed.includes(progress.status))
    return { outcome: 'refused', refusal: stateRefusal(progress.status, allowed) };
  if (EXPIRING_STATUSES.includes(progress.status) && isExpired(progress, context.at))
    return { outcome: 'expired' };
  if (action !== 'approve') return { outcome: 'ended' };
  if (context.approvals.some(({ approver }) => approver === approverOf(actor)))
    return actor.by === 'staff'
      ? { outcome: 'refused', refusal: SUPPORT_COUNTS_ONCE }
      : { outcome: 'repeated' };
  const received = progress.received + 1;
  return { outcome: 'approved', received, isLast: received >= progress.required };
}

export function isExpired(
  { expiresAt }: Pick<ApprovalProgress, 'expiresAt'>,
  at: Instant,
): boolean {
  return at >= expiresAt;
}

function needsApproval(policy: Policy, raw: bigint): boolean {
  return raw >= policy.threshold;
}
