import { ApiError, invalidState } from '../core/errors.js';
import { asUuid, firstIdAt, newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { SYSTEM_CHAIN } from '../db/audit-hash.js';
import { auditChains, type AuditRow, auditLog } from '../db/entities/identity.js';
import type { Account, Member } from '../db/entities/parties.js';
import { literal, literals } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { appendAuditRows } from '../ledger/audit-chain.js';
import type { AuditAction } from './audit-actions.js';

export interface Actor {
  readonly channel: AuditRow['channel'];
  readonly name: string;
}

export function memberActor(caller: Caller): Actor {
  return { channel: 'api', name: `member:${caller.memberId}` };
}

/** Returns the member who acted through the API; null for anyone else. */
export function memberOf({ channel, name }: Actor): Uuid | null {
  return channel === 'api' ? asUuid(name.slice('member:'.length)) : null;
}

/** Returns the actor of the demo world, a benchmark or a test. */
export function operatorActor(name: string): Actor {
  return { channel: 'ops', name };
}

/** `details` hold ids, amounts, states and reasons, never secrets or personal data. */
export interface AuditEntry {
  readonly tenantId: Uuid | null;
  readonly action: AuditAction;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
}

export function accountAudit(
  { id, tenantId }: Pick<Account, 'id' | 'tenantId'>,
  action: AuditAction,
  details: AuditDetails = {},
): AuditEntry {
  return { tenantId, action, subjectType: 'account', subjectId: id, details };
}

export type MemberName = Pick<Member, 'id' | 'tenantId'>;

export function memberAudit(
  { id, tenantId }: MemberName,
  action: AuditAction,
  details: AuditDetails = {},
): AuditEntry {
  return { tenantId, action, subjectType: 'member', subjectId: id, details };
}

export function tenantAudit(
  tenantId: Uuid,
  action: AuditAction,
  details: AuditDetails,
): AuditEntry {
  return { tenantId, action, subjectType: 'tenant', subjectId: tenantId, details };
}

/**
 * Adds an action to the audit log when the transaction commits. `wasPerformed` finds it by `id`.
 */
export function recordAction(
  transaction: Transaction,
  actor: Actor,
  at: Instant,
  entry: AuditEntry,
  id: Uuid = newId(),
): Promise<void> {
  recordRow(transaction, auditRow(id, actor, at, entry));
  return Promise.resolve();
}

const pending = new WeakMap<Transaction, AuditRow[]>();

/**
 * Appends the rows of a transaction together, right before COMMIT, so that chains are locked last.
 */
export function recordRow(transaction: Transaction, row: AuditRow): void {
  const pendingRows = pending.get(transaction);
  if (pendingRows !== undefined) {
    pendingRows.push(row);
    return;
  }
  const rows = [row];
  pending.set(transaction, rows);
  transaction.atEnd(() => appendAuditRows(transaction, rows));
}

/** Records an action under its own id once, however often the call is retried. */
export function recordOnce(
  { database, clock }: DatabaseDeps,
  id: Uuid,
  actor: Actor,
  entry: AuditEntry,
): Promise<void> {
  return transact(database, async (transaction) => {
    if ((await transaction.find(auditLog, { id })) !== undefined) return;
    recordRow(transaction, auditRow(id, actor, clock(), entry));
  });
}

/**
 * Returns true if this action was performed before; throws ApiError if it was refused. Callers hold
 * the lock of the row that the action changes, so a repeated action changes nothing.
 */
export async function wasPerformed(reader: Reader, id: Uuid): Promise<boolean> {
  const row = await reader.find(auditLog, { id });
  if (row?.action.endsWith('_refused') !== true) return row !== undefined;
  throw new ApiError(invalidState(String(parseDetails(row).refused)));
}

export function auditRow(id: Uuid, actor: Actor, at: Instant, entry: AuditEntry): AuditRow {
  const { tenantId, action, subjectType, subjectId, details = {} } = entry;
  return {
    id,
    tenantId,
    at,
    channel: actor.channel,
    actorClaimed: actor.name,
    action,
    subjectType,
    subjectId,
    details: JSON.stringify(details),
  };
}

export type AuditDetails = NonNullable<AuditEntry['details']>;

/** Returns as `<name>_before` each of the earlier details that a change did not leave as it was. */
export function changedFrom(before: AuditDetails, after: AuditDetails): AuditDetails {
  const changed = Object.entries(before).filter(([name, was]) => was !== (after[name] ?? null));
  return Object.fromEntries(changed.map(([name, was]) => [`${name}_before`, was]));
}

export function parseDetails({ details }: AuditRow): AuditDetails {
  return JSON.parse(details) as AuditDetails;
}

interface AuditFilter {
  readonly tenantId?: Uuid | undefined;
  readonly subjectId?: string | readonly string[] | undefined;
  readonly action?: string | readonly string[] | undefined;
  readonly actor?: string | readonly string[] | undefined;
  /** Inclusive. */
  readonly since?: Instant | undefined;
  /** Exclusive. */
  readonly until?: Instant | undefined;
  /** Only lines before this one. */
  readonly beforeId?: Uuid | undefined;
}

export async function listAuditRows(
  reader: Reader,
  filter: AuditFilter,
  limit: number,
): Promise<AuditRow[]> {
  const conditions = ['TRUE'];
  if (filter.tenantId !== undefined)
    conditions.push(`tenant_id=${literal(auditLog, 'tenantId', filter.tenantId)}`);
  if (filter.subjectId !== undefined)
    conditions.push(
      `subject_id IN (${literals(auditLog, 'subjectId', [filter.subjectId].flat())})`,
    );
  if (filter.action !== undefined)
    conditions.push(`action IN (${literals(auditLog, 'action', [filter.action].flat())})`);
  if (filter.actor !== undefined)
    conditions.push(
      `actor_claimed IN (${literals(auditLog, 'actorClaimed', [filter.actor].flat())})`,
    );
  const { since, until, beforeId } = filter;
  // Ids are ordered by time, so bounds on them need no index of their own.
  if (since !== undefined) conditions.push(`id>=${literal(auditLog, 'id', firstIdAt(since))}`);
  if (until !== undefined) conditions.push(`id<${literal(auditLog, 'id', firstIdAt(until))}`);
  if (beforeId !== undefined) conditions.push(`id<${literal(auditLog, 'id', beforeId)}`);
  return reader.list(
    auditLog,
    `WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT ${Math.trunc(limit)}`,
  );
}

/** Returns the rows about these subjects whose ids are from this time on. */
export async function listSubjectRows(
  reader: Reader,
  subjectIds: readonly Uuid[],
  since: Instant,
): Promise<readonly AuditRow[]> {
  if (subjectIds.length === 0) return [];
  return reader.list(
    auditLog,
    `FORCE INDEX (subject) WHERE subject_id IN (${literals(auditLog, 'subjectId', subjectIds)})
     AND id>=${literal(auditLog, 'id', firstIdAt(since))}`,
  );
}

/**
 * Returns the number of rows and the last hash of each chain; the tenant is null for the system's.
 */
export async function readChainHeads(
  reader: Reader,
  tenantId: Uuid | undefined,
): Promise<{ readonly tenant: string | null; readonly rows: string; readonly hash: string }[]> {
  const heads = await reader.select(
    auditChains,
    tenantId === undefined ? {} : { chainId: tenantId },
    { orderBy: ['chainId'] },
  );
  return heads.map(({ chainId, lastSequence, lastHash }) => ({
    tenant: chainId === SYSTEM_CHAIN ? null : chainId,
    rows: lastSequence.toString(),
    hash: lastHash.toString('hex'),
  }));
}
