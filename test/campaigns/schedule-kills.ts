import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { asUuid } from '../../src/core/ids.js';
import { transfers } from '../../src/db/entities/operations.js';
import { schedules } from '../../src/db/entities/schedules.js';
import { startTestApi } from '../helpers/api.js';
import { ApiProcess } from '../helpers/api-process.js';
import { idLiteral, LEAST, openBank, transferBody } from '../helpers/bank.js';
import { freshDatabase, type TestDatabase } from '../helpers/database.js';
import { answeredBy } from '../helpers/known-answer.js';
import { PrivateMysql } from '../helpers/private-mysql.js';
import { PrivateTemporal } from '../helpers/private-temporal.js';
import { serving, temporalEnvironment, type TestTemporal, until } from '../helpers/temporal.js';
import { WorkerProcess } from '../helpers/worker-process.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { assertLedgerSound, balanceOf } from '../helpers/world.js';
import { DAILY } from '../transfers/schedules/support.js';

interface ScheduleKills {
  /** Schedules that run at a time. */
  readonly schedules: number;
  /** Runs of each, which are all due at once. */
  readonly runs: number;
  readonly kills: number;
  /** How long what was killed and started again has before the next kill, at most. */
  readonly betweenMs: number;
}

interface Stage {
  readonly db: TestDatabase;
  readonly api: Pick<ApiProcess, 'baseUrl'>;
}

/** A process that can be killed and started again with its data. */
interface Victim {
  kill(): Promise<unknown>;
  start(): Promise<unknown>;
}

const END_MS = 1_200_000;
const DAY_MS = 86_400_000;
/** Workflows that lost a notification read their schedule again after this time. */
const LOOK_AGAIN = { WORKFLOW_LOOK_AGAIN_S: '20' };

/**
 * Worker, API, MySQL and Temporal, all of this campaign's own, are killed in turn while schedules catch up with runs that
 * they have missed. Every run creates one transfer, in order, and every schedule ends.
 */
export function scheduleKills(wanted: ScheduleKills): Promise<string> {
  return withCleanup(async (open) => {
    const mysql = await open(PrivateMysql.start(), (own) => own.remove());
    const server = await open(PrivateTemporal.start(), (own) => own.remove());
    const db = await open(freshDatabase(mysql.adminUrl, 'money_schedules'), (own) => own.close());
    const { api, worker } = await startProcesses(db, server.temporal);
    await open(Promise.resolve(api), (own) => own.kill());
    await open(Promise.resolve(worker), (own) => own.kill());
    const summary = await killedWhileRunning({ db, api }, [worker, api, mysql, server], wanted);
    return `the worker, the API, MySQL and Temporal were killed in turn, ${summary}`;
  });
}

/** Starts an API and a worker whose workflows check their schedules every 20 s. */
export async function startProcesses(db: TestDatabase, temporal: TestTemporal) {
  const environment = { ...temporalEnvironment(temporal), ...LOOK_AGAIN };
  const api = await ApiProcess.start(db.url, environment);
  const worker = await WorkerProcess.start(db.url, temporal, {
    ...serving('approvals'),
    ...LOOK_AGAIN,
  });
  return { api, worker };
}

export async function killedWhileRunning(
  stage: Stage,
  victims: readonly Victim[],
  { schedules: count, runs, kills, betweenMs }: ScheduleKills,
): Promise<string> {
  let [done, rounds] = [0, 0];
  for (; done < kills; rounds += 1) {
    const ids = await dueSchedules(stage, count, runs);
    while (done < kills && !(await areOver(stage, ids))) {
      const victim = victims[done % victims.length]!;
      await victim.kill();
      await victim.start();
      done += 1;
      await sleep(betweenMs * Math.random());
    }
    await until('every schedule ends', () => areOver(stage, ids), { limitMs: END_MS });
    await assertRunOnce(stage, ids, runs);
  }
  await assertLedgerSound(stage.db.database);
  return `${done} kills while ${rounds * count} schedules caught up with ${runs} missed runs each: each run created one transfer, in order`;
}

/** Schedules of one account, made through the API, all of whose runs are due since they were moved into the past. */
async function dueSchedules({ db, api }: Stage, count: number, runs: number): Promise<string[]> {
  const tool = await startTestApi(db);
  const bank = await openBank(tool);
  const from = await bank.account({ funds: { COPM: BigInt(count * runs) * LEAST } });
  const to = await bank.account();
  await tool.stop();
  const body = {
    transfer: transferBody({ from, to, raw: LEAST }),
    starts_at: new Date(Date.now() + DAY_MS).toISOString(),
    ...{ every: DAILY, max_runs: runs },
  };
  const ids: string[] = [];
  while (ids.length < count) {
    const options = { token: bank.token, body, key: randomUUID() };
    ids.push(String((await answeredBy(api, 'POST', '/v1/schedules', options)).id));
  }
  const days = runs + 1;
  await db.change(
    `UPDATE schedules SET created_at=created_at-INTERVAL ${days} DAY, starts_at=starts_at-INTERVAL ${days} DAY,
       next_run_at=next_run_at-INTERVAL ${days} DAY WHERE source_account_id=${idLiteral(from.id)}`,
  );
  return ids;
}

/** Returns false while MySQL restarts, because nothing can be read. */
async function areOver({ db }: Stage, ids: readonly string[]): Promise<boolean> {
  const where = { id: ids.map(asUuid) };
  const rows = await db.database.reader.select(schedules, where).catch(() => []);
  return rows.length === ids.length && rows.every(({ status }) => status === 'completed');
}

async function assertRunOnce({ db }: Stage, ids: readonly string[], runs: number): Promise<void> {
  const { reader } = db.database;
  const numbers = Array.from({ length: runs }, (_, index) => index + 1);
  for (const id of ids) {
    const created = await reader.select(
      transfers,
      { scheduleId: asUuid(id) },
      { orderBy: ['createdAt', 'id'] },
    );
    assert.deepEqual(
      created.map(({ scheduleRun, status }) => [scheduleRun, status]),
      numbers.map((run) => [run, 'completed']),
    );
  }
  const [first] = await reader.select(schedules, { id: asUuid(ids[0] ?? '') });
  assert(first !== undefined);
  const { available } = await balanceOf(db.database, first.destinationAccountId);
  assert.equal(available, BigInt(ids.length * runs) * LEAST);
}
