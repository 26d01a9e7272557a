import { MAX_RAW } from '../core/amount.js';
import { type Instant, instant, localDay } from '../core/instant.js';
import { firstIdAt, timeOfId, type Uuid } from '../core/ids.js';
import { asset, bigint, integer, string, uuid } from '../db/columns.js';
import type { Database, DatabaseDeps, Reader, StoredRow } from '../db/database.js';
import {
  type DailyTotal,
  dailyTotals,
  dailyTotalsPositions as positions,
} from '../db/entities/sweeps.js';
import { type EventCounter, eventCounters, type EventType } from '../db/entities/events.js';
import { tenants } from '../db/entities/parties.js';
import { insertSql, updateSql, upsertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { payoutApproval } from '../payouts/decide.js';
import { transferApproval } from '../transfers/approval-outcomes.js';
import type { Sweep } from '../temporal/sweeper.js';
import { NO_TOTALS } from './reading/totals.js';

const EVERY_MS = 30_000;
const ROWS_PER_SLICE = 20_000;
/** Time after which every bonus with an older id has been committed. */
const LAG_MS = 60_000;

const MOVED: readonly EventType[] = ['transfer.completed', 'payout.completed'];
const FAILED: readonly EventType[] = [
  ...(['transfer.rejected', 'transfer.expired'] as const),
  ...(['payout.rejected', 'payout.canceled', 'payout.failed', 'payout.returned'] as const),
];

/** Maintains the daily totals. Reads each event and each bonus once, in slices. */
export function dailyTotalsSweep({ database, clock }: DatabaseDeps): Sweep {
  return {
    name: 'daily totals',
    everyMs: EVERY_MS,
    run: async (signal) => {
      const now = clock();
      const zones = await timeZones(database.reader);
      const isMoreEvents = await addEvents(database, zones, signal);
      const isMoreBonuses = await addBonuses(database, zones, now);
      const isMore = isMoreEvents || isMoreBonuses;
      // Reads every open operation, so not after each slice of a backlog.
      if (!isMore) await setPending(database, zones, now);
      return isMore;
    },
  };
}

type Zones = ReadonlyMap<Uuid, string>;

async function timeZones(reader: Reader): Promise<Zones> {
  const all = await reader.select(tenants, {});
  return new Map(all.map(({ id, timeZone }) => [id, timeZone]));
}

/** Quarters of an hour since 1970, which every time zone's days consist of. */
const quarterSql = (column: string): string =>
  `TIMESTAMPDIFF(MINUTE,'1970-01-01',${column}) DIV 15`;
const QUARTER_MS = 15 * 60_000;

/** Returns the total of the operations that a row counts: they moved money, or else failed. */
function totalOf(row: StoredRow, tenantId: Uuid, zones: Zones, kind: 'moved' | 'failed') {
  const at = instant(integer.parse(row.quarter) * QUARTER_MS);
  const [raw, count] = [capped(bigint.parse(row.total)), integer.parse(row.found)];
  return {
    ...NO_TOTALS,
    tenantId,
    asset: asset.parse(row.asset),
    day: localDay(at, zones.get(tenantId) ?? 'UTC'),
    ...(kind === 'moved' ? { moved: raw, movedCount: count } : { failed: raw, failedCount: count }),
  };
}

async function addEvents(database: Database, zones: Zones, signal: AbortSignal): Promise<boolean> {
  const { reader } = database;
  const [counters, seen] = await Promise.all([
    reader.select(eventCounters, {}),
    reader.select(positions, {}),
  ]);
  const seenOf = new Map(seen.map(({ name, position }) => [name, position]));
  let isMore = false;
  for (const counter of counters) {
    const from = seenOf.get(`events/${counter.tenantId}`) ?? 0n;
    if (signal.aborted || counter.lastSequence <= from) continue;
    isMore = (await addEventsOf(database, zones, counter, from)) || isMore;
  }
  return isMore;
}

async function addEventsOf(
  database: Database,
  zones: Zones,
  { tenantId, lastSequence }: EventCounter,
  from: bigint,
): Promise<boolean> {
  const { reader } = database;
  const own = `tenant_id=${uuid.literal(tenantId)}`;
  // Counted in rows, since a restore skips millions of sequences.
  const [next] = await reader.query(
    `SELECT sequence FROM events FORCE INDEX (PRIMARY) WHERE ${own} AND sequence>${from}
     ORDER BY sequence LIMIT 1 OFFSET ${ROWS_PER_SLICE}`,
  );
  const to = next === undefined ? lastSequence : bigint.parse(next.sequence) - 1n;
  const types = [...MOVED, ...FAILED].map((type) => string.literal(type)).join(',');
  const rows = await reader.query(
    `SELECT e.type, ${quarterSql('e.created_at')} AS quarter, COALESCE(t.asset,p.asset) AS asset,
       COUNT(*) AS found, SUM(COALESCE(t.captured_raw,t.raw,p.raw)) AS total
     FROM events e FORCE INDEX (PRIMARY) LEFT JOIN transfers t ON t.id=e.resource_id
       LEFT JOIN payouts p ON p.id=e.resource_id
     WHERE e.${own} AND e.sequence>${from} AND e.sequence<=${to}
       AND e.type IN (${types}) GROUP BY 1, 2, 3`,
  );
  const totals = rows
    .filter((row) => row.asset !== null)
    .map((row) => {
      const isMoved = MOVED.some((type) => type === string.parse(row.type));
      return totalOf(row, tenantId, zones, isMoved ? 'moved' : 'failed');
    });
  await addTotals(database, `events/${tenantId}`, { from, to }, totals);
  return next !== undefined;
}

async function addBonuses(database: Database, zones: Zones, now: Instant): Promise<boolean> {
  const { reader } = database;
  const known = await reader.find(positions, { name: 'bonuses' });
  const from = known?.position ?? 0n;
  const start = uuid.literal(firstIdAt(instant(Number(from))));
  const until = instant(now - LAG_MS);
  const [next] = await reader.query(
    `SELECT id FROM bonuses FORCE INDEX (PRIMARY) WHERE id>=${start} AND id<${uuid.literal(firstIdAt(until))}
     ORDER BY id LIMIT 1 OFFSET ${ROWS_PER_SLICE}`,
  );
  // All ids of a millisecond are in one slice.
  const to = next === undefined ? until : Math.max(timeOfId(uuid.parse(next.id)), Number(from) + 1);
  const rows = await reader.query(
    `SELECT tenant_id, asset, ${quarterSql('created_at')} AS quarter, COUNT(*) AS found, SUM(raw) AS total
     FROM bonuses FORCE INDEX (PRIMARY) WHERE id>=${start} AND id<${uuid.literal(firstIdAt(instant(to)))}
     GROUP BY 1, 2, 3`,
  );
  const totals = rows.map((row) => totalOf(row, uuid.parse(row.tenant_id), zones, 'moved'));
  await addTotals(database, 'bonuses', { from, to: BigInt(to) }, totals);
  return next !== undefined;
}

/** Adds the totals and advances the position, in one transaction, unless another worker has. */
async function addTotals(
  database: Database,
  name: string,
  { from, to }: { readonly from: bigint; readonly to: bigint },
  totals: readonly DailyTotal[],
): Promise<void> {
  if (to <= from) return;
  await transact(database, async (transaction) => {
    await transaction.execute(upsertSql(positions, [{ name, position: 0n }], ['name']));
    const advance = updateSql(positions, { position: to }, { name, position: from });
    if ((await transaction.execute(advance)) !== 1) return;
    if (totals.length > 0)
      await transaction.execute(
        `${insertSql(dailyTotals, totals)} ON DUPLICATE KEY UPDATE ${ADDED.join(',')}`,
      );
  });
}

/** SQL that adds to the stored sums, which stay at the maximum of their columns. */
const ADDED = [
  ...['moved', 'failed'].map((name) => `${name}=${name}+LEAST(VALUES(${name}),${MAX_RAW}-${name})`),
  ...['moved_count', 'failed_count'].map((name) => `${name}=${name}+VALUES(${name})`),
];

function capped(sum: bigint): bigint {
  return sum > MAX_RAW ? MAX_RAW : sum;
}

async function setPending(database: Database, zones: Zones, now: Instant): Promise<void> {
  const { reader } = database;
  const grouped = (from: string): string =>
    `SELECT t.tenant_id, t.asset, COUNT(*) AS found, SUM(t.raw) AS total FROM ${from} GROUP BY 1, 2`;
  const pending = `t.status='pending_approval'`;
  const rows = await reader.query(
    `SELECT tenant_id, asset, SUM(found) AS found, SUM(total) AS total FROM (
       ${grouped(`${transferApproval.expiring.from} AND ${transferApproval.expiring.expiresAt} IS NOT NULL AND ${pending}`)}
       UNION ALL ${grouped(payoutApproval.expiring.from)}
       UNION ALL ${grouped(`payouts t FORCE INDEX (expiring) WHERE t.status IN ('approved','in_progress')`)}
     ) open GROUP BY 1, 2`,
  );
  const open = rows.map((row) => {
    const tenantId = uuid.parse(row.tenant_id);
    return {
      ...NO_TOTALS,
      tenantId,
      asset: asset.parse(row.asset),
      day: localDay(now, zones.get(tenantId) ?? 'UTC'),
      pending: capped(bigint.parse(row.total)),
      pendingCount: integer.parse(row.found),
    };
  });
  const days = [...new Set(Array.from(zones.values(), (zone) => localDay(now, zone)))];
  const known = await reader.select(dailyTotals, { day: days });
  const isOpen = (row: DailyTotal): boolean =>
    open.some((one) => one.tenantId === row.tenantId && one.asset === row.asset);
  const ended = known
    .filter((row) => row.pendingCount > 0 && !isOpen(row))
    .filter((row) => row.day === localDay(now, zones.get(row.tenantId) ?? 'UTC'))
    .map((row) => ({ ...row, pending: 0n, pendingCount: 0 }));
  const totals = [...open, ...ended];
  if (totals.length === 0) return;
  const set = upsertSql(dailyTotals, totals, ['pending', 'pendingCount']);
  await transact(database, (transaction) => transaction.execute(set));
}
