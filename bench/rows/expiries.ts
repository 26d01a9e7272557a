import { setTimeout as sleep } from 'node:timers/promises';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import * as column from '../../src/db/columns.js';
import type { Database, Reader } from '../../src/db/database.js';
import { transact } from '../../src/db/reader.js';
import type { Bench, Service } from '../bench.js';
import { withDatabase } from '../ledgers/database.js';
import type { Ledger } from '../ledgers/ledger.js';
import { evenLedger } from '../ledgers/shape.js';
import type { Latency } from '../load/job.js';
import { latencyOf } from '../load/latency.js';
import { ms } from '../report/text.js';
import { RowFailed } from '../row-failed.js';
import { atMost, type Row } from '../row.js';
import { approvalParties, setPolicies, transferList } from './approval-data.js';
import { outboxEntries } from './read-log.js';
import type { Parties } from './transfers.js';

const CLIENTS = 64;
const WEEK_S = 604_800;
const HOUR_S = 3_600;
const DAY_MS = 86_400_000;
const LEDGER = evenLedger('expiries', 10_000);

interface Size {
  /** Transfers that wait much longer. */
  readonly pending: number;
  /** Transfers that are due at the same moment. */
  readonly together: number;
}
const SIZE: Size = { pending: 10_000, together: 1_000 };
const QUICK_SIZE: Size = { pending: 500, together: 100 };

/** Time from when all wait until one is due alone, and from then until the remaining ones are due. */
const ALONE_IN_MS = 2_000;
const APART_MS = 3_000;
const WORKFLOWS_WITHIN_S = 600;
const SETTLED_WITHIN_S = 120;
const POLL_MS = 100;
const MAX_LATE_MS = 2_000;

interface Lateness {
  /** For the transfer that was due alone. */
  readonly aloneMs: number;
  /** For those that were due together. */
  readonly together: Latency;
  /** Workflows waiting at that time. Null if Temporal was unreachable. */
  readonly workflows: number | null;
}

/** How late expired transfers are settled, by the event log's clock. */
export const expiriesRow: Row = {
  name: 'expiries',
  title: 'Expiries, alone and many together, beside many that wait; with Temporal and without',
  async run(bench) {
    const size = bench.options.isQuick ? QUICK_SIZE : SIZE;
    const there = await measure(bench, size, 'there');
    const away = await measure(bench, size, 'away');
    const words = ({ aloneMs, together }: Lateness): string =>
      `one alone ${ms(aloneMs)} late, the last of ${size.together.toLocaleString('en')} ${ms(together.maxMs)}`;
    return {
      figures: `${size.pending.toLocaleString('en')} pending: ${words(there)}; Temporal away: ${words(away)}`,
      baseline: `one alone: ${ms(there.aloneMs)} late, away ${ms(away.aloneMs)}`,
      ratio: there.aloneMs / there.together.maxMs,
      targets: [
        atMost('ms late, alone', there.aloneMs, MAX_LATE_MS),
        atMost('ms late, the last', there.together.maxMs, MAX_LATE_MS),
        atMost('ms late, alone, Temporal away', away.aloneMs, MAX_LATE_MS),
        atMost('ms late, the last, Temporal away', away.together.maxMs, MAX_LATE_MS),
      ],
      details: { size, there, away },
    };
  },
};

async function measure(bench: Bench, size: Size, temporal: 'there' | 'away'): Promise<Lateness> {
  const ledger = await bench.newLedger(LEDGER);
  const parties = approvalParties(ledger);
  return bench.withService(
    ledger,
    async (service) => {
      await setPolicies(ledger, parties.sources, WEEK_S);
      await create(bench, ledger, service, parties, size.pending);
      await untilWorkflowsRun(ledger, service);
      await setPolicies(ledger, parties.sources, HOUR_S);
      await create(bench, ledger, service, parties, 1 + size.together);
      await untilWorkflowsRun(ledger, service);
      const workflows =
        service.temporal === null ? null : await service.temporal.running('transfer');
      return { ...(await watch(ledger, size)), workflows };
    },
    temporal,
  );
}

async function create(
  bench: Bench,
  ledger: Ledger,
  { api }: Service,
  parties: Parties,
  count: number,
): Promise<void> {
  const { load } = await bench.run(api, ledger, {
    connections: CLIENTS,
    expectedStatus: 202,
    requests: { kind: 'listed', list: transferList(parties, count), order: 'once' },
  });
  if (load.answered !== count)
    throw new RowFailed(`only ${load.answered} of ${count} transfers were created in time`);
}

/** Waits until every waiting transfer has its workflow; none exist while Temporal is away. */
async function untilWorkflowsRun({ url }: Ledger, { temporal }: Service): Promise<void> {
  if (temporal === null) return;
  await withDatabase(url, async ({ reader }) => {
    const end = performance.now() + WORKFLOWS_WITHIN_S * 1000;
    for (let left = await outboxEntries(reader); left > 0; left = await outboxEntries(reader)) {
      if (performance.now() > end)
        throw new RowFailed(`${left} transfers had no workflow after ${WORKFLOWS_WITHIN_S} s`);
      await sleep(POLL_MS);
    }
  });
}

/**
 * Makes one transfer due alone and all further ones at one moment, waits until they are settled, and
 * compares these times with their events.
 */
function watch({ url }: Ledger, size: Size): Promise<Omit<Lateness, 'workflows'>> {
  return withDatabase(url, async (database) => {
    const dueAt = await bringForward(database);
    await untilSettled(database.reader, dueAt);
    const late = await lateness(database.reader);
    const [aloneMs, ...together] = late;
    if (aloneMs === undefined || together.length !== size.together)
      throw new RowFailed(`${late.length} transfers expired, of ${size.together + 1}`);
    return { aloneMs, together: latencyOf(together) };
  });
}

/** Returns an SQL condition for transfers that wait and are due soon. */
function soonDue(): string {
  return `status='pending_approval' AND approval_expires_at<${column.time.literal(instant(systemClock() + DAY_MS))}`;
}

/** Makes transfers due within seconds, which no policy does. Returns when most of them are due. */
async function bringForward(database: Database): Promise<Instant> {
  const aloneAt = instant(systemClock() + ALONE_IN_MS);
  const togetherAt = instant(aloneAt + APART_MS);
  const [first] = await database.reader.query(
    `SELECT id FROM transfers WHERE ${soonDue()} LIMIT 1`,
  );
  const id = column.uuid.literal(column.uuid.parse(first?.id));
  const dueAt = `IF(t.id=${id}, ${column.time.literal(aloneAt)}, ${column.time.literal(togetherAt)})`;
  await transact(database, (transaction) =>
    transaction.execute(
      `UPDATE transfers t JOIN holds h ON h.resource_id=t.id SET t.approval_expires_at=${dueAt}, h.expires_at=${dueAt}
       WHERE ${soonDue()}`,
    ),
  );
  return togetherAt;
}

async function untilSettled(reader: Reader, dueAt: Instant): Promise<void> {
  await sleep(dueAt - systemClock());
  for (;;) {
    const [row] = await reader.query(`SELECT COUNT(*) AS count FROM transfers WHERE ${soonDue()}`);
    const count = column.integer.parse(row?.count);
    if (count === 0) return;
    if (systemClock() - dueAt > SETTLED_WITHIN_S * 1000)
      throw new RowFailed(
        `${count} transfers were not settled ${SETTLED_WITHIN_S} s after their time`,
      );
    await sleep(POLL_MS);
  }
}

/** Returns how late each transfer expired, in milliseconds, in the order in which they were due. */
async function lateness(reader: Reader): Promise<number[]> {
  const rows = await reader.query(
    `SELECT e.created_at AS settled_at, t.approval_expires_at AS due_at FROM events e JOIN transfers t ON t.id=e.resource_id
     WHERE e.type='transfer.expired' ORDER BY t.approval_expires_at`,
  );
  return rows.map((row) => column.time.parse(row.settled_at) - column.time.parse(row.due_at));
}
