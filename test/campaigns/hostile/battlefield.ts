import { setQuotas } from '../../../src/access/quotas.js';
import type { SecretKey } from '../../../src/core/fingerprint.js';
import { systemClock } from '../../../src/core/instant.js';
import { request, startTestApi, type TestApi } from '../../helpers/api.js';
import { ApiProcess } from '../../helpers/api-process.js';
import { openPayrollBank, type PayrollBank } from '../../helpers/batch-workflows.js';
import type { TestDatabase } from '../../helpers/database.js';
import { PrivateTemporal } from '../../helpers/private-temporal.js';
import { temporalEnvironment } from '../../helpers/temporal.js';
import { WorkerProcess } from '../../helpers/worker-process.js';
import { TEST_ACTOR } from '../../helpers/world.js';
import { HonestProgram } from './honest.js';

const LOOK_EVERY_MS = 50;
/** A bank whose callbacks the API takes; it has nothing to pay. */
export const RAIL = 'bank-a';
export const RAIL_KEY: SecretKey = { id: 'k1', secret: Buffer.alloc(32, 9) };

/** An attack by tenants of its own while an honest tenant works as usual. */
export interface Attack {
  readonly name: string;
  /** Attacks until it is done, and returns the outcome in words. Throws if the attack hurts its own target. */
  readonly run: (field: Battlefield) => Promise<string>;
}

/** The service as it runs in production, an honest tenant, and as many attackers as an attack wants. */
export class Battlefield {
  private constructor(
    readonly honest: HonestProgram,
    readonly api: ApiProcess,
    readonly worker: WorkerProcess,
    readonly db: TestDatabase,
    /** Requests go to the process; what a test does without a request goes by itself. */
    private readonly front: TestApi,
    private readonly temporal: PrivateTemporal,
  ) {}

  static async open(db: TestDatabase): Promise<Battlefield> {
    const temporal = await PrivateTemporal.start();
    const environment = temporalEnvironment(temporal.temporal);
    const api = await ApiProcess.start(db.url, {
      ...environment,
      PAYOUT_RAILS: `*=http:${RAIL}`,
      PAYOUT_RAIL_KEYS: `${RAIL}=${RAIL_KEY.id}:${RAIL_KEY.secret.toString('base64')}`,
      PAYOUT_RAIL_URLS: `${RAIL}=http://127.0.0.1:1`,
    });
    const worker = await WorkerProcess.start(db.url, temporal.temporal);
    const own = await startTestApi(db, environment);
    const front: TestApi = {
      ...own,
      baseUrl: api.baseUrl,
      request: (method, path, options) => request(api.baseUrl, method, path, options),
    };
    const honest = await openPayrollBank(front);
    // It uploads all the time and executes nothing.
    await setQuotas(
      db.database,
      systemClock,
      honest.bank.tenant.tenant.id,
      { openBatches: 1_000_000n },
      TEST_ACTOR,
    );
    // The first one finds everything cold.
    await honest.ready(1);
    const { bank, source, people } = honest;
    const program = new HonestProgram({ baseUrl: api.baseUrl, token: bank.token, source, people });
    return new Battlefield(program, api, worker, db, front, temporal);
  }

  /** Anybody's. */
  get request(): TestApi['request'] {
    return this.front.request;
  }

  async close(): Promise<void> {
    await this.honest.end();
    await Promise.all([this.api.stop(), this.worker.stop(), this.front.stop()]);
    await this.temporal.remove();
  }

  /** Each a tenant of its own. */
  async attackers(count: number): Promise<readonly PayrollBank[]> {
    const all: PayrollBank[] = [];
    for (let opened = 0; opened < count; opened += 1) all.push(await openPayrollBank(this.front));
    return all;
  }

  /** The most memory that each process has while the work goes on, in MB. */
  async watched<T>(
    work: Promise<T>,
  ): Promise<{ readonly result: T; readonly apiMb: number; readonly workerMb: number }> {
    const most = { apiMb: 0, workerMb: 0 };
    const look = (): void => {
      most.apiMb = Math.max(most.apiMb, this.api.residentMb);
      most.workerMb = Math.max(most.workerMb, this.worker.residentMb);
    };
    const looking = setInterval(look, LOOK_EVERY_MS);
    try {
      return { result: await work, ...most };
    } finally {
      clearInterval(looking);
    }
  }
}
