import { hash, randomBytes } from 'node:crypto';
import type { AuditAction } from '../access/audit-actions.js';
import {
  type Actor,
  type AuditDetails,
  type AuditEntry,
  changedFrom,
  recordAction,
} from '../access/audit-log.js';
import { checkedText } from '../core/checked-text.js';
import { ApiError, invalidField, invalidState, type Refusal } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { type Staff, staff, type StaffRight, staffSessions } from '../db/entities/staff.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { type NewFactor, newFactor } from './authenticator.js';
import {
  foldedName,
  rowRefusal,
  type StaffActionName,
  type StaffIdentity,
  UNLOCKED,
} from './rules.js';
import { identityOf, MAX_STAFF_NAME, type StaffDeps, staffEntry } from './verification.js';

/** The people of the operator, and the services that act for them. (docs/contract.md, Staff) */

/** A character may fold to several letters. */
const MAX_FOLDED = 240;

export interface NewStaff {
  readonly name: string;
  readonly rights: readonly StaffRight[];
}

/** `factor` is the new authenticator, shown once. */
interface SetPersonResult {
  readonly person: Staff;
  readonly factor: NewFactor | null;
}

export function staffAudit(
  { id, name }: Pick<Staff, 'id' | 'name'>,
  action: AuditAction,
  details: AuditDetails = {},
): AuditEntry {
  return staffEntry(id, action, { name, ...details });
}

/**
 * Adds a person, or gives a known one exactly these rights and makes them active. A person without
 * an authenticator gets one. While no person can manage the staff, the holder of the database
 * address may set the first manager, who gets a new authenticator. Throws invalid_field,
 * invalid_state (the last manager would lose that right).
 */
export function setPerson(
  deps: StaffDeps,
  request: NewStaff & { readonly isFirst?: boolean },
  actor: Actor,
): Promise<SetPersonResult> {
  const { database, encryptionKeys } = deps;
  const { isFirst = false } = request;
  return transact(database, async (transaction) => {
    const { known, row } = await readRowToSet(transaction, deps.clock, 'person', request);
    const factor = isFirst || row.factorSecret === null ? newFactor(encryptionKeys, row) : null;
    const person: Staff = factor === null ? row : { ...row, ...sealedColumns(factor), ...UNLOCKED };
    if (isFirst) await endSessions(transaction, deps.clock, row.id);
    await saveRow(transaction, known, person);
    await recordSet(transaction, deps.clock, known, person, actor);
    return { person, factor };
  });
}

/** Adds a service with a new key. A service cannot sign in and does not count as a person. */
export async function setService(
  { database, clock }: Pick<StaffDeps, 'database' | 'clock'>,
  request: NewStaff,
  actor: Actor,
): Promise<{ readonly service: Staff; readonly key: string }> {
  const key = `ssk_${randomBytes(32).toString('base64url')}`;
  return transact(database, async (transaction) => {
    const { known, row } = await readRowToSet(transaction, clock, 'service', request);
    const service: Staff = { ...row, keyHash: hash('sha256', key, 'buffer') };
    await saveRow(transaction, known, service);
    await recordSet(transaction, clock, known, service, actor);
    return { service, key };
  });
}

/** Returns the service and records the use; null if the key is unknown or the service inactive. */
export async function findService(
  { database, clock }: Pick<StaffDeps, 'database' | 'clock'>,
  key: string,
): Promise<StaffIdentity | null> {
  const service = await database.current.find(staff, { keyHash: hash('sha256', key, 'buffer') });
  if (service?.active !== true) return null;
  await database.withTransaction((transaction) =>
    transaction.execute(updateSql(staff, { lastUsedAt: clock() }, { id: service.id })),
  );
  return identityOf(service, 'ops');
}

/** Throws invalid_state for the last manager, without whom no rights could be granted. */
async function assertManagerRemains(transaction: Transaction, { id, name }: Staff): Promise<void> {
  const managers = (
    await transaction.select(staff, { active: true, kind: 'person' }, { forUpdate: true })
  ).filter(canManage);
  if (managers.length === 1 && managers[0]?.id === id)
    throw new ApiError(
      invalidState(
        `${name} is the last person who may manage the staff: let another one manage first`,
      ),
    );
}

function canManage({ rights, factorSecret }: Staff): boolean {
  return rights.includes('manage') && factorSecret !== null;
}

/** Refuses further actions and ends sessions. Returns false if already inactive. */
export async function deactivateStaff(
  database: Database,
  clock: Clock,
  person: Pick<Staff, 'id' | 'name'>,
  actor: Actor,
): Promise<boolean> {
  return transact(database, async (transaction) => {
    const known = await transaction.find(staff, { id: person.id }, { forUpdate: true });
    if (known?.active !== true) return false;
    await assertManagerRemains(transaction, known);
    await transaction.execute(updateSql(staff, { active: false }, { id: person.id }));
    await endSessions(transaction, clock, person.id);
    await recordAction(transaction, actor, clock(), staffAudit(person, 'staff.deactivate'));
    return true;
  });
}

export function listStaff(reader: Reader): Promise<readonly Staff[]> {
  return reader.select(staff, {}, { orderBy: ['name'] });
}

export function findStaff(reader: Reader, name: string): Promise<Staff | undefined> {
  return reader.find(staff, { foldedName: foldedName(name) });
}

/** True allows the holder of the administrator's database address to create the first manager. */
export async function hasNoManager(reader: Reader): Promise<boolean> {
  const people = await reader.select(staff, { active: true, kind: 'person' });
  return !people.some(canManage);
}

/** Ends a person's sessions. A withdrawn right needs no call: each action reads the row again. */
export async function endSessions(
  transaction: Transaction,
  clock: Clock,
  staffId: Uuid,
): Promise<void> {
  await transaction.execute(
    updateSql(staffSessions, { revokedAt: clock() }, { staffId, revokedAt: null }),
  );
}

export function sealedColumns({ sealed }: NewFactor): Pick<Staff, 'factorKeyId' | 'factorSecret'> {
  return { factorKeyId: sealed.keyId, factorSecret: sealed.bytes };
}

async function readRowToSet(
  transaction: Transaction,
  clock: Clock,
  kind: Staff['kind'],
  request: NewStaff,
): Promise<{ readonly known: Staff | undefined; readonly row: Staff }> {
  const name = checkedText('name', request.name, MAX_STAFF_NAME);
  const { rights } = request;
  if (rights.length === 0) throw new ApiError(invalidField('can', 'empty')); // the option --can
  const folded = foldedName(name);
  if (folded === '' || folded.length > MAX_FOLDED)
    throw new ApiError(invalidField('name', 'unreadable'));
  const known = await transaction.find(staff, { foldedName: folded }, { forUpdate: true });
  if (known !== undefined && !rights.includes('manage'))
    await assertManagerRemains(transaction, known);
  if (known !== undefined && known.kind !== kind)
    throw new ApiError(invalidField('name', `names a ${known.kind}`));
  const fresh = { id: newId(), name, foldedName: folded, kind, createdAt: clock() };
  const unproven = { factorKeyId: null, factorSecret: null, keyHash: null, subjectHash: null };
  const unused = { ...UNLOCKED, lastUsedAt: null };
  const before: Staff = known ?? { ...fresh, ...unproven, ...unused, rights, active: true };
  return { known, row: { ...before, rights, active: true } };
}

async function saveRow(
  transaction: Transaction,
  known: Staff | undefined,
  row: Staff,
): Promise<void> {
  if (known === undefined) await transaction.execute(insertSql(staff, [row]));
  else await transaction.execute(updateSql(staff, row, { id: row.id }));
}

function recordSet(
  transaction: Transaction,
  clock: Clock,
  before: Staff | undefined,
  one: Staff,
  actor: Actor,
): Promise<void> {
  const own = { kind: one.kind, rights: one.rights.join(',') };
  const changed = before && changedFrom({ rights: before.rights.join(',') }, own);
  const details = { ...own, ...changed };
  return recordAction(transaction, actor, clock(), staffAudit(one, 'staff.set', details));
}

/** Checks the right again, which may have been withdrawn since the code was verified. */
export async function currentRefusal(
  reader: Reader,
  action: StaffActionName,
  by: StaffIdentity,
): Promise<Refusal | null> {
  return rowRefusal(action, by, await reader.find(staff, { id: by.id }));
}
