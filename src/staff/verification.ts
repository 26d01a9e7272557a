import { hash } from 'node:crypto';
import type { AuditAction } from '../access/audit-actions.js';
import { type AuditDetails, type AuditEntry, auditRow, recordRow } from '../access/audit-log.js';
import { cleanText, MAX_REASON } from '../core/checked-text.js';
import { counted } from '../core/collections.js';
import type { Refusal } from '../core/errors.js';
import type { Keyring } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import type { DatabaseDeps, Transaction } from '../db/database.js';
import {
  type Staff,
  staff,
  type StaffCheck,
  staffChecks,
  type StaffRight,
} from '../db/entities/staff.js';
import { isDuplicateKey } from '../db/failures.js';
import { insertSql, literal, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { CODE_PATTERN, findCodeStep } from './authenticator.js';
import {
  denied,
  foldedName,
  isLocked,
  lockAt,
  lockColumns,
  lockedUntil,
  MAX_CODE_AGE_MS,
  rightRefusal,
  STAFF_ACTIONS,
  type StaffActionName,
  type StaffChannel,
  type StaffIdentity,
} from './rules.js';
import { type StaffSignal, WORKFLOW_ID_OF } from '../temporal/contracts.js';

export interface StaffDeps extends DatabaseDeps {
  readonly encryptionKeys: Keyring;
}

export interface Claim {
  readonly name: string | null;
  readonly code: string | null;
  readonly channel: StaffChannel;
  readonly right: StaffRight;
  readonly twoPeople?: boolean;
  /** The code is checked as of this moment, at most 10 minutes ago, and refused if null. */
  readonly receivedAt: Instant | null;
  /** A repeated call with the same purpose returns the first result. */
  readonly purpose: string;
  /** Why the request must fail for every sender; the code is then not checked. */
  readonly fault?: string | null;
  /** Recorded on refusal, with `refused` added to its details. */
  readonly refusalEntry: AuditEntry;
}

export type Verified = { readonly identity: StaffIdentity } | { readonly refusal: Refusal };

export const MAX_STAFF_NAME = 80;
/** A code that is sent as a number has lost its leading zeros. */
const NO_CODE_IN_SIGNAL = 'no code was given as text, such as "492039"';
const ANOTHER_PERSONS_CODE = 'another person has sent it before';
const CHECKS_KEPT_MS = 7 * 24 * 60 * 60_000;

/**
 * Checks that the code is this person's, for that moment, and unused, then marks it as used for
 * this purpose. A refusal is recorded once and counts as a wrong code. A call with the same purpose
 * returns the same result. (docs/contract.md, Staff)
 */
export async function verifyPerson(deps: StaffDeps, claim: Claim): Promise<Verified> {
  try {
    return await verifyOnce(deps, claim);
  } catch (failure) {
    // An unknown person has no row to lock, so a concurrent call may record its result first.
    if (!isDuplicateKey(failure)) throw failure;
    return verifyOnce(deps, claim);
  }
}

function verifyOnce(deps: StaffDeps, claim: Claim): Promise<Verified> {
  const purpose = hash('sha256', claim.purpose, 'buffer');
  return transact(deps.database, async (transaction) => {
    // Locks the person's row, so that of two calls with one code the second finds it used.
    const person = await findClaimed(transaction, claim);
    const previous = await transaction.find(staffChecks, { purpose });
    const now = deps.clock();
    if (previous !== undefined && previous.staffId === (person?.id ?? null))
      return resultOf(previous, person, claim);
    if (previous !== undefined) {
      // A proof for one person proves nothing for another.
      recordRefusal(transaction, claim, person, ANOTHER_PERSONS_CODE, now);
      return { refusal: denied(ANOTHER_PERSONS_CODE) };
    }
    const checked = await checkCode(deps, transaction, person, claim, now);
    const check: StaffCheck = {
      purpose,
      staffId: person?.id ?? null,
      step: 'step' in checked ? checked.step : null,
      refused: 'step' in checked ? null : checked.refused,
      at: now,
    };
    await transaction.execute(
      `DELETE FROM staff_checks WHERE at<${literal(staffChecks, 'at', instant(now - CHECKS_KEPT_MS))} LIMIT 100`,
    );
    await transaction.execute(insertSql(staffChecks, [check]));
    if (person !== undefined) await updateLock(transaction, person, claim.channel, checked, now);
    if (check.refused !== null) recordRefusal(transaction, claim, person, check.refused, now);
    return resultOf(check, person, claim);
  });
}

/**
 * Returns the claimed name in the form in which names are stored, or null if it is not a valid
 * name.
 */
function cleanName({ name }: Claim): string | null {
  const cleaned = cleanText(name ?? '', MAX_STAFF_NAME);
  return 'clean' in cleaned ? cleaned.clean : null;
}

function findClaimed(transaction: Transaction, claim: Claim): Promise<Staff | undefined> {
  const name = cleanName(claim);
  if (name === null) return Promise.resolve(undefined);
  return transaction.find(staff, { foldedName: foldedName(name) }, { forUpdate: true });
}

type CodeCheck = { readonly step: bigint } | { readonly refused: string; readonly isWrong?: true };

async function checkCode(
  { encryptionKeys }: StaffDeps,
  transaction: Transaction,
  person: Staff | undefined,
  claim: Claim,
  now: Instant,
): Promise<CodeCheck> {
  const { code, right, twoPeople, fault = null, receivedAt } = claim;
  const name = cleanName(claim);
  if (name === null) return { refused: 'no actor was named' };
  if (fault !== null) return { refused: fault };
  if (person?.active !== true) return { refused: `${name} is not active staff` };
  const noRight = rightRefusal(person, right, { requiresPerson: twoPeople === true });
  if (noRight !== null) return { refused: noRight.message };
  if (person.factorSecret === null || person.factorKeyId === null)
    return { refused: `${person.name} has no authenticator` };
  if (code === null && claim.channel === 'temporal') return { refused: NO_CODE_IN_SIGNAL };
  if (code === null || code === '') return { refused: 'no code was given' };
  const lock = lockAt(claim.channel, person);
  if (isLocked(lock, now))
    return { refused: `${person.name} is locked for ${lockText(lock.lockedUntil ?? now, now)}` };
  if (receivedAt === null)
    return { refused: 'the time at which it arrived is unknown: send it again' };
  if (now - receivedAt > MAX_CODE_AGE_MS)
    return { refused: 'the code is older than 10 minutes: ask again' };
  const factor = { keyId: person.factorKeyId, bytes: person.factorSecret };
  // Authenticators show a space between the halves.
  const digits = code.replace(/\s/gu, '');
  const step = CODE_PATTERN.test(digits)
    ? findCodeStep(encryptionKeys, person.id, factor, digits, receivedAt)
    : null;
  if (step === null) return { refused: 'the code is wrong', isWrong: true };
  const used = await transaction.find(staffChecks, { staffId: person.id, step });
  return used === undefined ? { step } : { refused: 'the code was used before', isWrong: true };
}

/** Returns the rest of a lock-out in words: "28 seconds", or "4 minutes" from two minutes on. */
function lockText(until: Instant, now: Instant): string {
  const seconds = Math.ceil((until - now) / 1_000);
  return seconds < 120 ? counted(seconds, 'second') : counted(Math.ceil(seconds / 60), 'minute');
}

async function updateLock(
  transaction: Transaction,
  person: Staff,
  channel: StaffChannel,
  checked: CodeCheck,
  now: Instant,
): Promise<void> {
  const { id } = person;
  if ('step' in checked) {
    const set = { ...lockColumns(channel, { failedCodes: 0, lockedUntil: null }), lastUsedAt: now };
    await transaction.execute(updateSql(staff, set, { id }));
  } else if (checked.isWrong === true) {
    const failedCodes = lockAt(channel, person).failedCodes + 1;
    const lock = { failedCodes, lockedUntil: lockedUntil(failedCodes, now) };
    await transaction.execute(updateSql(staff, lockColumns(channel, lock), { id }));
  }
}

function recordRefusal(
  transaction: Transaction,
  claim: Claim,
  person: Staff | undefined,
  refused: string,
  now: Instant,
): void {
  const { channel, refusalEntry } = claim;
  const actor = { channel, name: person?.name ?? cleanName(claim) ?? '' };
  const entry = { ...refusalEntry, details: { ...refusalEntry.details, refused } };
  recordRow(transaction, auditRow(newId(), actor, now, entry));
}

function resultOf(
  { refused }: StaffCheck,
  person: Staff | undefined,
  { channel }: Claim,
): Verified {
  if (refused !== null) return { refusal: denied(refused) };
  if (person === undefined) throw new Error('an accepted code belongs to no person');
  return { identity: identityOf(person, channel) };
}

export function staffEntry(
  subjectId: string,
  action: AuditAction,
  details: AuditDetails = {},
): AuditEntry {
  return { tenantId: null, action, subjectType: 'staff', subjectId, details };
}

/** Returns the identity, with its rights limited to `within` (null: all rights). */
export function identityOf(
  { id, name, kind, rights }: Staff,
  channel: StaffChannel,
  within: readonly StaffRight[] | null = null,
): StaffIdentity {
  const own = within === null ? rights : rights.filter((one) => within.includes(one));
  return { id, name, kind, rights: own, channel };
}

interface SignalSubject {
  readonly tenantId: Uuid;
  readonly subjectType: keyof typeof WORKFLOW_ID_OF;
  readonly subjectId: Uuid;
  readonly details?: AuditDetails;
}

interface VerifiedSignal {
  readonly by: StaffIdentity;
  readonly reason: string;
}

/** Checks codes as of the moment at which Temporal received the signal. (docs/contract.md, Staff) */
export class StaffSignals {
  /** `receivedAt` returns null if this run of the workflow has no such signal. */
  constructor(
    private readonly deps: StaffDeps,
    private readonly receivedAt: (
      workflowId: string,
      signal: StaffSignal,
    ) => Promise<Instant | null>,
  ) {}

  /**
   * A repeated call with the same action and reason returns the same result; a refusal is recorded
   * once. Throws what the database throws, and TemporalUnavailable.
   */
  async verify(
    action: StaffActionName,
    signal: StaffSignal,
    { details, ...subject }: SignalSubject,
  ): Promise<VerifiedSignal | { readonly refused: string }> {
    const { actor, actionId } = signal;
    const cleaned = cleanText(signal.reason ?? '', MAX_REASON);
    const reason = 'clean' in cleaned ? cleaned.clean : null;
    const code = signal.code ?? null;
    const workflowId = WORKFLOW_ID_OF[subject.subjectType](subject.subjectId);
    const verified = await verifyPerson(this.deps, {
      name: actor,
      code,
      channel: 'temporal',
      right: STAFF_ACTIONS[action].right,
      purpose: `signal/${action}/${subject.subjectId}/${actionId}/${reason ?? ''}`,
      fault: reason === null ? `no reason of 1 to ${MAX_REASON} characters was given` : null,
      receivedAt: signal.code === null ? null : await this.receivedAt(workflowId, signal),
      refusalEntry: { ...subject, action: `${action}_refused`, details: { ...details, reason } },
    });
    if ('refusal' in verified) return { refused: verified.refusal.message };
    // A signal without a reason was refused above.
    return { by: verified.identity, reason: reason ?? '' };
  }
}
