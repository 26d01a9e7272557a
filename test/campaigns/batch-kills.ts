import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Uuid } from '../../src/core/ids.js';
import type { BatchKindName } from '../../src/db/entities/batches.js';
import { startTestApi } from '../helpers/api.js';
import { ApiProcess } from '../helpers/api-process.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import {
  assertPaidOnce,
  batchEvents,
  executedBatch,
  isBatchOver,
  openPayrollBank,
} from '../helpers/batch-workflows.js';
import { freshDatabase, type TestDatabase } from '../helpers/database.js';
import { PrivateMysql } from '../helpers/private-mysql.js';
import { PrivateTemporal } from '../helpers/private-temporal.js';
import {
  serving,
  temporalEnvironment,
  type TestTemporal,
  until,
  untilEnded,
} from '../helpers/temporal.js';
import { WorkerProcess } from '../helpers/worker-process.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { assertLedgerSound, balanceOf } from '../helpers/world.js';

interface BatchKills {
  readonly kind: BatchKindName;
  readonly rows: number;
  readonly kills: number;
  /** How long what was killed and started again has before the next kill, at most. */
  readonly betweenMs: number;
}

interface Stage {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  readonly api: ApiProcess;
}

/** The processes that can be killed and restarted. */
interface Victim {
  kill(): Promise<unknown>;
  start(): Promise<unknown>;
}

const END_MS = 1_200_000;
/** Seconds after which a workflow that a restored Temporal lacks is found. */
const LOOK = { WORKFLOW_LOOK_AGAIN_S: '10' };
/** A batch may end before a kill. This many of 20,000 rows are within the month of a business. */
const MAX_BATCHES = 200n;

/**
 * Worker, API, MySQL and Temporal, all of them of this campaign's own, are killed in turn while batches are paid, one batch
 * after the other until there were enough kills. Every row is paid once, the sums are exact, and each batch ends.
 */
export function batchKills(wanted: BatchKills): Promise<string> {
  return withCleanup(async (open) => {
    const mysql = await open(PrivateMysql.start(), (own) => own.remove());
    const server = await open(PrivateTemporal.start(), (own) => own.remove());
    const { temporal } = server;
    await server.keepCopy();
    const db = await open(freshDatabase(mysql.adminUrl, 'money_batches'), (own) => own.close());
    const api = await open(ApiProcess.start(db.url, temporalEnvironment(temporal)), (own) =>
      own.kill(),
    );
    const queues = wanted.kind === 'payout' ? serving('batches', 'payouts') : serving('batches');
    const worker = await open(
      WorkerProcess.start(db.url, temporal, { ...queues, ...LOOK }),
      (own) => own.kill(),
    );
    // A worker's memory may have got further than the Temporal that is restored.
    const restored: Victim = {
      kill: () => worker.kill(),
      start: async () => {
        await server.restoreCopy();
        await worker.start();
      },
    };
    const isRestored = wanted.kind === 'payout';
    const victims = [worker, api, mysql, server, ...(isRestored ? [restored] : [])];
    const summary = await killedWhilePaying({ db, temporal, api }, victims, wanted);
    return `the worker, the API, MySQL and Temporal were killed in turn${isRestored ? ', and Temporal was restored to its state before all batches' : ''}, ${summary}`;
  });
}

async function killedWhilePaying(
  stage: Stage,
  victims: readonly Victim[],
  wanted: BatchKills,
): Promise<string> {
  const { db } = stage;
  const { kind, rows, kills, betweenMs } = wanted;
  const tool = await startTestApi(db);
  const payroll = await openPayrollBank(tool, MAX_BATCHES * BigInt(rows) * LEAST, kind);
  await tool.stop();
  const funds = (await balanceOf(db.database, payroll.source.id)).available;
  let [done, batches] = [0, 0];
  while (done < kills) {
    const id = await executedBatch(stage, payroll, rows);
    batches += 1;
    while (done < kills) {
      await sleep(betweenMs * Math.random());
      if ((await isBatchOver(db, id)) && (await areSettled(db, id, kind))) break;
      const victim = victims[done % victims.length]!;
      await victim.kill();
      await victim.start();
      done += 1;
    }
    await until(`batch ${id} ends`, () => isBatchOver(db, id), { limitMs: END_MS });
    if (kind === 'bonus') await untilEnded(stage.temporal, id, 'bonus_batch', { limitMs: END_MS });
    await until('its payouts end', () => areSettled(db, id, kind), { limitMs: END_MS });
    if (kind === 'payout') await assertRailPaidOnce(db, rows * batches);
    assert.equal(await assertPaidOnce(db, id, rows, kind), rows);
    assert.deepEqual(await batchEvents(db, id), ['ready', 'completed']);
    const left = funds - BigInt(batches) * BigInt(rows) * LEAST;
    assert.deepEqual(await balanceOf(db.database, payroll.source.id), {
      available: left,
      held: 0n,
    });
  }
  await assertLedgerSound(db.database);
  return `${done} kills during the payment of ${batches === 1 ? 'a batch' : `${batches} batches`} of ${rows} rows: each row was paid once${kind === 'payout' ? ' by the rail' : ''}, every sum is exact, every batch ended`;
}

/** Whether no payout of the batch is under way. While MySQL comes back nothing can be read. */
async function areSettled(
  { database }: Pick<TestDatabase, 'database'>,
  id: Uuid,
  kind: BatchKindName,
): Promise<boolean> {
  if (kind === 'bonus') return true;
  const open = await database.reader
    .query(
      `SELECT COUNT(*) AS n FROM payouts WHERE batch_id=${idLiteral(id)} AND status IN ('approved','in_progress')`,
    )
    .catch(() => undefined);
  return open !== undefined && Number(open[0]?.n) === 0;
}

async function assertRailPaidOnce(
  { database }: Pick<TestDatabase, 'database'>,
  payouts: number,
): Promise<void> {
  const [paid] = await database.reader.query(
    'SELECT COUNT(*) AS times, COUNT(DISTINCT payment_key) AS paid FROM simulated_rail_actions',
  );
  assert.deepEqual([Number(paid?.times), Number(paid?.paid)], [payouts, payouts]);
}
