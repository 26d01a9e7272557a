import { listAuditRows } from '../access/audit-log.js';
import { formatAmount } from '../core/amount.js';
import { parseUuid, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import type { AuditRow } from '../db/entities/identity.js';
import { adjustments, payIns, transfers } from '../db/entities/operations.js';
import { accounts, members, tenants } from '../db/entities/parties.js';
import { payouts } from '../db/entities/payouts.js';
import { staff } from '../db/entities/staff.js';
import { literal } from '../db/statements.js';
import { recipientText } from '../payouts/rules.js';
import { findStaff } from '../staff/people.js';
import { countFound, findByText } from '../support/reading/search.js';
import { namesOf } from '../support/reading/transfers.js';
import type { Ops } from './command.js';
import { OpsError } from './failures.js';
import { orSimilar, similarTo } from './similar.js';

/** Finds whom and what the audit log means, and names them. */

const MAX_CANDIDATES = 5;

/**
 * Returns the names in the audit log of a person, a service or a tenant's member, or the text if it
 * names none of them. Throws OpsError for a name of several.
 */
export async function findActors(
  reader: Reader,
  given: string,
  tenantId: Uuid | undefined,
): Promise<readonly string[]> {
  const ofStaff = /^staff:(.+)$/s.exec(given)?.[1];
  if (ofStaff !== undefined) return [(await findStaff(reader, ofStaff))?.name ?? ofStaff];
  const [person, own] = await Promise.all([
    findStaff(reader, given),
    reader.select(members, { name: given, ...(tenantId && { tenantId }) }),
  ]);
  const tenantIds = new Set(own.map((member) => member.tenantId));
  if (tenantIds.size + Number(person !== undefined) > 1) {
    const names = await namesOf(reader, own);
    const candidates = [
      ...(person === undefined ? [] : [`staff:${person.name}`]),
      ...own.map((member) => `member:${member.id} of ${names.tenant(member.tenantId)}`),
    ];
    const shown = candidates.slice(0, MAX_CANDIDATES).join(', ');
    throw new OpsError(`${given} is the name of ${candidates.length} actors: ${shown}`);
  }
  if (own.length > 0) return own.map(({ id }) => `member:${id}`);
  return [person?.name ?? given];
}

/** Throws OpsError for an actor without a line in the audit log who is neither staff nor a member. */
export async function assertActor(reader: Reader, actor: string): Promise<void> {
  if ((await listAuditRows(reader, { actor }, 1)).length > 0) return;
  const names = (await reader.select(staff, {})).map(({ name }) => name);
  const id = parseUuid(actor.replace('member:', ''));
  const member = id === null ? undefined : await reader.find(members, { id });
  if (names.includes(actor) || member !== undefined) return;
  throw new OpsError(
    `"${actor}" is neither in the audit log nor among the staff or members${orSimilar(similarTo(actor, names), 'staff list')}`,
  );
}

/** The newest pay-ins and adjustments of an account whose lines are found with its own. */
const MOST_OF_ACCOUNT = 1_000;

/**
 * Returns the id of the only resource that an alias, an id or its beginning, or another text finds,
 * and of an account also those of its pay-ins and adjustments.
 */
export async function findSubjects(
  { database: { reader }, clock, output }: Ops,
  subject: string,
  tenantId: Uuid | undefined,
): Promise<readonly Uuid[]> {
  const asked = parseUuid(subject);
  const found = await findByText(reader, subject, clock());
  const rows = Object.values(found).flat() as { id: Uuid; tenantId?: Uuid }[];
  const [only, ...others] = rows.filter(
    ({ id, tenantId: owner = id }) => id === (asked ?? id) && owner === (tenantId ?? owner),
  );
  if (only === undefined || others.length > 0) return [];
  if (asked === null) output.more(`${subject} is ${only.id}`);
  if (!found.accounts.some(({ id }) => id === only.id)) return [only.id];
  const newest = `FORCE INDEX (account) WHERE account_id=${literal(accounts, 'id', only.id)}
    ORDER BY created_at DESC LIMIT ${MOST_OF_ACCOUNT}`;
  const moves = [await reader.list(payIns, newest), await reader.list(adjustments, newest)];
  if (moves.some(({ length }) => length === MOST_OF_ACCOUNT))
    output.more(`With its newest ${MOST_OF_ACCOUNT} pay-ins and adjustments`);
  return [only.id, ...moves.flat().map(({ id }) => id)];
}

/** Throws OpsError for a subject without a line in the audit log that is not the id of a resource. */
export async function assertSubject(
  reader: Reader,
  subjectId: string,
  now: Instant,
): Promise<void> {
  if ((await listAuditRows(reader, { subjectId }, 1)).length > 0) return;
  const found = await findByText(reader, subjectId, now);
  if (parseUuid(subjectId) !== null && countFound(found) > 0) return;
  const ids = Object.values(found).flatMap((rows) => rows.map(({ id }): string => id));
  throw new OpsError(
    `neither the audit log nor a resource has the id "${subjectId}"${orSimilar(ids.slice(0, 5), 'search --help')}`,
  );
}

/**
 * Returns the names of the tenants, accounts and members among the subjects, the amount and
 * recipient of transfers and payouts, and the amount and reference of adjustments and pay-ins, by
 * their ids, and the names of the members who acted, by `member:<id>`.
 */
export async function subjectNames(
  reader: Reader,
  entries: readonly AuditRow[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(entries.flatMap(({ subjectId }) => parseUuid(subjectId) ?? []))];
  const actors = entries.flatMap(({ actorClaimed }) => parseUuid(actorClaimed.slice(7)) ?? []);
  const [sent, paid, adjusted, paidIn] = await Promise.all([
    reader.select(transfers, { id: ids }),
    reader.select(payouts, { id: ids }),
    reader.select(adjustments, { id: ids }),
    reader.select(payIns, { id: ids }),
  ]);
  const parties = await namesOf(reader, [...sent, ...paid]);
  const found = await Promise.all([
    reader.select(tenants, { id: ids }),
    reader.select(accounts, { id: ids }),
    reader.select(members, { id: [...new Set([...ids, ...actors])] }),
  ]);
  const recipients = [
    ...sent.map((one) => ({
      ...one,
      to: parties.account(one.destinationAccountId, one.tenantId),
    })),
    ...paid.map((one) => ({ ...one, to: recipientText(one) })),
  ];
  return new Map([
    ...recipients.map((one): [string, string] => [one.id, `${formatAmount(one)} to ${one.to}`]),
    ...[...adjusted, ...paidIn].map((one): [string, string] => [
      one.id,
      `${formatAmount(one)} (${one.reference})`,
    ]),
    ...found.flat().flatMap(({ id, name }): [string, string][] => [
      [id, name],
      [`member:${id}`, name],
    ]),
  ]);
}
