import { firstIdAt, type Uuid } from '../core/ids.js';
import { type Instant, localTime, parseDay } from '../core/instant.js';
import { integer, string, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { AUDIT_CHANNELS, type AuditRow, auditLog } from '../db/entities/identity.js';
import { tenants } from '../db/entities/parties.js';
import { columnList, literal, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { STAFF_ACTIONS } from './rules.js';
import { SESSION_MS } from './sessions.js';

/** Reads from the audit log which of the staff's actions on tenants' resources were performed on a day. */

const DECISIONS = Object.keys(STAFF_ACTIONS).filter(
  (name) => !/^(staff|restore|payin)\./.test(name),
);

/** A day of the tenants of one time zone. */
interface LocalDay {
  readonly timeZone: string;
  readonly from: Instant;
  /** Exclusive. */
  readonly to: Instant;
}

/** Returns the day such as `2026-11-22` in each time zone of tenants: today for '', none for other text. */
export async function readLocalDays(
  reader: Reader,
  day: string,
  now: Instant,
): Promise<readonly LocalDay[]> {
  const rows = await reader.query('SELECT DISTINCT time_zone FROM tenants');
  return rows.flatMap((row) => {
    const timeZone = string.parse(row.time_zone);
    const span = parseDay(day || localTime(now, timeZone).slice(0, 10), timeZone);
    return span === null ? [] : [{ ...span, timeZone }];
  });
}

function fromSql(days: readonly LocalDay[]): string {
  const at = (time: Instant): string => literal(auditLog, 'at', time);
  const within = days.map(
    ({ timeZone, from, to }) =>
      `(o.time_zone=${literal(tenants, 'timeZone', timeZone)} AND a.at>=${at(from)} AND a.at<${at(to)})`,
  );
  // The id of a line is that of its form, which is at most as old as the session.
  const first = firstIdAt(Math.min(...days.map(({ from }) => from)) - SESSION_MS);
  const end = firstIdAt(Math.max(...days.map(({ to }) => to)));
  const channels = AUDIT_CHANNELS.filter((channel) => channel !== 'api');
  return `FROM audit_log a FORCE INDEX (channel_action) STRAIGHT_JOIN tenants o ON o.id=a.tenant_id
    WHERE a.channel IN (${literals(auditLog, 'channel', channels)})
    AND a.action IN (${literals(auditLog, 'action', DECISIONS)})
    AND a.id>=${literal(auditLog, 'id', first)} AND a.id<${literal(auditLog, 'id', end)} AND (${within.join(' OR ')})`;
}

export type Decided = AuditRow & { readonly tenantId: Uuid };

/** Returns the lines of all staff, or of one for a name, whose forms are the newest before `before`. */
export async function readDecided(
  reader: Reader,
  days: readonly LocalDay[],
  { name, before }: { readonly name: string; readonly before: Uuid | null },
  limit: number,
): Promise<readonly Decided[]> {
  if (days.length === 0) return [];
  const own = name === '' ? '' : ` AND a.actor_claimed=${literal(auditLog, 'actorClaimed', name)}`;
  const older = before === null ? '' : ` AND a.id<${literal(auditLog, 'id', before)}`;
  const rows = await reader.query(
    `SELECT ${columnList(auditLog, 'a')} ${fromSql(days)}${own}${older} ORDER BY a.id DESC LIMIT ${Math.trunc(limit)}`,
  );
  return rows.map((row) => ({
    ...parseRow(auditLog, row),
    tenantId: uuid.parse(row[auditLog.column('tenantId').name]),
  }));
}

/** Returns how many actions each of the staff performed, by name. */
export async function countDecided(
  reader: Reader,
  days: readonly LocalDay[],
): Promise<ReadonlyMap<string, number>> {
  if (days.length === 0) return new Map();
  const rows = await reader.query(
    `SELECT a.actor_claimed AS name, COUNT(*) AS decided ${fromSql(days)} GROUP BY a.actor_claimed ORDER BY name`,
  );
  return new Map(rows.map(({ name, decided }) => [string.parse(name), integer.parse(decided)]));
}
