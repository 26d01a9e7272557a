import { bigint, nullable, time, uuid } from '../../db/columns.js';
import type { AuditRun, Check } from '../run.js';
import { whereAll } from '../scan.js';
import { acrossGaps, readGaps } from './events.js';

/** Compares event logs with their counters, and events of verifications with the accounts. */
export const eventLogChecks: Check = {
  tables: [],
  run: async (audit) => {
    await checkVerified(audit);
    await checkCounters(audit);
  },
};

/** Checks that each verified account has one event, because only its first declaration causes one. */
async function checkVerified(audit: AuditRun): Promise<void> {
  const rows = await audit.slice((reader) =>
    reader.query(
      `SELECT STRAIGHT_JOIN e.resource_id, CAST(COUNT(*) AS CHAR) AS events,
         MAX(a.verified_at) AS verified_at
       FROM tenants t JOIN events e FORCE INDEX (type)
         ON e.tenant_id=t.id AND e.type='account.verified'
       JOIN accounts a ON a.id=e.resource_id${whereAll(audit.own('t.id'))}
       GROUP BY e.resource_id HAVING COUNT(*)>1 OR MAX(a.verified_at) IS NULL`,
    ),
  );
  for (const row of rows) {
    const state = row.verified_at === null ? 'not verified' : 'verified';
    const message = `it is ${state}, but has ${bigint.parse(row.events)} event(s) account.verified`;
    audit.report('account_verified', `account ${uuid.parse(row.resource_id)}`, message);
  }
}

async function checkCounters(audit: AuditRun): Promise<void> {
  await audit.slice(async (reader) => {
    const last = (column: string): string =>
      `(SELECT e.${column} FROM events e WHERE e.tenant_id=t.id
        ORDER BY e.sequence DESC LIMIT 1) AS ${column}`;
    const rows = await reader.query(
      `SELECT t.id, c.last_sequence, c.last_at, r.removed_through, ${last('sequence')},
         ${last('created_at')}
       FROM tenants t LEFT JOIN event_counters c ON c.tenant_id=t.id
       LEFT JOIN event_removals r ON r.tenant_id=t.id${whereAll(audit.own('t.id'))}`,
    );
    audit.counted('event_counters', rows.length);
    const gaps = await readGaps(
      reader,
      rows.map((row) => uuid.parse(row.id)),
    );
    const number = nullable(bigint);
    for (const row of rows) {
      const id = uuid.parse(row.id);
      const counter = number.parse(row.last_sequence);
      const lastKnown = number.parse(row.sequence) ?? number.parse(row.removed_through) ?? 0n;
      const end = acrossGaps(lastKnown, gaps.get(id) ?? []);
      const lastAt = nullable(time).parse(row.last_at);
      const createdAt = nullable(time).parse(row.created_at);
      const isBefore = lastAt !== null && createdAt !== null && lastAt < createdAt;
      const message =
        counter !== end
          ? `its counter stands at ${counter ?? 'nothing'}, and its log ends at ${end}`
          : isBefore && 'its counter is dated before its last event';
      audit.report('event_counter', `tenant ${id}`, message);
    }
  });
}
