import { randomUUID } from 'node:crypto';
import { type AuditEntry, type Actor, recordAction } from '../../access/audit-log.js';
import type { Refusal } from '../../core/errors.js';
import type { Keyring } from '../../core/fingerprint.js';
import { withEscapes } from '../../core/text.js';
import type { Database, DatabaseDeps } from '../../db/database.js';
import { STAFF_RIGHTS, type StaffRight, type StaffSession } from '../../db/entities/staff.js';
import { transact } from '../../db/transact.js';
import { findService, hasNoManager } from '../../staff/people.js';
import { rightRefusal, type StaffIdentity } from '../../staff/rules.js';
import { findSession } from '../../staff/sessions.js';
import { verifyClaim } from '../../staff/verification.js';
import { OpsError, shellWord } from '../failures.js';
import { needsCode, type Need, refusedAction, rightOf } from './needs.js';
import type { SessionFile, StoredSession } from './session-file.js';
import { PROGRAM } from '../help.js';

/** Determines who acts on the command line, and whether they may. */

export interface ActingDeps extends DatabaseDeps {
  readonly sessions: SessionFile;
  /** The key of a service: OPS_KEY. */
  readonly key: string | undefined;
  /** The person whose session is used: --as. Otherwise the person who signed in last. */
  readonly as: string | undefined;
  /** Asks for the current code. Null without a terminal. */
  readonly code: (name: string) => Promise<string | null>;
  /** Throws ConfigError if the keys are not configured. */
  readonly encryptionKeys: () => Keyring;
}

/** The user who is signed in; only people have a `session`. */
export interface SignedIn {
  readonly identity: StaffIdentity;
  readonly session: StaffSession | null;
}

/** The command to run, for the record of a refusal. */
interface Wanted {
  readonly command: string;
  /** The subject, as the user named it. */
  readonly subject: string;
}

const MAX_SUBJECT = 120;

/** Returns who is signed in. Throws OpsError if no session is valid. */
export async function findActor(deps: ActingDeps): Promise<SignedIn> {
  const found = await lookFor(deps);
  if ('identity' in found) return found;
  throw found.failure;
}

/**
 * Returns the actor, if they have the right; actions that need two people also require a code.
 * Otherwise throws OpsError with the next step; the refusal is recorded under the given name, and
 * nothing else changes.
 */
export async function authorise(
  deps: ActingDeps,
  need: Need,
  wanted: Wanted,
): Promise<StaffIdentity> {
  const found = await lookFor(deps);
  const right = rightOf(need);
  if (!('identity' in found)) {
    const { named, failure } = found;
    if (named !== null)
      await record(
        deps,
        { channel: 'ops', name: named },
        refusal(need, wanted, 'the session is over'),
      );
    throw failure;
  }
  const { identity } = found;
  if (needsCode(need) && identity.kind === 'person') return verified(deps, identity, need, wanted);
  const refused = rightRefusal(identity, right, needsCode(need));
  if (refused === null) return identity;
  await record(deps, identity, refusal(need, wanted, refused.message));
  throw adviceOn(refused, identity, right);
}

/** Throws OpsError if the session has ended, or the right was removed, since authorisation. */
export async function assertStillActs(
  deps: ActingDeps,
  need: Need,
  { id }: StaffIdentity,
): Promise<void> {
  const { identity } = await findActor(deps);
  if (identity.id !== id)
    throw new OpsError('another person has signed in here meanwhile: nothing was done');
  const refused = rightRefusal(identity, rightOf(need), needsCode(need));
  if (refused !== null) throw adviceOn(refused, identity, rightOf(need));
}

type Found = SignedIn | { readonly named: string | null; readonly failure: OpsError };

async function lookFor(deps: ActingDeps): Promise<Found> {
  const { as, key, sessions, database } = deps;
  if (as === undefined && key !== undefined) {
    const identity = await findService(deps, key);
    return identity === null
      ? {
          named: null,
          failure: new OpsError(
            'OPS_KEY is not the key of an active service: staff add-service makes a new key',
          ),
        }
      : { identity, session: null };
  }
  const stored = sessions.find(as);
  if (stored === undefined)
    return { named: null, failure: new OpsError(await nobody(database, as)) };
  const found = await findSession(deps, stored.token, 'ops');
  return found ?? { named: stored.name, failure: new OpsError(over(stored)) };
}

async function nobody(database: Database, as: string | undefined): Promise<string> {
  if (as !== undefined) return `${as} is not signed in here: ${PROGRAM} login ${shellWord(as)}`;
  const first = `MYSQL_ADMIN_URL=… ${PROGRAM} staff add NAME --can …,manage`;
  return (await hasNoManager(database.reader))
    ? `no member of the staff has the right manage yet. With the database administrator's URL, add the first: ${first}`
    : `sign in first: ${PROGRAM} login NAME`;
}

function over({ name }: StoredSession): string {
  return `the session of ${name} has ended: ${PROGRAM} login ${shellWord(name)}`;
}

async function verified(
  deps: ActingDeps,
  identity: StaffIdentity,
  need: Need,
  wanted: Wanted,
): Promise<StaffIdentity> {
  const { database, clock } = deps;
  const right = rightOf(need);
  const encryptionKeys = deps.encryptionKeys();
  const mayIfProven = rightRefusal(identity, right, true) === null;
  const code = mayIfProven ? await deps.code(identity.name) : null;
  const claim = {
    ...({ name: identity.name, code, door: 'ops', right, twoPeople: true } as const),
    ...{ receivedAt: clock(), purpose: `ops/${randomUUID()}`, refusedAct: refusal(need, wanted) },
  };
  const answer = await verifyClaim({ database, clock, encryptionKeys }, claim);
  if ('refusal' in answer) throw adviceOn(answer.refusal, identity, mayIfProven ? null : right);
  if (answer.identity.id !== identity.id)
    throw new Error('a code proved somebody else than who is signed in');
  return answer.identity;
}

function refusal(need: Need, { command, subject }: Wanted, refused?: string): AuditEntry {
  const [kind = ''] = need.split('.');
  const isAct = need.includes('.');
  return {
    tenantId: null,
    action: refusedAction(need),
    subjectType: isAct ? kind : 'command',
    subjectId: [...withEscapes(isAct ? subject : command)].slice(0, MAX_SUBJECT).join(''),
    details: { command, ...(refused === undefined ? {} : { refused }) },
  };
}

async function record(
  { database, clock }: ActingDeps,
  { channel, name }: Actor,
  act: AuditEntry,
): Promise<void> {
  await transact(database, (transaction) =>
    recordAction(transaction, { channel, name }, clock(), act),
  );
}

/** `lacking`: the missing right; null if the code was wrong. */
function adviceOn(
  { message }: Refusal,
  { kind, name, rights }: StaffIdentity,
  lacking: StaffRight | null,
): OpsError {
  if (lacking === null)
    return new OpsError(
      `${message}; each code works once: give the next code of ${name}'s authenticator with --code`,
    );
  if (kind === 'service' && rights.includes(lacking))
    return new OpsError(`${message}: a signed-in person must do this, with --as NAME`);
  const all = STAFF_RIGHTS.filter((right) => right === lacking || rights.includes(right)).join(',');
  const adds = kind === 'service' ? 'add-service' : 'add';
  return new OpsError(
    `${message}; a colleague with the right manage grants it: ${PROGRAM} staff ${adds} ${shellWord(name)} --can ${all}`,
  );
}
