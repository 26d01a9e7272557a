import { checkedText } from '../core/checked-text.js';
import { ApiError, invalidField, type Refusal } from '../core/errors.js';
import { newId } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Database, Reader } from '../db/database.js';
import { type Staff, staff, type StaffRight } from '../db/entities/approvals.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { type Actor, recordAct } from './audit-log.js';

/** Support staff: who of the operators' people may act for support, and what each may do. (docs/contract.md, Staff) */

const MAX_NAME = 80;

/**
 * Adds somebody, or gives somebody who is there exactly these rights, active again. Throws ApiError invalid_field (the name,
 * no right).
 */
export async function setStaff(
  database: Database,
  clock: Clock,
  wanted: { readonly name: string; readonly rights: readonly StaffRight[] },
  actor: Actor,
): Promise<Staff> {
  const name = checkedText('name', wanted.name, MAX_NAME);
  const { rights } = wanted;
  if (rights.length === 0) throw new ApiError(invalidField('can', 'empty'));
  return transact(database, async (transaction) => {
    const known = await transaction.find(staff, { name }, { forUpdate: true });
    const person: Staff = {
      id: known?.id ?? newId(),
      name,
      rights,
      active: true,
      createdAt: known?.createdAt ?? clock(),
    };
    if (known === undefined) await transaction.execute(insertSql(staff, [person]));
    else await transaction.execute(updateSql(staff, { rights, active: true }, { id: known.id }));
    const details = { name, rights: rights.join(',') };
    const act = { tenantId: null, action: 'staff.set', subjectType: 'staff', subjectId: person.id, details };
    await recordAct(transaction, actor, clock(), act);
    return person;
  });
}

/** From the commit on nothing that they sign changes anything. False where they were not active. */
export async function deactivateStaff(database: Database, clock: Clock, person: Staff, actor: Actor): Promise<boolean> {
  return transact(database, async (transaction) => {
    const known = await transaction.find(staff, { id: person.id }, { forUpdate: true });
    if (known?.active !== true) return false;
    await transaction.execute(updateSql(staff, { active: false }, { id: person.id }));
    const details = { name: person.name };
    const act = { tenantId: null, action: 'staff.deactivate', subjectType: 'staff', subjectId: person.id, details };
    await recordAct(transaction, actor, clock(), act);
    return true;
  });
}

export function listStaff(reader: Reader): Promise<readonly Staff[]> {
  return reader.select(staff, {}, { orderBy: ['name'] });
}

export function findStaff(reader: Reader, name: string): Promise<Staff | undefined> {
  return reader.find(staff, { name });
}

/** Null where this is the name of active staff with the right. */
export async function staffRefusal(reader: Reader, name: string, right: StaffRight): Promise<Refusal | null> {
  const person = await findStaff(reader, name);
  if (person?.active === true && person.rights.includes(right)) return null;
  const why = person?.active === true ? `lacks the right to ${right}` : 'is not active staff';
  return { code: 'authority_insufficient', message: `${name} ${why}` };
}
