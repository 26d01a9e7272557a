import { firstIdAt, type Uuid } from '../core/ids.js';
import { type Instant, localDay, parseDay } from '../core/instant.js';
import { integer, string, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { AUDIT_CHANNELS, type AuditRow, auditLog } from '../db/entities/identity.js';
import { tenants } from '../db/entities/parties.js';
import { columnList, literal, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { STAFF_ACTIONS } from './rules.js';
import { SESSION_MS } from './sessions.js';

/** Reads from the audit log which of the staff's actions on tenants' resources were performed on some days. */

export const DECISIONS = Object.keys(STAFF_ACTIONS).filter(
  (name) => !/^(staff|restore|payin)\./.test(name),
);

/** Days of the tenants of one time zone. */
interface LocalDays {
  readonly timeZone: string;
  readonly from: Instant;
  /** Exclusive. */
  readonly to: Instant;
}

/** Restricts decisions. Null means any. */
export interface DecidedFilter {
  readonly days: readonly LocalDays[];
  readonly tenantId: Uuid | null;
  /** Names among `DECISIONS`. */
  readonly actions: readonly string[];
}

/** Returns the days from one such as `2026-11-22` to another in each time zone of tenants. '' is today. */
export async function readLocalDays(
  reader: Reader,
  day: string,
  until: string,
  now: Instant,
): Promise<readonly LocalDays[]> {
  const rows = await reader.query('SELECT DISTINCT time_zone FROM tenants');
  return rows.flatMap((row) => {
    const timeZone = string.parse(row.time_zone);
    const [first, last] = [day, until].map((one) =>
      parseDay(one || localDay(now, timeZone), timeZone),
    );
    return first && last ? [{ from: first.from, to: last.to, timeZone }] : [];
  });
}

function fromSql({ days, tenantId, actions }: DecidedFilter): string {
  const at = (time: Instant): string => literal(auditLog, 'at', time);
  const within = days.map(
    ({ timeZone, from, to }) =>
      `(o.time_zone=${literal(tenants, 'timeZone', timeZone)} AND a.at>=${at(from)} AND a.at<${at(to)})`,
  );
  const ofTenant =
    tenantId === null ? '' : `AND a.tenant_id=${literal(auditLog, 'tenantId', tenantId)}`;
  // The id of a line is that of its form, which is at most as old as the session.
  const first = firstIdAt(Math.min(...days.map(({ from }) => from)) - SESSION_MS);
  const end = firstIdAt(Math.max(...days.map(({ to }) => to)));
  const channels = AUDIT_CHANNELS.filter((channel) => channel !== 'api');
  return `FROM audit_log a FORCE INDEX (channel_action) STRAIGHT_JOIN tenants o ON o.id=a.tenant_id
    WHERE a.channel IN (${literals(auditLog, 'channel', channels)})
    AND a.action IN (${literals(auditLog, 'action', actions)}) ${ofTenant}
    AND a.id>=${literal(auditLog, 'id', first)} AND a.id<${literal(auditLog, 'id', end)} AND (${within.join(' OR ')})`;
}

export type Decided = AuditRow & { readonly tenantId: Uuid };

/** Returns the lines of all staff, or of one for a name, whose forms are the newest before `before`. */
export async function readDecided(
  reader: Reader,
  filter: DecidedFilter,
  { name, before }: { readonly name: string; readonly before: Uuid | null },
  limit: number,
): Promise<readonly Decided[]> {
  if (filter.days.length === 0) return [];
  const own = name === '' ? '' : ` AND a.actor_claimed=${literal(auditLog, 'actorClaimed', name)}`;
  const older = before === null ? '' : ` AND a.id<${literal(auditLog, 'id', before)}`;
  const rows = await reader.query(
    `SELECT ${columnList(auditLog, 'a')} ${fromSql(filter)}${own}${older} ORDER BY a.id DESC LIMIT ${Math.trunc(limit)}`,
  );
  return rows.map((row) => ({
    ...parseRow(auditLog, row),
    tenantId: uuid.parse(row[auditLog.column('tenantId').name]),
  }));
}

/** Returns how many actions each of the staff performed, by name. */
export async function countDecided(
  reader: Reader,
  filter: DecidedFilter,
): Promise<ReadonlyMap<string, number>> {
  if (filter.days.length === 0) return new Map();
  const rows = await reader.query(
    `SELECT a.actor_claimed AS name, COUNT(*) AS decided ${fromSql(filter)} GROUP BY a.actor_claimed ORDER BY name`,
  );
  return new Map(rows.map(({ name, decided }) => [string.parse(name), integer.parse(decided)]));
}
