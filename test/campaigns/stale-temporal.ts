import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { batches } from '../../src/db/entities/batches.js';
import { transfers } from '../../src/db/entities/operations.js';
import { payouts } from '../../src/db/entities/payouts.js';
import { openPayoutBank, paidTimes, type PayoutBank, untilStatus } from '../payouts/support.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { answered, LEAST } from '../helpers/bank.js';
import { assertPaidOnce, openPayrollBank, type PayrollBank } from '../helpers/batch-workflows.js';
import type { TestDatabase } from '../helpers/database.js';
import { PrivateTemporal } from '../helpers/private-temporal.js';
import {
  stateOf,
  temporalEnvironment,
  type TestTemporal,
  until,
  workflowStatus,
} from '../helpers/temporal.js';
import {
  assertEnds,
  type GuardedBank,
  moveExpiry,
  newSignature,
  openGuardedBank,
  readTransfer,
  sendSignal,
} from '../helpers/temporal-world.js';
import { WorkerProcess } from '../helpers/worker-process.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { assertLedgerSound } from '../helpers/world.js';

interface StaleTemporal {
  readonly db: TestDatabase;
  /** How many go each way. */
  readonly each: number;
  /** After how long a workflow looks by itself; an hour, unless it is configured otherwise. */
  readonly lookAgainS: number;
}

const ROWS = 5;
/** Beside the time after which a workflow looks: for the looks themselves, on a machine that has more to do. */
const WORK_MS = 60_000;
/** As the transfers, payouts and batches of a moment. */
interface Things {
  readonly transfers: readonly Uuid[];
  readonly payouts: readonly Uuid[];
  readonly batches: readonly Uuid[];
}
const NOTHING: Things = { transfers: [], payouts: [], batches: [] };

/** Everybody who acts. */
interface Cast {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  readonly one: GuardedBank;
  readonly two: GuardedBank;
  readonly payer: PayoutBank;
  readonly payroll: PayrollBank;
  readonly each: number;
}

/**
 * Restores Temporal to its state before a day's work, beside a database that has all of it: workflows of ended resources run
 * again, and workflows of new resources are missing. Without help, within the time after which a workflow looks by itself,
 * the workflow of each ended resource is over, and each pending resource has a workflow in its state.
 */
export function staleTemporalCampaign({ db, each, lookAgainS }: StaleTemporal): Promise<string> {
  return withCleanup(async (open) => {
    const server = await open(PrivateTemporal.start(), (own) => own.remove());
    const { temporal } = server;
    const look = { WORKFLOW_LOOK_AGAIN_S: `${lookAgainS}` };
    const environment = { ...temporalEnvironment(temporal), ...look };
    const starting = WorkerProcess.start(db.url, temporal, environment);
    const worker = await open(starting, (own) => own.kill());
    const api = await open(startTestApi(db, environment), (own) => own.stop());
    const cast = { db, temporal, each, ...(await openBanks(api, each)) };
    const known = await before(cast);
    await untilAttended(cast, known, NOTHING);
    await server.keepCopy();
    const { ended, waiting } = await aDaysWork(cast, known);
    await untilAttended(cast, waiting, ended);
    // As the page tells operators: a run in a worker's memory may have got further than the server then knows.
    await worker.kill();
    await server.restoreCopy();
    await worker.start();
    const stale = await behind(cast, waiting, ended);
    assert(stale > 0, 'Temporal is not behind');
    const restoredAt = performance.now();
    await untilAttended(cast, waiting, ended, lookAgainS * 1_000 + WORK_MS);
    const healedS = (performance.now() - restoredAt) / 1_000;
    await endAll(cast, waiting);
    await assertAll(cast, ended, waiting);
    const count = allOf(ended).length + allOf(waiting).length;
    return (
      `${count} transfers, payouts and batches, ${stale} workflows missing or outdated after Temporal was restored: ` +
      `all caught up within ${healedS.toFixed(0)} s, with WORKFLOW_LOOK_AGAIN_S=${lookAgainS}; each ended once`
    );
  });
}

async function openBanks(
  api: TestApi,
  each: number,
): Promise<Pick<Cast, 'one' | 'two' | 'payer' | 'payroll'>> {
  const funds = 100n * BigInt(each) * LEAST + 1_000n * LEAST;
  const one = await openGuardedBank(api, { funds });
  const two = await openGuardedBank(api, { approvals: 2, funds });
  const payer = await openPayoutBank(api, funds);
  await payer.guard(1);
  return { one, two, payer, payroll: await openPayrollBank(api, funds) };
}

/** The pending resources when the copy is kept. */
async function before({ one, two, payer, payroll, each }: Cast): Promise<Things> {
  return {
    transfers: [...(await one.createManyPending(4 * each)), ...(await two.createManyPending(each))],
    payouts: await Promise.all(Array.from({ length: 2 * each }, () => payer.createPending())),
    batches: [await payroll.ready(ROWS), await payroll.ready(ROWS)],
  };
}

/** Of what waits some is decided, some is not; more comes, and some of that ends too. */
async function aDaysWork(cast: Cast, known: Things): Promise<{ ended: Things; waiting: Things }> {
  const { db, one, two, payer, payroll, each } = cast;
  const [approved, canceled, expired, left, twice] = parted(known.transfers, each) as [
    Uuid[],
    Uuid[],
    Uuid[],
    Uuid[],
    Uuid[],
  ];
  const [paid, pending] = parted(known.payouts, each) as [Uuid[], Uuid[]];
  const [executed, ready] = known.batches as [Uuid, Uuid];
  for (const id of approved) answered(await one.act('approve', id), 200);
  for (const id of canceled) answered(await one.act('cancel', id), 200);
  for (const id of expired) await moveExpiry(db, id, Date.now());
  for (const id of twice) answered(await two.act('approve', id), 200);
  for (const id of paid) answered(await payer.act('approve', id), 200);
  await payroll.execute(executed);
  const made = await one.createManyPending(2 * each);
  const [decided, open] = parted(made, each) as [Uuid[], Uuid[]];
  for (const id of decided) answered(await one.act('approve', id), 200);
  // Two would open the breaker of the rail, which holds all other payouts too.
  const silent = await payer.createPending({ ending: '03' });
  answered(await payer.act('approve', silent), 200);
  await untilStatus(payer, silent, ['in_progress'], WORK_MS);
  const uploaded = await payroll.ready(ROWS);
  for (const id of paid) await untilStatus(payer, id, ['completed'], WORK_MS);
  for (const id of expired)
    await until('it is expired', async () => (await readTransfer(db, id)).status === 'expired');
  await payroll.until(executed, 'completed');
  return {
    ended: {
      transfers: [...approved, ...canceled, ...expired, ...decided],
      payouts: paid,
      batches: [executed],
    },
    waiting: {
      transfers: [...left, ...twice, ...open],
      payouts: [...pending, silent],
      batches: [ready, uploaded],
    },
  };
}

function parted<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, part) =>
    all.slice(part * size, (part + 1) * size),
  );
}

type Thing = readonly [id: Uuid, kind: 'transfer' | 'payout' | 'bonus_batch'];

function allOf(things: Things): Thing[] {
  return [
    ...things.transfers.map((id): Thing => [id, 'transfer']),
    ...things.payouts.map((id): Thing => [id, 'payout']),
    ...things.batches.map((id): Thing => [id, 'bonus_batch']),
  ];
}

/** Until what waits has a workflow that says how it stands, and what has ended has none. */
async function untilAttended(
  cast: Pick<Cast, 'db' | 'temporal'>,
  waiting: Things,
  ended: Things,
  limitMs = 60_000,
): Promise<void> {
  const look = async (): Promise<boolean> => (await behind(cast, waiting, ended)) === 0;
  await until('Temporal knows how everything stands', look, { limitMs });
}

/** How many workflows are missing, run though what they are for has ended, or know something else than the database. */
async function behind(
  { db, temporal }: Pick<Cast, 'db' | 'temporal'>,
  waiting: Things,
  ended: Things,
): Promise<number> {
  const runs = async (thing: Thing): Promise<boolean> =>
    (await workflowStatus(temporal, ...thing)) === 'RUNNING';
  const stands = await standing(db, waiting);
  const knows = async (thing: Thing): Promise<boolean> => {
    if (!(await runs(thing))) return false;
    const state = await stateOf(temporal, ...thing).catch(() => null);
    if (state === null) return false;
    const received = 'received' in state ? state.received : 0;
    return `${state.status} ${received}` === stands.get(thing[0]);
  };
  const left = await Promise.all(allOf(ended).map(runs));
  const right = await Promise.all(allOf(waiting).map(knows));
  return left.filter(Boolean).length + right.filter((one) => !one).length;
}

/** Status and approvals of each, as the database has them, by its id. */
async function standing(
  { database }: TestDatabase,
  things: Things,
): Promise<ReadonlyMap<Uuid, string>> {
  const { reader } = database;
  const [ofTransfers, ofPayouts, ofBatches] = await Promise.all([
    reader.select(transfers, { id: things.transfers }),
    reader.select(payouts, { id: things.payouts }),
    reader.select(batches, { id: things.batches }),
  ]);
  return new Map([
    ...[...ofTransfers, ...ofPayouts].map(
      (one) => [one.id, `${one.status} ${one.approvalsReceived ?? 0}`] as const,
    ),
    ...ofBatches.map((one) => [one.id, `${one.status} 0`] as const),
  ]);
}

/** By the staff's signals where there are any: what reaches a workflow reaches the money. */
async function endAll(
  { db, temporal, payer, payroll, each }: Cast,
  waiting: Things,
): Promise<void> {
  for (const id of waiting.transfers)
    await sendSignal(temporal, id, 'approve', await newSignature(db.database));
  for (const id of waiting.payouts.slice(0, each)) answered(await payer.act('approve', id), 200);
  for (const id of waiting.batches) await payroll.execute(id);
  for (const id of waiting.transfers)
    await until('it is completed', async () => (await readTransfer(db, id)).status === 'completed');
  for (const id of waiting.payouts.slice(0, each))
    await untilStatus(payer, id, ['completed'], WORK_MS);
  for (const id of waiting.batches) await payroll.until(id, 'completed');
}

async function assertAll(cast: Cast, ended: Things, waiting: Things): Promise<void> {
  const { db, each } = cast;
  const [approved, canceled, expired, decided] = parted(ended.transfers, each) as [
    Uuid[],
    Uuid[],
    Uuid[],
    Uuid[],
  ];
  const all = (ids: readonly Uuid[], end: string): [Uuid, string][] => ids.map((id) => [id, end]);
  await assertEnds(
    db,
    new Map([
      ...all([...approved, ...decided, ...waiting.transfers], 'completed'),
      ...all(canceled, 'canceled'),
      ...all(expired, 'expired'),
    ]),
  );
  const paid = [...ended.payouts, ...waiting.payouts.slice(0, each)];
  assert.deepEqual(
    await paidTimes(db, paid),
    paid.map(() => 1),
  );
  for (const id of [...ended.batches, ...waiting.batches])
    assert.equal(await assertPaidOnce(db, id, ROWS), ROWS);
  const silent = waiting.payouts.slice(each);
  await untilAttended(
    cast,
    { ...NOTHING, payouts: silent },
    {
      transfers: [...ended.transfers, ...waiting.transfers],
      payouts: paid,
      batches: [...ended.batches, ...waiting.batches],
    },
  );
  await assertLedgerSound(db.database);
}
