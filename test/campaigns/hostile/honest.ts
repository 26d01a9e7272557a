import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { PayrollAccounts } from '../../helpers/batch-workflows.js';

/** The times that the honest tenant sees, in milliseconds. */
export interface Experience {
  /** From request to answer of its transfers. */
  readonly p99: number;
  /** From the upload of a batch of 100 rows until it is ready, the slowest of all. */
  readonly slowestBatch: number;
  readonly batches: number;
}

/** The honest tenant whose program runs. */
export interface HonestTenant extends PayrollAccounts {
  readonly baseUrl: string;
  readonly token: string;
}

/** The honest tenant's program: in a thread of its own, so that what the attackers' own program computes delays none of its requests. */
export class HonestProgram {
  private readonly thread: Worker;

  constructor(tenant: HonestTenant) {
    this.thread = new Worker(new URL('./honest-thread.js', import.meta.url), {
      workerData: tenant,
    });
  }

  /** Measures until the work ends, at least one batch. Throws if a request is refused. */
  async during(work: Promise<unknown>): Promise<Experience> {
    this.thread.postMessage('live');
    const lived = once(this.thread, 'message') as Promise<[Experience]>;
    const [[experience]] = await Promise.all([
      lived,
      work.finally(() => this.thread.postMessage('rest')),
    ]);
    return experience;
  }

  async end(): Promise<void> {
    await this.thread.terminate();
  }
}
