import { remove as withoutLookAlikes } from 'confusables';
import { ApiError, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import type { Staff, StaffRight } from '../db/entities/staff.js';

export type StaffChannel = 'ops' | 'temporal' | 'support';

/** A member of staff, proven by a code, a session or a service's key. */
export interface StaffIdentity {
  readonly id: Uuid;
  readonly name: string;
  readonly kind: Staff['kind'];
  readonly rights: readonly StaffRight[];
  readonly channel: StaffChannel;
}

interface StaffActionRule {
  readonly right: StaffRight;
  /** The action moves money, so the support desk asks for a code. */
  readonly movesMoney?: true;
  /** The action needs two people: each is always asked for a code, and services do not count. */
  readonly twoPeople?: true;
  /** Services cannot perform the action. */
  readonly byPerson?: true;
}

/** Every staff action by its name in the audit log. A signal always requires a code. */
export const STAFF_ACTIONS = {
  'transfer.approve': { right: 'approve', movesMoney: true, byPerson: true },
  'transfer.reject': { right: 'approve' },
  'transfer.cancel': { right: 'cancel' },
  /** The refund then waits for `transfer.approve` by another person. */
  'transfer.refund': { right: 'adjust', movesMoney: true, twoPeople: true },
  'payout.approve': { right: 'approve', movesMoney: true, byPerson: true },
  'payout.reject': { right: 'approve' },
  'payout.cancel': { right: 'cancel' },
  'payout.retry': { right: 'resolve' },
  'payout.resolve_propose': { right: 'resolve', movesMoney: true, twoPeople: true },
  'payout.resolve_approve': { right: 'resolve', movesMoney: true, twoPeople: true },
  'payout.resolve_reject': { right: 'resolve', twoPeople: true },
  'payin.record': { right: 'adjust', movesMoney: true },
  'adjustment.propose': { right: 'adjust', movesMoney: true, twoPeople: true },
  'adjustment.approve': { right: 'adjust', movesMoney: true, twoPeople: true },
  'adjustment.reject': { right: 'adjust', twoPeople: true },
  'bonus_batch.pause': { right: 'pause' },
  'bonus_batch.resume': { right: 'pause' },
  'bonus_batch.cancel': { right: 'cancel' },
  'payout_batch.pause': { right: 'pause' },
  'payout_batch.resume': { right: 'pause' },
  'payout_batch.cancel': { right: 'cancel' },
  'schedule.pause': { right: 'pause' },
  'schedule.resume': { right: 'pause' },
  'schedule.cancel': { right: 'cancel' },
  'webhook.pause': { right: 'pause' },
  'webhook.resume': { right: 'pause' },
  'webhook.retry_now': { right: 'pause' },
  'webhook.enable': { right: 'pause' },
  'webhook.disable': { right: 'pause' },
  'webhook.recover': { right: 'pause' },
  'webhook.redeliver': { right: 'pause' },
  'staff.reset_propose': { right: 'manage', twoPeople: true },
  'staff.reset_approve': { right: 'manage', twoPeople: true },
  'restore.begin': { right: 'manage', twoPeople: true },
  'restore.finish': { right: 'manage', twoPeople: true },
} as const satisfies Readonly<Record<string, StaffActionRule>>;
export type StaffActionName = keyof typeof STAFF_ACTIONS;

export function asksForCode(action: StaffActionName, channel: StaffChannel): boolean {
  const rule: StaffActionRule = STAFF_ACTIONS[action];
  if (channel === 'temporal') return true;
  return rule.twoPeople === true || (channel === 'support' && rule.movesMoney === true);
}

/** Refuses without the right, and refuses every service if the action requires a person. */
export function rightRefusal(
  { name, kind, rights }: Pick<StaffIdentity, 'name' | 'kind' | 'rights'>,
  right: StaffRight,
  { requiresPerson = false }: { readonly requiresPerson?: boolean } = {},
): Refusal | null {
  if (requiresPerson && kind !== 'person')
    return denied(`${name} is a service, which never counts as a person`);
  return right === 'read' || rights.includes(right)
    ? null
    : denied(`${name} lacks the right to ${right}`);
}

export function actionRefusal(
  action: StaffActionName,
  by: Pick<StaffIdentity, 'name' | 'kind' | 'rights'>,
): Refusal | null {
  const { right, twoPeople, byPerson }: StaffActionRule = STAFF_ACTIONS[action];
  return rightRefusal(by, right, { requiresPerson: twoPeople === true || byPerson === true });
}

/** Checks the current row as well as the identity, whose session may have fewer rights. */
export function rowRefusal(
  action: StaffActionName,
  by: Pick<StaffIdentity, 'name' | 'kind' | 'rights'>,
  row: Staff | undefined,
): Refusal | null {
  if (row?.active !== true) return denied(`${by.name} is not active staff`);
  return actionRefusal(action, row) ?? actionRefusal(action, by);
}

export function assertMayAct(action: StaffActionName, by: StaffIdentity): void {
  const refusal = actionRefusal(action, by);
  if (refusal !== null) throw new ApiError(refusal);
}

export function secondPersonRefusal(first: Uuid | null, second: Uuid): Refusal | null {
  if (first === null)
    return denied(
      'it was proposed before the staff were verified, so who proposed it is unknown: reject it, and propose it anew',
    );
  return first === second ? denied('the proposer cannot decide it: a second person does') : null;
}

export function denied(message: string): Refusal {
  return { code: 'authority_insufficient', message };
}

/** A signal that waited longer than this for a worker must be sent again. */
export const MAX_CODE_AGE_MS = 10 * 60_000;

const FREE_FAILURES = 4;
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 60 * 60_000;

/** Returns until when codes are refused after this many wrong ones; null if the next one counts. */
export function lockedUntil(failedCodes: number, at: Instant): Instant | null {
  const excess = failedCodes - FREE_FAILURES;
  if (excess <= 0) return null;
  return instant(at + Math.min(FIRST_PAUSE_MS * 2 ** Math.min(excess - 1, 20), MAX_PAUSE_MS));
}

interface Lock {
  readonly failedCodes: number;
  readonly lockedUntil: Instant | null;
}

/**
 * Returns the lock-out. The command line has a separate one, so that outsiders cannot lock its
 * users.
 */
export function lockAt(channel: StaffChannel, person: Staff): Lock {
  const { failedCodes, lockedUntil: until, opsFailedCodes, opsLockedUntil } = person;
  return channel === 'ops'
    ? { failedCodes: opsFailedCodes, lockedUntil: opsLockedUntil }
    : { failedCodes, lockedUntil: until };
}

export function lockColumns(
  channel: StaffChannel,
  { failedCodes, lockedUntil: until }: Lock,
): Partial<Staff> {
  return channel === 'ops'
    ? { opsFailedCodes: failedCodes, opsLockedUntil: until }
    : { failedCodes, lockedUntil: until };
}

export const UNLOCKED = {
  failedCodes: 0,
  lockedUntil: null,
  opsFailedCodes: 0,
  opsLockedUntil: null,
} as const;

export function isLocked({ lockedUntil: until }: Pick<Lock, 'lockedUntil'>, at: Instant): boolean {
  return until !== null && at < until;
}

/**
 * Returns the name without differences of case, width, accents and look-alike letters.
 * (docs/contract.md, Staff)
 */
export function foldedName(name: string): string {
  const plain = withoutLookAlikes(name.normalize('NFKC')).normalize('NFKD');
  return plain
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .toLowerCase();
}
