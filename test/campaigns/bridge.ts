import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { OUTBOX_FAILPOINTS, LEDGER_FAILPOINTS, type Failpoint } from '../../src/core/failpoints.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { ApiProcess } from '../support/api-process.js';
import { LEAST, openBank } from '../support/bank.js';
import type { TestDatabase } from '../support/database.js';
import { PrivateMysql } from '../support/private-mysql.js';
import { PrivateTemporal } from '../support/private-temporal.js';
import type { ServiceProcess } from '../support/service-process.js';
import { serving, temporalEnvironment, type TestTemporal, until } from '../support/temporal.js';
import { startTestWorker } from '../support/temporal-worker.js';
import { WorkerProcess } from '../support/worker-process.js';
import { WaitingClients } from './waiting-clients.js';
import { freshDatabase } from '../support/database.js';

/** How long the clients work between two kills. */
const BETWEEN_MS = 500;
const CALM_MS = 1_000;

/** All that waits here. */
const APPROVALS = serving('approvals');

interface BridgeFailpoints {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  readonly clients: number;
  /** How often each process ends itself at each of its failpoints. */
  readonly rounds: number;
}

/** The worker ends itself at the failpoints, and the API at those of the relay, while clients make, decide and let expire. */
export async function bridgeFailpoints(campaign: BridgeFailpoints): Promise<string> {
  const { db, temporal, clients, rounds } = campaign;
  const ofWorker = [...LEDGER_FAILPOINTS, ...OUTBOX_FAILPOINTS];
  const environment = temporalEnvironment(temporal);
  const api = await ApiProcess.prepare(db.url, environment);
  const worker = await WorkerProcess.prepare(db.url, temporal, APPROVALS);
  try {
    const work = await WaitingClients.start({ db, temporal, baseUrl: api.baseUrl }, clients);
    await work.during(
      Promise.all([endAtEach(worker, ofWorker, rounds), endAtEach(api, OUTBOX_FAILPOINTS, rounds)]),
    );
    await sleep(CALM_MS);
    const kills = `worker ended at ${ofWorker.length} failpoints and API at ${OUTBOX_FAILPOINTS.length}, ${rounds} time(s) each`;
    return `${kills}: ${await work.finish()}`;
  } finally {
    await Promise.all([api.kill(), worker.kill()]);
  }
}

async function endAtEach(
  process: ServiceProcess,
  failpoints: readonly Failpoint[],
  rounds: number,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1)
    for (const failpoint of failpoints) await process.endAt(failpoint, 2 + (round % 7));
  await process.start();
}

/** Worker, API, MySQL and Temporal are killed in turn, all of them of this campaign's own. */
export async function bridgeKills({
  kills,
  clients,
}: {
  kills: number;
  clients: number;
}): Promise<string> {
  const [mysql, server] = await Promise.all([PrivateMysql.start(), PrivateTemporal.start()]);
  const { temporal } = server;
  try {
    const db = await freshDatabase(mysql.adminUrl, 'money_bridge');
    const api = await ApiProcess.start(db.url, temporalEnvironment(temporal));
    const worker = await WorkerProcess.start(db.url, temporal, APPROVALS);
    try {
      const work = await WaitingClients.start({ db, temporal, baseUrl: api.baseUrl }, clients);
      const victims = [worker, api, mysql, server];
      for (let kill = 0; kill < kills; kill += 1) {
        await sleep(BETWEEN_MS * (0.5 + Math.random()));
        const victim = victims[kill % victims.length]!;
        await victim.kill();
        await victim.start();
      }
      await sleep(CALM_MS);
      return `worker, API, MySQL and Temporal killed in turn, ${kills} kills: ${await work.finish()}`;
    } finally {
      await Promise.all([api.kill(), worker.kill()]);
      await db.close();
    }
  } finally {
    await server.remove();
    await mysql.remove();
  }
}

interface TemporalAway {
  readonly db: TestDatabase;
  readonly awayMs: number;
  readonly clients: number;
}

/**
 * Temporal is killed, stays away, and comes back on its data. Meanwhile instant transfers never fail, new ones may begin to
 * wait, and what is decided or over is settled; afterwards every workflow catches up by itself.
 */
export async function temporalAway({ db, awayMs, clients }: TemporalAway): Promise<string> {
  const server = await PrivateTemporal.start();
  const { temporal } = server;
  const worker = await startTestWorker(db, temporal, { environment: APPROVALS });
  const api = await startTestApi(db, temporalEnvironment(temporal));
  try {
    const work = await WaitingClients.start({ db, temporal, baseUrl: api.baseUrl }, clients);
    await work.during(until('all is at work', () => work.decided >= clients));
    await server.kill();
    const [before, end] = [work.decided, performance.now() + awayMs];
    const made = await instantTransfers(api, () => performance.now() < end);
    const settled = work.decided - before;
    assert(settled > 0, 'nothing was decided while Temporal was away');
    await server.start();
    const summary = await work.finish();
    const meanwhile = `${made} instant transfers and ${settled} decisions meanwhile`;
    return `Temporal killed and away for ${awayMs} ms, ${meanwhile}, not one refused: ${summary}`;
  } finally {
    await api.stop();
    await worker.stop();
    await server.remove();
  }
}

/** One after the other, for as long as it goes on. Answers how many. */
async function instantTransfers(api: TestApi, goesOn: () => boolean): Promise<number> {
  const bank = await openBank(api);
  const [one, other] = [await bank.account({ funds: { COPM: 10n * LEAST } }), await bank.account()];
  await bank.fund(other, { asset: 'COPM', raw: 10n * LEAST });
  let count = 0;
  for (; goesOn(); count += 1) {
    const [from, to] = count % 2 === 0 ? [one, other] : [other, one];
    await bank.sent({ from, to, raw: LEAST });
  }
  return count;
}
