import { hash, randomUUID } from 'node:crypto';
import { recordAction } from '../access/audit-log.js';
import { cleanText } from '../core/checked-text.js';
import { ApiError, type Refusal } from '../core/errors.js';
import { type Staff, staff, type StaffRight } from '../db/entities/staff.js';
import { isDuplicateKey } from '../db/failures.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { endSessions, findStaff, staffAudit } from './people.js';
import { denied, rightRefusal, type StaffIdentity } from './rules.js';
import {
  identityOf,
  MAX_STAFF_NAME,
  type StaffDeps,
  staffEntry,
  verifyPerson,
} from './verification.js';

/**
 * Links of staff to accounts at the company's identity provider. The person proves once, by a code,
 * that an account is theirs. Afterwards only the subject counts, never a name. (docs/contract.md,
 * Staff)
 */

export interface ProvenSubject {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string | null;
  /** The rights that the account's groups grant; null: all rights of the person. */
  readonly rights: readonly StaffRight[] | null;
}

type SubjectResult =
  | { readonly found: 'person'; readonly identity: StaffIdentity }
  /** A code links the person, who has no account yet. */
  | { readonly found: 'unlinked'; readonly person: Staff }
  | { readonly found: 'refused'; readonly refusal: Refusal };

export async function findBySubject(
  deps: StaffDeps,
  proven: ProvenSubject,
): Promise<SubjectResult> {
  const { reader } = deps.database;
  const linked = await reader.find(staff, { subjectHash: subjectHash(proven) });
  const person = linked ?? (await findNamed(deps, proven.name));
  const refused = refusalReason(person, proven);
  if (refused !== null || person === undefined) {
    const refusal = denied(refused ?? NO_PERSON);
    await recordRefusal(deps, proven, person, refusal);
    return { found: 'refused', refusal };
  }
  if (linked === undefined) return { found: 'unlinked', person };
  return { found: 'person', identity: identityOf(linked, 'support', proven.rights) };
}

/** Links the person by the person's code. A refusal is recorded and counts towards the lock-out. */
export async function linkSubject(
  deps: StaffDeps,
  person: Pick<Staff, 'id' | 'name'>,
  proven: ProvenSubject,
  code: string,
): Promise<StaffIdentity | { readonly refusal: Refusal }> {
  const refusalEntry = staffEntry(person.id, 'staff.bind_refused');
  const verified = await verifyPerson(deps, {
    name: person.name,
    code,
    channel: 'support',
    right: 'read',
    receivedAt: deps.clock(),
    purpose: `bind/${randomUUID()}`,
    refusalEntry,
  });
  if ('refusal' in verified) return verified;
  const { identity } = verified;
  const linked = await link(deps, identity, proven);
  if (linked !== null) return linked;
  // Another request has linked the person or the account, or deactivated the person.
  const refusal = denied(OTHER_SUBJECT);
  await recordRefusal(deps, proven, identity, refusal);
  return { refusal };
}

/** Returns null if another request has linked the person or the account, or deactivated the person. */
async function link(
  deps: StaffDeps,
  identity: StaffIdentity,
  proven: ProvenSubject,
): Promise<StaffIdentity | null> {
  try {
    return await transact(deps.database, async (transaction) => {
      const row = await transaction.find(staff, { id: identity.id }, { forUpdate: true });
      if (row === undefined || refusalReason(row, proven) !== null) return null;
      await transaction.execute(
        updateSql(staff, { subjectHash: subjectHash(proven) }, { id: row.id }),
      );
      const entry = staffAudit(row, 'staff.bind', { issuer: proven.issuer });
      await recordAction(transaction, identity, deps.clock(), entry);
      return identityOf(row, 'support', proven.rights);
    });
  } catch (failure) {
    if (!isDuplicateKey(failure)) throw failure;
    return null;
  }
}

/** Unlinks the person, who can then link a new account, and ends sessions. False if not linked. */
export async function unlinkSubject(
  deps: Pick<StaffDeps, 'database' | 'clock'>,
  { id }: Pick<Staff, 'id'>,
  by: StaffIdentity,
): Promise<boolean> {
  const refusal = rightRefusal(by, 'manage');
  if (refusal !== null) throw new ApiError(refusal);
  return transact(deps.database, async (transaction) => {
    const row = await transaction.find(staff, { id }, { forUpdate: true });
    if (row === undefined || row.subjectHash === null) return false;
    await transaction.execute(updateSql(staff, { subjectHash: null }, { id }));
    await endSessions(transaction, deps.clock, id);
    await recordAction(transaction, by, deps.clock(), staffAudit(row, 'staff.unbind'));
    return true;
  });
}

const NO_PERSON = 'no member of staff has this account at the provider';
const OTHER_SUBJECT = 'the person is linked to another account at the provider';

function refusalReason(person: Staff | undefined, proven: ProvenSubject): string | null {
  if (person === undefined) return NO_PERSON;
  if (person.kind !== 'person') return `${person.name} is a service, which cannot sign in`;
  if (!person.active) return `${person.name} is not active staff`;
  if (person.subjectHash !== null && !person.subjectHash.equals(subjectHash(proven)))
    return OTHER_SUBJECT;
  return proven.rights?.length === 0 ? 'no group at the provider gives a right' : null;
}

async function findNamed({ database }: StaffDeps, name: string | null): Promise<Staff | undefined> {
  const cleaned = cleanText(name ?? '', MAX_STAFF_NAME);
  return 'clean' in cleaned ? findStaff(database.reader, cleaned.clean) : undefined;
}

/** Includes the issuer, because subjects of two providers may be equal. */
function subjectHash({ issuer, subject }: Pick<ProvenSubject, 'issuer' | 'subject'>): Buffer {
  return hash('sha256', JSON.stringify([issuer, subject]), 'buffer');
}

function recordRefusal(
  deps: StaffDeps,
  { name, issuer }: ProvenSubject,
  person: Pick<Staff, 'id' | 'name'> | undefined,
  { message: refused }: Refusal,
): Promise<void> {
  const cleaned = cleanText(name ?? '', MAX_STAFF_NAME);
  const claimed = person?.name ?? ('clean' in cleaned ? cleaned.clean : '');
  const entry = staffEntry(person?.id ?? '', 'staff.sign_in_refused', { issuer, refused });
  return transact(deps.database, (transaction) =>
    recordAction(transaction, { channel: 'support', name: claimed }, deps.clock(), entry),
  );
}

/** (docs/contract.md, Sign-in by the company's provider) */
export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client, which PKCE alone authenticates. */
  readonly clientSecret: string | null;
  readonly scope: string;
  /** The claim by which a person is found the first time. */
  readonly nameClaim: string;
  /** The claim whose values grant rights. Null: people have the rights that operators gave them. */
  readonly rights: RightsOfClaim | null;
}

export interface RightsOfClaim {
  readonly claim: string;
  readonly byValue: ReadonlyMap<string, readonly StaffRight[]>;
}
