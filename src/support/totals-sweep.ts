import { type Asset, MAX_RAW } from '../core/amount.js';
import { localDay } from '../core/calendar.js';
import { firstIdAt, timeOfId, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { asset, bigint, integer, string, uuid } from '../db/columns.js';
import type { Database, DatabaseDeps, Reader, StoredRow, Transaction } from '../db/database.js';
import {
  type DailyTotal,
  dailyTotals,
  dailyTotalsPositions as positions,
} from '../db/entities/sweeps.js';
import { type EventCounter, eventCounters, type EventType } from '../db/entities/events.js';
import { tenants } from '../db/entities/parties.js';
import { updateSql, upsertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { payoutApproval } from '../payouts/approvals.js';
import { transferApproval } from '../transfers/approval-outcomes.js';
import type { Sweep } from '../temporal/sweeper.js';

/**
 * Maintains the daily totals. Reads each event of a transfer or payout and each bonus once, in
 * slices, behind the postings.
 */

const EVERY_MS = 30_000;
const ROWS_A_SLICE = 20_000;
/** Time after which every bonus with an older id has been committed. */
const LAG_MS = 60_000;

const MOVED: readonly EventType[] = ['transfer.completed', 'payout.completed'];
const FAILED: readonly EventType[] = [
  ...(['transfer.rejected', 'transfer.expired'] as const),
  ...(['payout.rejected', 'payout.canceled', 'payout.failed', 'payout.returned'] as const),
];

export function dailyTotalsSweep({ database, clock }: DatabaseDeps): Sweep {
  return {
    name: 'daily totals',
    everyMs: EVERY_MS,
    run: async (signal) => {
      const now = clock();
      const zones = await timeZones(database.reader);
      const [isMoreEvents, isMoreBonuses] = [
        await addEvents(database, zones, signal),
        await addBonuses(database, zones, now),
      ];
      await setPending(database, zones, now);
      return isMoreEvents || isMoreBonuses;
    },
  };
}

type Zones = ReadonlyMap<Uuid, string>;

async function timeZones(reader: Reader): Promise<Zones> {
  const all = await reader.select(tenants, {});
  return new Map(all.map(({ id, timeZone }) => [id, timeZone]));
}

/** Sum of some operations of a tenant within a quarter of an hour. */
interface Sum {
  readonly tenantId: Uuid;
  readonly asset: Asset;
  readonly day: string;
  readonly kind: 'moved' | 'failed';
  readonly raw: bigint;
  readonly count: number;
}

/** Quarters of an hour since 1970, which every time zone's days consist of. */
const quarterSql = (column: string): string =>
  `TIMESTAMPDIFF(MINUTE,'1970-01-01',${column}) DIV 15`;
const QUARTER_MS = 15 * 60_000;

function sumOf(row: StoredRow, tenantId: Uuid, zones: Zones, kind: Sum['kind']): Sum {
  const at = instant(integer.parse(row.quarter) * QUARTER_MS);
  return {
    ...{ tenantId, kind, asset: asset.parse(row.asset), count: integer.parse(row.found) },
    day: localDay(at, zones.get(tenantId) ?? 'UTC'),
    raw: bigint.parse(row.total),
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
  const end = from + BigInt(ROWS_A_SLICE);
  const to = end < lastSequence ? end : lastSequence;
  const types = [...MOVED, ...FAILED].map((type) => string.literal(type)).join(',');
  const rows = await database.reader.query(
    `SELECT e.type, ${quarterSql('e.created_at')} AS quarter, COALESCE(t.asset,p.asset) AS asset,
       COUNT(*) AS found, SUM(COALESCE(t.raw,p.raw)) AS total
     FROM events e FORCE INDEX (PRIMARY) LEFT JOIN transfers t ON t.id=e.resource_id
       LEFT JOIN payouts p ON p.id=e.resource_id
     WHERE e.tenant_id=${uuid.literal(tenantId)} AND e.sequence>${from} AND e.sequence<=${to}
       AND e.type IN (${types}) GROUP BY 1, 2, 3`,
  );
  const sums = rows
    .filter((row) => row.asset !== null)
    .map((row) => {
      const isMoved = MOVED.some((type) => type === string.parse(row.type));
      return sumOf(row, tenantId, zones, isMoved ? 'moved' : 'failed');
    });
  await addSums(database, `events/${tenantId}`, { from, to }, sums);
  return to < lastSequence;
}

async function addBonuses(database: Database, zones: Zones, now: Instant): Promise<boolean> {
  const { reader } = database;
  const known = await reader.find(positions, { name: 'bonuses' });
  const from = known?.position ?? 0n;
  const start = uuid.literal(firstIdAt(instant(Number(from))));
  const until = instant(now - LAG_MS);
  const [next] = await reader.query(
    `SELECT id FROM bonuses FORCE INDEX (PRIMARY) WHERE id>=${start} AND id<${uuid.literal(firstIdAt(until))}
     ORDER BY id LIMIT 1 OFFSET ${ROWS_A_SLICE}`,
  );
  // All ids of a millisecond are in one slice.
  const to = next === undefined ? until : Math.max(timeOfId(uuid.parse(next.id)), Number(from) + 1);
  const rows = await reader.query(
    `SELECT tenant_id, asset, ${quarterSql('created_at')} AS quarter, COUNT(*) AS found, SUM(raw) AS total
     FROM bonuses FORCE INDEX (PRIMARY) WHERE id>=${start} AND id<${uuid.literal(firstIdAt(instant(to)))}
     GROUP BY 1, 2, 3`,
  );
  const sums = rows.map((row) => sumOf(row, uuid.parse(row.tenant_id), zones, 'moved'));
  await addSums(database, 'bonuses', { from, to: BigInt(to) }, sums);
  return next !== undefined;
}

/** Adds the sums and advances the position, in one transaction, unless another worker has. */
async function addSums(
  database: Database,
  name: string,
  { from, to }: { readonly from: bigint; readonly to: bigint },
  sums: readonly Sum[],
): Promise<void> {
  if (to <= from) return;
  await transact(database, async (transaction) => {
    await transaction.execute(upsertSql(positions, [{ name, position: 0n }], ['name']));
    const advance = updateSql(positions, { position: to }, { name, position: from });
    if ((await transaction.execute(advance)) !== 1) return;
    await change(transaction, sums, (row, { kind, raw, count }) =>
      kind === 'moved'
        ? { ...row, moved: capped(row.moved + raw), movedCount: row.movedCount + count }
        : { ...row, failed: capped(row.failed + raw), failedCount: row.failedCount + count },
    );
  });
}

/** Limits a sum to what its column can hold. */
function capped(sum: bigint): bigint {
  return sum > MAX_RAW ? MAX_RAW : sum;
}

type Place = Pick<DailyTotal, 'tenantId' | 'asset' | 'day'>;

async function change<Change extends Place>(
  transaction: Transaction,
  changes: readonly Change[],
  changed: (row: DailyTotal, by: Change) => DailyTotal,
): Promise<void> {
  const rows = new Map<string, DailyTotal>();
  for (const by of changes) {
    const { tenantId, asset: of, day } = by;
    const key = `${tenantId} ${of} ${day}`;
    const where = { tenantId, asset: of, day };
    const row =
      rows.get(key) ??
      (await transaction.find(dailyTotals, where, { forUpdate: true })) ??
      emptyTotal(where);
    rows.set(key, changed(row, by));
  }
  if (rows.size === 0) return;
  await transaction.execute(upsertSql(dailyTotals, [...rows.values()], SUMS));
}

const SUMS = [
  ...(['moved', 'movedCount', 'failed', 'failedCount', 'pending', 'pendingCount'] as const),
];

function emptyTotal(place: Place): DailyTotal {
  const none = { moved: 0n, movedCount: 0, failed: 0n, failedCount: 0 };
  return { ...place, ...none, pending: 0n, pendingCount: 0 };
}

/** Sets the pending operations of the current day of each tenant. */
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
      ...{ tenantId, asset: asset.parse(row.asset), raw: capped(bigint.parse(row.total)) },
      day: localDay(now, zones.get(tenantId) ?? 'UTC'),
      count: integer.parse(row.found),
    };
  });
  const days = [...new Set(Array.from(zones.values(), (zone) => localDay(now, zone)))];
  const known = await reader.select(dailyTotals, { day: days });
  const isOpen = (row: Place): boolean =>
    open.some((one) => one.tenantId === row.tenantId && one.asset === row.asset);
  const ended = known
    .filter((row) => row.pendingCount > 0 && !isOpen(row))
    .filter((row) => row.day === localDay(now, zones.get(row.tenantId) ?? 'UTC'))
    .map((row) => ({ ...row, raw: 0n, count: 0 }));
  await transact(database, (transaction) =>
    change(transaction, [...open, ...ended], (row, { raw, count }) => ({
      ...row,
      pending: raw,
      pendingCount: count,
    })),
  );
}
