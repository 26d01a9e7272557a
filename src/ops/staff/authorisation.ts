import type { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import type { AuditAction } from '../../access/audit-actions.js';
import { type Actor, type AuditEntry, recordAction } from '../../access/audit-log.js';
import type { OpsConfig } from '../../config/config.js';
import type { Refusal } from '../../core/errors.js';
import type { Keyring } from '../../core/fingerprint.js';
import { escapeInvisible } from '../../core/text.js';
import type { Database, DatabaseDeps, Reader } from '../../db/database.js';
import { STAFF_RIGHTS, type StaffRight, type StaffSession } from '../../db/entities/staff.js';
import { errnoOf, isUnavailable } from '../../db/failures.js';
import { mysqlAddress, withDatabase } from '../../db/servers.js';
import { transact } from '../../db/reader.js';
import { findService, findStaff, hasNoManager } from '../../staff/people.js';
import {
  asksForCode,
  isLocked,
  lockAt,
  rightRefusal,
  STAFF_ACTIONS,
  type StaffActionName,
  type StaffIdentity,
} from '../../staff/rules.js';
import { findSession } from '../../staff/sessions.js';
import { verifyPerson } from '../../staff/verification.js';
import { buildOpsParts, type OpsDeps } from '../context.js';
import { OpsError, shellWord } from '../failures.js';
import { PROGRAM } from '../help.js';
import { named, type Subject } from '../lookups.js';
import type { SessionFile } from './session-file.js';

/** A right, or a staff action, which implies one. */
type Need = StaffRight | StaffActionName;

/** Needs that depend on the input. `for` returns null for an input that changes nothing. */
interface Choice<Input> {
  readonly anyOf: readonly [Need, ...Need[]];
  readonly for: (input: Input, reader: Reader) => Need | null | Promise<Need>;
}

/** The need of a command. `own proof` is for signing in and out, which only prove identity. */
export type Needs<Input> = Need | Choice<Input> | 'own proof';

export type DeclaredNeeds = 'nothing' | 'own proof' | readonly Need[];

const declared = new WeakMap<Command, DeclaredNeeds>();

/** Returns the need of a command: `nothing` if it only reads, undefined for a group. */
export function needsOf(command: Command): DeclaredNeeds | undefined {
  return declared.get(command);
}

export function declareNeeds(command: Command, needs: DeclaredNeeds): void {
  declared.set(command, needs);
}

export function declaredNeedsOf<Input>(needs: Needs<Input>): DeclaredNeeds {
  if (needs === 'own proof') return needs;
  return typeof needs === 'string' ? [needs] : needs.anyOf;
}

function isRight(need: Need): need is StaffRight {
  return (STAFF_RIGHTS as readonly string[]).includes(need);
}

function rightOf(need: Need): StaffRight {
  return isRight(need) ? need : STAFF_ACTIONS[need].right;
}

/** Returns true if the user must prove their identity again, as one of two people. */
export function needsCode(need: Need): boolean {
  return !isRight(need) && asksForCode(need, 'ops');
}

/** Returns the sentence of a command's help about the rights that it needs, if any. */
export function needsText(needs: DeclaredNeeds): string | undefined {
  if (needs === 'nothing' || needs === 'own proof') return undefined;
  const rights = [...new Set(needs.map(rightOf))].join(' or ');
  const code = needs.some(needsCode) ? ', and asks for a code: two people must act' : '';
  return `Needs the right to ${rights}${code} (${PROGRAM} login --help).`;
}

export function refusedAction(need: Need): AuditAction {
  return isRight(need) ? 'ops.refused' : `${need}_refused`;
}

export interface AuthorisationDeps extends DatabaseDeps {
  readonly sessions: SessionFile;
  /** The key of a service: OPS_KEY. */
  readonly key: string | undefined;
  /** The person whose session is used: --as. Otherwise the person who signed in last. */
  readonly as: string | undefined;
  /** Returns the code of --code, or asks for it after the remark. Throws UsageError without a terminal. */
  readonly code: (name: string, remark?: string) => Promise<string>;
  /** False with --code, and without a terminal. */
  readonly asksForCode: boolean;
  readonly encryptionKeys: () => Keyring;
}

/** The user who is signed in; only people have a `session`. */
export interface SignedIn {
  readonly identity: StaffIdentity;
  readonly session: StaffSession | null;
}

interface CommandRequest {
  readonly command: string;
  /** The command's subject, as the user named it. */
  readonly subject: string;
  readonly findSubject: () => Promise<Subject>;
}

const MAX_SUBJECT = 120;

class SessionEnded extends OpsError {
  constructor(readonly person: string) {
    super(`the session of ${person} has ended: ${PROGRAM} login ${shellWord(person)}`);
  }
}

/** Returns who is signed in. Throws OpsError if no session is valid. */
export async function findActor(deps: AuthorisationDeps): Promise<SignedIn> {
  const { as, key, sessions, database } = deps;
  if (as === undefined && key !== undefined) {
    const identity = await findService(deps, key);
    if (identity !== null) return { identity, session: null };
    throw new OpsError(
      'OPS_KEY is not the key of an active service: staff add-service makes a new key',
    );
  }
  const stored = sessions.find(as);
  if (stored === undefined) throw new OpsError(await notSignedInMessage(database, as));
  const found = await findSession(deps, stored.token, 'ops');
  if (found === null) throw new SessionEnded(stored.name);
  return found;
}

async function notSignedInMessage(database: Database, as: string | undefined): Promise<string> {
  if (as !== undefined) {
    const { name } = await named.staff.parse(as).find(database.reader);
    return `${name} is not signed in here: ${PROGRAM} login ${shellWord(name)}`;
  }
  const first = `MYSQL_ADMIN_URL=… ${PROGRAM} staff add NAME --can …,manage`;
  return (await hasNoManager(database.reader))
    ? `no member of the staff has the right manage yet. With the database administrator's URL, add the first: ${first}`
    : `sign in first: ${PROGRAM} login NAME`;
}

/** A user who has the right. */
export interface Authorised {
  readonly identity: StaffIdentity;
  /** Returns the same identity. For actions of two people, asks for a code and uses it up first. */
  readonly prove: () => Promise<StaffIdentity>;
}

/**
 * Returns the actor if they have the right. Otherwise, as if `prove` fails, records the refusal and
 * throws OpsError with the next step.
 */
export async function authorise(
  deps: AuthorisationDeps,
  need: Need,
  request: CommandRequest,
): Promise<Authorised> {
  const right = rightOf(need);
  const record = async ({ channel, name }: Actor, refused: string): Promise<void> => {
    const entry = await refusal(need, request, refused);
    return transact(deps.database, (transaction) =>
      recordAction(transaction, { channel, name }, deps.clock(), entry),
    );
  };
  const { identity } = await findActor(deps).catch(async (failure: unknown) => {
    if (failure instanceof SessionEnded)
      await record({ channel: 'ops', name: failure.person }, 'the session is over');
    throw failure;
  });
  const refused = rightRefusal(identity, right, { requiresPerson: needsCode(need) });
  if (refused !== null) {
    await record(identity, refused.message);
    throw errorWithAdvice(refused, identity, right);
  }
  const prove = (): Promise<StaffIdentity> =>
    needsCode(need) ? verifyCode(deps, identity, need, request) : Promise.resolve(identity);
  return { identity, prove };
}

/** Throws OpsError if the session has ended, or the right was removed, since authorisation. */
export async function assertStillAuthorised(
  deps: AuthorisationDeps,
  need: Need,
  { id }: StaffIdentity,
): Promise<void> {
  const { identity } = await findActor(deps);
  if (identity.id !== id)
    throw new OpsError('another person has signed in here meanwhile: nothing was done');
  const refused = rightRefusal(identity, rightOf(need), { requiresPerson: needsCode(need) });
  if (refused !== null) throw errorWithAdvice(refused, identity, rightOf(need));
}

async function verifyCode(
  deps: AuthorisationDeps,
  identity: StaffIdentity,
  need: Need,
  request: CommandRequest,
) {
  const { database, clock } = deps;
  const { name } = identity;
  const encryptionKeys = deps.encryptionKeys();
  const refusalEntry = await refusal(need, request);
  const result = await withCode(deps, name, (code) =>
    verifyPerson(
      { database, clock, encryptionKeys },
      {
        name,
        code,
        right: rightOf(need),
        twoPeople: true,
        receivedAt: clock(),
        channel: 'ops',
        purpose: `ops/${randomUUID()}`,
        refusalEntry,
      },
    ),
  );
  if ('refusal' in result) throw errorWithAdvice(result.refusal, identity, null);
  if (result.identity.id !== identity.id)
    throw new Error('the code belongs to another person than the session');
  return result.identity;
}

const MOST_CODES = 3;

/** Proves a person by their code. At a terminal, asks again after a wrong one, 3 times in all, unless the person is locked out. */
export async function withCode<Proof extends object>(
  { database, clock, code, asksForCode }: AuthorisationDeps,
  name: string,
  prove: (code: string) => Promise<Proof | { readonly refusal: Refusal }>,
): Promise<Proof | { readonly refusal: Refusal }> {
  for (let asked = 1, remark = ''; ; asked++) {
    const result = await prove(await code(name, remark));
    if (!('refusal' in result) || !asksForCode || asked === MOST_CODES) return result;
    const { message } = result.refusal;
    const person = await findStaff(database.reader, name);
    const mayAskAgain = person !== undefined && !isLocked(lockAt('ops', person), clock());
    if (!mayAskAgain || !isCodeFault(result.refusal)) return result;
    remark = `${message.replace(/^./, (first) => first.toUpperCase())}. `;
  }
}

/** Returns true if another code of the same person may be accepted. */
function isCodeFault({ message }: Refusal): boolean {
  return /^(the code|no code) was|^the code is/.test(message);
}

/** Returns the refusal of a code with the next step. */
export function codeError(refusal: Refusal): OpsError {
  const { message } = refusal;
  if (!isCodeFault(refusal)) return new OpsError(message);
  const next = /used before/.test(message)
    ? 'each code works once: wait for the next one'
    : 'give what the authenticator shows now';
  return new OpsError(`${message}; ${next}`);
}

async function refusal(
  need: Need,
  { command, subject: given, findSubject }: CommandRequest,
  refused?: string,
): Promise<AuditEntry> {
  const [kind = ''] = need.split('.');
  const isStaffAction = need.includes('.');
  const { tenantId, id } = await findSubject();
  return {
    tenantId,
    action: refusedAction(need),
    subjectType: isStaffAction ? kind : 'command',
    subjectId: [...escapeInvisible(isStaffAction ? (id ?? given) : command)]
      .slice(0, MAX_SUBJECT)
      .join(''),
    details: { command, ...(refused === undefined ? {} : { refused }) },
  };
}

/** Returns the refusal with the next step. `missingRight` is null if the code was wrong. */
function errorWithAdvice(
  refusal: Refusal,
  { kind, name, rights }: StaffIdentity,
  missingRight: StaffRight | null,
): OpsError {
  const { message } = refusal;
  if (missingRight === null) return codeError(refusal);
  if (kind === 'service' && rights.includes(missingRight))
    return new OpsError(`${message}: a signed-in person must do this, with --as NAME`);
  const all = STAFF_RIGHTS.filter((right) => right === missingRight || rights.includes(right)).join(
    ',',
  );
  const adds = kind === 'service' ? 'add-service' : 'add';
  return new OpsError(
    `${message}; a colleague with the right manage grants it: ${PROGRAM} staff ${adds} ${shellWord(name)} --can ${all}`,
  );
}

/**
 * Returns null without the address, or if a person manages the staff. Throws OpsError if the
 * address is not an administrator's.
 */
export async function findAdministrator(config: OpsConfig, deps: OpsDeps) {
  if (config.MYSQL_ADMIN_URL === undefined || !(await hasNoManager(deps.database.reader)))
    return null;
  const url = withDatabase(config.MYSQL_ADMIN_URL, mysqlAddress(config.MYSQL_URL).database);
  const parts = buildOpsParts({ ...config, MYSQL_URL: url }, () => undefined);
  try {
    const actor: Actor = { channel: 'ops', name: await provenName(parts.database) };
    // MYSQL_URL may name another database than the administrator can change.
    if (!(await hasNoManager(parts.database.reader)))
      throw new OpsError('a member of the staff may already manage that database');
    await parts.databaseClock.read(parts.database.lookup);
    return { deps: parts, actor };
  } catch (failure) {
    await parts.database.close();
    throw failure;
  }
}

async function provenName(database: Database): Promise<string> {
  try {
    // Changes nothing, but requires the right to change the table.
    await database.withTransaction((transaction) => transaction.execute('ALTER TABLE staff'));
    const [row] = await database.reader.query('SELECT CURRENT_USER() AS name');
    return `mysql ${String(row?.name)}`;
  } catch (failure) {
    if (isUnavailable(failure) && !isAccessDenied(failure)) throw failure;
    throw new OpsError(
      `the user in MYSQL_ADMIN_URL may not change the tables (error ${errnoOf(failure) ?? 0})`,
    );
  }
}

/** MySQL denied access to the server, the database or the table. */
const ACCESS_DENIED = new Set([1045, 1044, 1142, 1227, 1698]);

function isAccessDenied(failure: unknown): boolean {
  const errno = errnoOf(failure) ?? (failure instanceof Error ? errnoOf(failure.cause) : null);
  return errno !== null && ACCESS_DENIED.has(errno);
}
