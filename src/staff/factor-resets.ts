import { recordAction } from '../access/audit-log.js';
import { checkedText, MAX_REASON } from '../core/checked-text.js';
import { ApiError, invalidState, type Refusal } from '../core/errors.js';
import { newId } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Reader, Transaction } from '../db/database.js';
import {
  type Staff,
  staff,
  type StaffFactorReset,
  staffFactorResets,
} from '../db/entities/staff.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { type NewFactor, newFactor } from './authenticator.js';
import {
  denied,
  rightRefusal,
  secondPersonRefusal,
  type StaffIdentity,
  UNLOCKED,
} from './rules.js';
import type { StaffDeps } from './verification.js';
import { endSessions, sealedColumns, staffAudit } from './people.js';

/** Neither the proposer nor the approver is the person concerned. (docs/contract.md, Staff) */

/** Throws authority_insufficient, invalid_field (reason), invalid_state (already proposed). */
export async function proposeFactorReset(
  { database, clock }: StaffDeps,
  person: Staff,
  text: string,
  by: StaffIdentity,
): Promise<StaffFactorReset> {
  const reason = checkedText('reason', text, MAX_REASON);
  throwIfRefused(resetRefusal(person, by));
  return transact(database, async (transaction) => {
    await lockPerson(transaction, person);
    if ((await findOpenReset(transaction, person)) !== undefined)
      throw new ApiError(invalidState(`a new authenticator of ${person.name} is proposed already`));
    const reset: StaffFactorReset = {
      id: newId(),
      staffId: person.id,
      status: 'proposed',
      reason,
      createdAt: clock(),
      proposedById: by.id,
      decidedById: null,
      decidedAt: null,
    };
    await transaction.execute(insertSql(staffFactorResets, [reset]));
    const entry = staffAudit(person, 'staff.reset_propose', { reason });
    await recordAction(transaction, by, clock(), entry);
    return reset;
  });
}

/** Throws what `approveFactorReset` throws, before this person gives a code. */
export async function assertResetProposed(
  reader: Reader,
  person: Staff,
  by: StaffIdentity,
): Promise<StaffFactorReset> {
  throwIfRefused(resetRefusal(person, by));
  const reset = await findOpenReset(reader, person);
  if (reset === undefined)
    throw new ApiError(invalidState(`no new authenticator of ${person.name} is proposed`));
  throwIfRefused(secondPersonRefusal(reset.proposedById, by.id));
  return reset;
}

/**
 * Removes the old secret, lifts the lock-out and ends all sessions. Throws authority_insufficient
 * (the proposer, the person concerned, or without the right), invalid_state (nothing is proposed).
 */
export async function approveFactorReset(
  { database, clock, encryptionKeys }: StaffDeps,
  person: Staff,
  by: StaffIdentity,
): Promise<NewFactor> {
  return transact(database, async (transaction) => {
    await lockPerson(transaction, person);
    const reset = await assertResetProposed(transaction, person, by);
    const factor = newFactor(encryptionKeys, person);
    const set = { ...sealedColumns(factor), ...UNLOCKED };
    await transaction.execute(updateSql(staff, set, { id: person.id }));
    await endSessions(transaction, clock, person.id);
    await closeReset(transaction, clock(), person, reset, by, 'done');
    return factor;
  });
}

/** Withdraws a proposal, by any person with `manage`. Returns false without a proposal. */
export async function withdrawFactorReset(
  { database, clock }: StaffDeps,
  person: Staff,
  by: StaffIdentity,
): Promise<boolean> {
  throwIfRefused(rightRefusal(by, 'manage'));
  return transact(database, async (transaction) => {
    await lockPerson(transaction, person);
    const reset = await findOpenReset(transaction, person);
    if (reset === undefined) return false;
    await closeReset(transaction, clock(), person, reset, by, 'withdrawn');
    return true;
  });
}

async function closeReset(
  transaction: Transaction,
  now: Instant,
  person: Staff,
  { id, reason }: StaffFactorReset,
  by: StaffIdentity,
  status: 'done' | 'withdrawn',
): Promise<void> {
  const decided = { status, decidedById: by.id, decidedAt: now } as const;
  await transaction.execute(updateSql(staffFactorResets, decided, { id }));
  const action = status === 'done' ? 'staff.reset_approve' : 'staff.reset_withdraw';
  await recordAction(transaction, by, now, staffAudit(person, action, { reason }));
}

function throwIfRefused(refusal: Refusal | null): void {
  if (refusal !== null) throw new ApiError(refusal);
}

function resetRefusal({ id }: Staff, by: StaffIdentity): Refusal | null {
  const noRight = rightRefusal(by, 'manage', { requiresPerson: true });
  if (noRight !== null || id !== by.id) return noRight;
  return denied('you cannot reset your own authenticator: two other people do it');
}

/** Locks the person's row, and with it the proposals for that person. */
async function lockPerson(transaction: Transaction, { id, kind }: Staff): Promise<void> {
  if (kind !== 'person') throw new ApiError(invalidState('a service has no authenticator'));
  await transaction.find(staff, { id }, { forUpdate: true });
}

function findOpenReset(
  reader: Reader,
  { id: staffId }: Staff,
): Promise<StaffFactorReset | undefined> {
  return reader.find(staffFactorResets, { staffId, status: 'proposed' });
}
