import { hash, randomBytes, randomUUID } from 'node:crypto';
import { recordAction } from '../access/audit-log.js';
import { ApiError, type Refusal } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import { staff, type StaffSession, staffSessions } from '../db/entities/staff.js';
import { insertSql, literal, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { denied, type StaffIdentity } from './rules.js';
import { identityOf, type StaffDeps, staffEntry, verifyPerson } from './verification.js';

/** One code proves the person for every action of the next hours. (docs/contract.md, Staff) */

export const SESSION_MS = 8 * 60 * 60_000;
/** Uses are recorded once per interval. */
const RECORD_EVERY_MS = 60_000;
const MAX_PLACE = 140;

interface Credentials {
  readonly name: string;
  readonly code: string;
  readonly channel: StaffSession['channel'];
  /** Name of the machine (command line), or address of the browser (support desk). */
  readonly place: string;
}

export interface SignedIn {
  readonly token: string;
  readonly session: StaffSession;
  readonly identity: StaffIdentity;
}

/** Returns a refusal, which is recorded, if name and code do not prove the person. */
export async function signIn(
  deps: StaffDeps,
  credentials: Credentials,
): Promise<SignedIn | { readonly refusal: Refusal }> {
  const { name, code, channel, place } = credentials;
  const verified = await verifyPerson(deps, {
    name,
    code,
    channel,
    right: 'read',
    receivedAt: deps.clock(),
    purpose: `sign-in/${randomUUID()}`,
    refusalEntry: staffEntry('', 'staff.sign_in_refused'),
  });
  if ('refusal' in verified) return verified;
  return openSession(deps, verified.identity, channel, place);
}

/** Opens a session of a proven person, limited to `rights` (null: all). */
export async function openSession(
  { database, clock }: StaffDeps,
  identity: StaffIdentity,
  channel: StaffSession['channel'],
  place: string,
  rights: StaffSession['rights'] = null,
): Promise<SignedIn> {
  const token = `sst_${randomBytes(32).toString('base64url')}`;
  const now = clock();
  const session: StaffSession = {
    id: newId(),
    staffId: identity.id,
    channel,
    tokenHash: hash('sha256', token, 'buffer'),
    place: [...place].slice(0, MAX_PLACE).join(''),
    createdAt: now,
    lastUsedAt: now,
    expiresAt: instant(now + SESSION_MS),
    rights,
    revokedAt: null,
  };
  await transact(database, async (transaction) => {
    // The person may have lost rights since the sign-in began.
    const person = await transaction.find(staff, { id: identity.id }, { forUpdate: true });
    if (person?.active !== true) throw new ApiError(denied(`${identity.name} is not active staff`));
    await transaction.execute(insertSql(staffSessions, [session]));
    const entry = staffEntry(identity.id, 'staff.sign_in', { session: session.id });
    await recordAction(transaction, { channel, name: identity.name }, now, entry);
  });
  return { token, session, identity };
}

/**
 * Returns the session's owner and records the use. Null if the session is unknown, expired, revoked,
 * unused for `idleMs`, or its owner is inactive.
 */
export async function findSession(
  { database, clock }: Pick<StaffDeps, 'database' | 'clock'>,
  token: string,
  channel: StaffSession['channel'],
  idleMs = SESSION_MS,
  { isUse = true } = {},
): Promise<{ readonly session: StaffSession; readonly identity: StaffIdentity } | null> {
  const session = await database.current.find(staffSessions, {
    tokenHash: hash('sha256', token, 'buffer'),
    channel,
  });
  const now = clock();
  if (session === undefined || !isOpen(session, now) || now - session.lastUsedAt > idleMs)
    return null;
  const person = await database.current.find(staff, { id: session.staffId });
  if (person?.active !== true) return null;
  if (isUse && now - session.lastUsedAt >= RECORD_EVERY_MS)
    await database.withTransaction((transaction) =>
      transaction.execute(updateSql(staffSessions, { lastUsedAt: now }, { id: session.id })),
    );
  return { session, identity: identityOf(person, session.channel, session.rights) };
}

export function revokeSessions(
  { database, clock }: Pick<StaffDeps, 'database' | 'clock'>,
  which: { readonly staffId: Uuid } | { readonly id: Uuid },
  by: StaffIdentity,
): Promise<number> {
  return transact(database, async (transaction) => {
    const now = clock();
    const open = (await transaction.select(staffSessions, which, { forUpdate: true })).filter(
      (one) => isOpen(one, now),
    );
    for (const { id, staffId } of open) {
      await transaction.execute(updateSql(staffSessions, { revokedAt: now }, { id }));
      const entry = staffEntry(staffId, 'staff.session_revoke', { session: id });
      await recordAction(transaction, by, now, entry);
    }
    return open.length;
  });
}

export async function listOpenSessions(
  reader: Reader,
  now: Instant,
): Promise<readonly { readonly session: StaffSession; readonly name: string }[]> {
  const sessions = await reader.list(
    staffSessions,
    `WHERE revoked_at IS NULL AND expires_at>${literal(staffSessions, 'expiresAt', now)} ORDER BY created_at DESC`,
  );
  const people = await reader.select(staff, { id: sessions.map(({ staffId }) => staffId) });
  const names = new Map(people.map(({ id, name }) => [id, name]));
  return sessions.map((session) => ({
    session,
    name: names.get(session.staffId) ?? session.staffId,
  }));
}

function isOpen({ revokedAt, expiresAt }: StaffSession, now: Instant): boolean {
  return revokedAt === null && now < expiresAt;
}
