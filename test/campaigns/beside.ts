import { setTimeout as sleep } from 'node:timers/promises';
import { ApiProcess } from '../support/api-process.js';
import type { TestDatabase } from '../support/database.js';
import { databaseOf } from '../support/releases.js';
import { temporalEnvironment, type TestTemporal } from '../support/temporal.js';
import { WorkerProcess } from '../support/worker-process.js';
import { Clients } from './clients.js';
import { WaitingClients } from './waiting-clients.js';

interface Beside {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  /** The folder of an earlier release. */
  readonly previous: string;
  readonly clients: number;
  readonly forMs: number;
}

/**
 * The API and the worker of an earlier release beside those of now, on the schema of now: clients of each transfer, and decide what
 * waits. Every answer is true, everything that waits has one end.
 */
export async function besideCampaign({ db, temporal, previous, clients, forMs }: Beside): Promise<string> {
  const environment = temporalEnvironment(temporal);
  const old = { RELEASE: previous };
  const oldUrl = await databaseOf(previous, db);
  // As an upgrade has it while the older ones still run.
  const now = { WORKFLOW_PATCHES: 'off' };
  const [older, newer, ...workers] = await Promise.all([
    ApiProcess.start(oldUrl, { ...environment, ...old }),
    ApiProcess.start(db.url, environment),
    WorkerProcess.start(oldUrl, temporal, old),
    WorkerProcess.start(db.url, temporal, now),
  ]);
  try {
    const urls = [older.baseUrl, newer.baseUrl];
    const moving = await Promise.all(urls.map((url) => Clients.start(db, url, clients)));
    const waiting = await Promise.all(
      urls.map((baseUrl) => WaitingClients.start({ db, temporal, baseUrl }, Math.ceil(clients / 2))),
    );
    await Promise.all(waiting.map((one) => one.during(sleep(forMs))));
    const told = await Promise.all([...waiting, ...moving].map((one) => one.finish()));
    const [oldWaited, newWaited, oldMoved, newMoved] = told;
    return `an API and a worker of the release before beside those of now: by the older API ${oldMoved}, and ${oldWaited}; by the newer ${newMoved}, and ${newWaited}`;
  } finally {
    await Promise.all([older, newer, ...workers].map((one) => one.kill()));
  }
}
