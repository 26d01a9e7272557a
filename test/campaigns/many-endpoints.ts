import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { openBank } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { type Arrived, HttpReceiver } from '../helpers/http-receiver.js';
import { serving, temporalEnvironment, type TestTemporal, until } from '../helpers/temporal.js';
import { WorkerProcess } from '../helpers/worker-process.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { emit, register } from '../webhooks/support.js';
import { percentile, percentile99 } from '../helpers/percentile.js';

interface ManyEndpoints {
  /** Of its own: the events here are of no operation, which the auditor would tell. */
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  readonly endpoints: number;
  /** From one event of an endpoint to the next. */
  readonly everyMs: number;
  readonly seconds: number;
  readonly workers: number;
  /** One worker after the other is killed, and started again. */
  readonly killEveryMs: number;
  /** Whether commit to arrival and workflow starts have to be within bounds. */
  readonly isTimed: boolean;
}

/** As many as a tenant may have. */
const OF_A_TENANT = 16;
const LANES = 8;
const SETTLE_MS = 900_000;
const MAX_P99_MS = 500;
const MAX_STARTS_PER_S = 20;

/**
 * Many endpoints get an event now and then while workers are killed: each event arrives everywhere, soon after its commit, and none costs
 * a workflow.
 */
export function manyEndpoints(wanted: ManyEndpoints): Promise<string> {
  const { db, temporal, endpoints, everyMs, seconds, workers: count, isTimed } = wanted;
  return withCleanup(async (open) => {
    const receiver = await open(new HttpReceiver().open(), (own) => own.close());
    const starting = startTestApi(db, temporalEnvironment(temporal), { receiver: 'real' });
    const api = await open(starting, (own) => own.stop());
    const start = () => WorkerProcess.start(db.url, temporal, serving('webhooks'));
    const workers = await Promise.all(
      Array.from({ length: count }, () => open(start(), (own) => own.kill())),
    );
    const arrivals = new Arrivals(receiver);
    const tenants = await openTenants(api, receiver, endpoints);
    await until('each has its workflow', () => isSettled(db), { limitMs: SETTLE_MS });
    const began = new Date();
    const state = { isOver: false };
    const killing = killInTurn(workers, wanted.killEveryMs, () => state.isOver);
    await Promise.all(
      tenants.map((tenant, index) => feed(api, tenant, arrivals, wanted, index / tenants.length)),
    );
    state.isOver = true;
    const kills = await killing;
    const expected = tenants.reduce(
      (sum, { paths, committed }) => sum + paths.length * committed.length,
      0,
    );
    await until(`${expected} deliveries arrive`, () => arrivals.different >= expected, {
      limitMs: SETTLE_MS,
    });
    await until('all is recorded', () => isRecorded(db, expected), { limitMs: SETTLE_MS });
    const starts = await temporal.client.workflow.count(`StartTime > "${began.toISOString()}"`);
    const startsPerS = starts.count / seconds;
    const [p50, p99] = [
      Math.round(percentile(arrivals.tookMs, 0.5)),
      percentile99(arrivals.tookMs),
    ];
    const summary =
      `${endpoints} endpoints of ${tenants.length} tenants, each with an event every ${everyMs / 1000} s for ${seconds} s, ${count} workers, one of them killed ` +
      `${kills} times: all ${expected} deliveries arrived, with ${arrivals.total - arrivals.different} repetitions, and ${arrivals.outOfOrder} ` +
      `arrived out of order; commit to arrival p50 ${p50} ms, p99 ${p99} ms; ${startsPerS.toFixed(1)} workflow starts/s`;
    if (isTimed) assert(p99 <= MAX_P99_MS && startsPerS < MAX_STARTS_PER_S, summary);
    return summary;
  });
}

/** A tenant, the paths of its endpoints, and when each of its events was committed. */
interface Tenant {
  readonly account: Account;
  readonly paths: readonly string[];
  readonly committed: number[];
}

async function openTenants(
  api: TestApi,
  receiver: HttpReceiver,
  endpoints: number,
): Promise<readonly Tenant[]> {
  const sizes = Array.from({ length: Math.ceil(endpoints / OF_A_TENANT) }, (_, index) =>
    Math.min(OF_A_TENANT, endpoints - index * OF_A_TENANT),
  );
  const opened: Tenant[] = [];
  const rest = sizes.entries();
  const lane = async (): Promise<void> => {
    for (const [index, size] of rest) {
      const bank = await openBank(api);
      const account = await bank.account();
      const paths = Array.from({ length: size }, (_, number) => `/many-${index}-${number}`);
      for (const path of paths) await register(bank, ['transfer.completed'], receiver.url(path));
      opened.push({ account, paths, committed: [] });
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return opened;
}

async function isSettled(db: TestDatabase): Promise<boolean> {
  const [row] = await db.sql(
    `SELECT (SELECT COUNT(*) FROM outbox) + (SELECT COUNT(*) FROM webhook_endpoints WHERE workflow_checked_at IS NULL) AS n`,
  );
  return Number(row?.n) === 0;
}

async function isRecorded(db: TestDatabase, expected: number): Promise<boolean> {
  const [row] = await db.sql(
    `SELECT COUNT(*) AS n, COUNT(CASE WHEN state<>'delivered' THEN 1 END) AS others FROM webhook_deliveries`,
  );
  return Number(row?.n) === expected && Number(row?.others) === 0;
}

/** The tenant's events, at their times. `phase`: from 0 to 1, so that tenants do not go together. */
async function feed(
  api: TestApi,
  tenant: Tenant,
  arrivals: Arrivals,
  { everyMs, seconds }: ManyEndpoints,
  phase: number,
): Promise<void> {
  arrivals.expect(tenant);
  const began = performance.now();
  for (let number = 0; number < (seconds * 1000) / everyMs; number += 1) {
    await sleep(Math.max(0, began + (number + phase) * everyMs - performance.now()));
    await emit(api, tenant, 1, 'transfer.completed');
    arrivals.committed(tenant, performance.now());
  }
}

async function killInTurn(
  workers: readonly WorkerProcess[],
  everyMs: number,
  isOver: () => boolean,
): Promise<number> {
  let kills = 0;
  for (let next = performance.now() + everyMs; !isOver();) {
    await sleep(100);
    if (performance.now() < next) continue;
    next += everyMs;
    const worker = workers[kills % workers.length]!;
    kills += 1;
    await worker.kill();
    await worker.start();
  }
  return kills;
}

/** The deliveries without their bodies, because there are many. */
class Arrivals {
  total = 0;
  different = 0;
  outOfOrder = 0;
  /** From the commit to the first arrival, in milliseconds. */
  readonly tookMs: number[] = [];
  private readonly seen = new Map<
    string,
    { readonly tenant: Tenant; readonly sequences: Set<number>; last: number }
  >();
  /** The deliveries that arrived before their commit was answered. */
  private readonly early = new Map<Tenant, number[]>();

  constructor(receiver: HttpReceiver) {
    receiver.keepsNothing = true;
    receiver.reply = (delivery) => {
      this.take(delivery);
      return 200;
    };
  }

  expect(tenant: Tenant): void {
    this.early.set(tenant, []);
    for (const path of tenant.paths) this.seen.set(path, { tenant, sequences: new Set(), last: 0 });
  }

  committed(tenant: Tenant, at: number): void {
    tenant.committed.push(at);
    const early = this.early.get(tenant)?.splice(0) ?? [];
    for (const arrivedAt of early) this.tookMs.push(Math.max(0, arrivedAt - at));
  }

  private take({ path, body, at }: Arrived): void {
    const own = this.seen.get(path);
    const sequence = Number(/"sequence":(\d+)/.exec(body)?.[1]);
    assert(own !== undefined && sequence > 0, `nobody expects ${path}`);
    this.total += 1;
    if (own.sequences.has(sequence)) return;
    own.sequences.add(sequence);
    this.different += 1;
    if (sequence < own.last) this.outOfOrder += 1;
    own.last = Math.max(own.last, sequence);
    const committedAt = own.tenant.committed[sequence - 1];
    if (committedAt === undefined) this.early.get(own.tenant)?.push(at);
    else this.tookMs.push(Math.max(0, at - committedAt));
  }
}
