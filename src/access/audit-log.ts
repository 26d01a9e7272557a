import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Reader, Transaction } from '../db/database.js';
import { type AuditRow, auditLog } from '../db/entities/identity.js';
import { columnList, insertSql, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';

/** Who acts, and through what. */
export interface Actor {
  readonly channel: AuditRow['channel'];
  readonly name: string;
}

export function memberActor(caller: Caller): Actor {
  return { channel: 'api', name: `member:${caller.memberId}` };
}

/** The operator's name, as the command line knows it. */
export function operatorActor(name: string): Actor {
  return { channel: 'ops', name };
}

/** A privileged act. `details` hold ids, amounts, states and reasons, never secrets or personal data. */
export interface Act {
  readonly tenantId: Uuid | null;
  readonly action: string;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
}

/** Records the acts in the transaction that does them: neither is there without the other. */
export async function recordActs(
  transaction: Transaction,
  actor: Actor,
  at: Instant,
  acts: readonly Act[],
): Promise<void> {
  if (acts.length === 0) return;
  const rows = acts.map((act) => auditRow(newId(), actor, at, act));
  await transaction.execute(insertSql(auditLog, rows));
}

/** The same for one act. */
export function recordAct(transaction: Transaction, actor: Actor, at: Instant, act: Act): Promise<void> {
  return recordActs(transaction, actor, at, [act]);
}

/** The act as a row, for those who write it themselves: the posting desk. */
export function auditRow(id: Uuid, actor: Actor, at: Instant, act: Act): AuditRow {
  const { tenantId, action, subjectType, subjectId, details = {} } = act;
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

export type ActDetails = NonNullable<Act['details']>;

export function parseDetails({ details }: AuditRow): ActDetails {
  return JSON.parse(details) as ActDetails;
}

export interface ActFilter {
  readonly tenantId?: Uuid | undefined;
  readonly subjectId?: string | undefined;
  readonly action?: string | undefined;
}

/** The newest acts first, at most `limit`. */
export async function listActs(reader: Reader, filter: ActFilter, limit: number): Promise<AuditRow[]> {
  const conditions = ['TRUE'];
  if (filter.tenantId !== undefined) conditions.push(`tenant_id=${literal(auditLog, 'tenantId', filter.tenantId)}`);
  if (filter.subjectId !== undefined) conditions.push(`subject_id=${literal(auditLog, 'subjectId', filter.subjectId)}`);
  if (filter.action !== undefined) conditions.push(`action=${literal(auditLog, 'action', filter.action)}`);
  const rows = await reader.query(
    `SELECT ${columnList(auditLog)} FROM audit_log WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT ${Math.trunc(limit)}`,
  );
  return rows.map((row) => parseRow(auditLog, row));
}
