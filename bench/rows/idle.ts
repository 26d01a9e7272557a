import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection } from 'mysql2/promise';
import type { Bench } from '../bench.js';
import type { Ledger } from '../ledgers/ledger.js';
import { ENTRIES_PER_OPERATION, evenLedger, type LedgerShape } from '../ledgers/shape.js';
import { RowFailed } from '../row-failed.js';
import { atMost, type Row } from '../row.js';
import { cpuMsOf, databasePid } from '../service/process-figures.js';

const TRANSFERS = 1_000_000;
const TENANTS = 6_250;
const ENDPOINTS_PER_TENANT = 16;
const QUICK_SHARE = 0.01;
const EVENTS_PER_TENANT = 100;
const ROWS_PER_STATEMENT = 1_000;
/** Time for work that a process does only after its start, such as rare sweeps and compiling. */
const SETTLING_MS = 60_000;
const MEASURED_MS = 60_000;
const QUICK_MS = 5_000;
const MAX_SHARE_PERCENT = 10;

interface Idle {
  /** Percent of one processor. */
  readonly workerPercent: number;
  readonly databasePercent: number | null;
  readonly statementsPerSecond: number;
  /** As counted by the server's handler statistics. */
  readonly rowsReadPerSecond: number;
}

/** The cost of a worker's searches for work, which must not grow with rows that need no work. */
export const idleRow: Row = {
  name: 'idle',
  title:
    'A worker with nothing to do, beside 100,000 webhook endpoints and 1,000,000 settled transfers',
  async run(bench) {
    const share = bench.options.isQuick ? QUICK_SHARE : 1;
    const small = await measure(bench, evenLedger('idle_small', 10_000), 0);
    const shape = evenLedger('idle', TRANSFERS * share * ENTRIES_PER_OPERATION);
    const large = await measure(bench, shape, Math.round(TENANTS * share));
    return {
      figures: figuresText(large),
      baseline: `no endpoints, 5,000 transfers: ${figuresText(small)}`,
      ratio: small.workerPercent / large.workerPercent,
      targets: [atMost('% of a processor', large.workerPercent, MAX_SHARE_PERCENT)],
      details: { small, large },
    };
  },
};

function figuresText({
  workerPercent,
  databasePercent,
  statementsPerSecond,
  rowsReadPerSecond,
}: Idle): string {
  const database = databasePercent === null ? '' : `, MySQL ${databasePercent.toFixed(1)} %`;
  return `worker ${workerPercent.toFixed(1)} % of a processor${database}; ${statementsPerSecond.toFixed(0)} statements and ${rowsReadPerSecond.toFixed(0)} rows read a second`;
}

async function measure(bench: Bench, shape: LedgerShape, tenants: number): Promise<Idle> {
  const ledger = await bench.newLedger(shape);
  const admin = await createConnection({ uri: ledger.adminUrl });
  try {
    await addEndpoints(admin, ledger, tenants);
    const pid = await databasePid(ledger.adminUrl);
    return await bench.withService(ledger, async ({ worker }) => {
      await sleep(bench.options.isQuick ? QUICK_MS : SETTLING_MS);
      const sample = async (): Promise<{
        at: number;
        cpuMs: number | null;
        databaseMs: number | null;
        counts: Counts;
      }> => ({
        at: performance.now(),
        cpuMs: worker.cpuMs(),
        databaseMs: cpuMsOf(pid),
        counts: await countsOf(admin),
      });
      const before = await sample();
      await sleep(bench.options.isQuick ? QUICK_MS : MEASURED_MS);
      const after = await sample();
      const ms = after.at - before.at;
      if (before.cpuMs === null || after.cpuMs === null)
        throw new RowFailed('the system does not report CPU times');
      const database =
        before.databaseMs === null || after.databaseMs === null
          ? null
          : after.databaseMs - before.databaseMs;
      return {
        workerPercent: ((after.cpuMs - before.cpuMs) / ms) * 100,
        databasePercent: database === null ? null : (database / ms) * 100,
        statementsPerSecond: ((after.counts.statements - before.counts.statements) / ms) * 1000,
        rowsReadPerSecond: ((after.counts.rowsRead - before.counts.rowsRead) / ms) * 1000,
      };
    });
  } finally {
    await admin.end();
  }
}

interface Counts {
  readonly statements: number;
  readonly rowsRead: number;
}

async function countsOf(admin: Connection): Promise<Counts> {
  const [rows] = await admin.query(
    "SHOW GLOBAL STATUS WHERE variable_name='Questions' OR variable_name LIKE 'Handler_read%'",
  );
  const values = new Map(
    (rows as { Variable_name: string; Value: string }[]).map((row) => [
      row.Variable_name,
      Number(row.Value),
    ]),
  );
  const statements = values.get('Questions') ?? 0;
  return {
    statements,
    rowsRead: [...values.values()].reduce((sum, value) => sum + value, 0) - statements,
  };
}

/** Adds tenants whose endpoints have received every event that they subscribe to. */
async function addEndpoints(
  admin: Connection,
  { memberId }: Ledger,
  tenants: number,
): Promise<void> {
  const member = `X'${memberId.replaceAll('-', '')}'`;
  const numbers = Array.from({ length: tenants }, (_, number) => number);
  const idOf = (kind: number, number: number): string =>
    `X'0192${kind.toString(16).padStart(8, '0')}7000b${number.toString(16).padStart(15, '0')}'`;
  await insert(
    admin,
    'tenants (id, name, time_zone, policy_delay_s, created_at)',
    numbers,
    (number) => [`(${idOf(1, number)},'idle ${number}','UTC',0,NOW(3))`],
  );
  await insert(
    admin,
    'event_counters (tenant_id, last_sequence, last_at, restores)',
    numbers,
    (number) => [`(${idOf(1, number)},${EVENTS_PER_TENANT},NOW(3),0)`],
  );
  await insert(admin, 'event_heads (tenant_id, type, last_sequence)', numbers, (number) => [
    `(${idOf(1, number)},'transfer.completed',${EVENTS_PER_TENANT})`,
  ]);
  const endpoints = (number: number): number[] =>
    Array.from(
      { length: ENDPOINTS_PER_TENANT },
      (_, index) => number * ENDPOINTS_PER_TENANT + index,
    );
  await insert(
    admin,
    `webhook_endpoints (id, tenant_id, url, status, api_version, secret, secret_key_id, cursor_sequence, recover_all,
      fence, failures_in_row, probes, created_by, created_at)`,
    numbers,
    (number) =>
      endpoints(number).map(
        (own) =>
          `(${idOf(2, own)},${idOf(1, number)},'https://receiver.example/${own}','enabled','2026-11-01',X'00','idle',${EVENTS_PER_TENANT},0,1,0,0,${member},NOW(3))`,
      ),
  );
  await insert(
    admin,
    'webhook_subscriptions (endpoint_id, type, tenant_id, from_sequence)',
    numbers,
    (number) =>
      endpoints(number).map((own) => `(${idOf(2, own)},'transfer.completed',${idOf(1, number)},1)`),
  );
  await admin.query(
    'ANALYZE TABLE tenants, event_counters, event_heads, webhook_endpoints, webhook_subscriptions',
  );
}

async function insert(
  admin: Connection,
  into: string,
  numbers: readonly number[],
  rowsOf: (number: number) => readonly string[],
): Promise<void> {
  let rows: string[] = [];
  const send = async (): Promise<void> => {
    if (rows.length > 0) await admin.query(`INSERT INTO ${into} VALUES ${rows.join(',')}`);
    rows = [];
  };
  for (const number of numbers) {
    rows.push(...rowsOf(number));
    if (rows.length >= ROWS_PER_STATEMENT) await send();
  }
  await send();
}
