import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { request } from '../../helpers/api.js';
import { answered, LEAST, transferBody } from '../../helpers/bank.js';
import { payrollOf } from '../../helpers/batch-workflows.js';
import type { Experience, HonestTenant } from './honest.js';
import { percentile99 } from '../../helpers/percentile.js';

/** See HonestProgram: sends transfers and uploads batches from `live` to `rest`, then says how that went. */

const ROWS = 100;
const TRANSFER_EVERY_MS = 25;
const BATCH_EVERY_MS = 2_000;

const { baseUrl, token, source, people } = workerData as HonestTenant;
const asTenant = (method: string, path: string, options = {}): ReturnType<typeof request> =>
  request(baseUrl, method, path, { token, ...options });
const payroll = payrollOf(asTenant, { source, people });
const transfer = transferBody({ from: source, to: people[0]!, raw: LEAST });
let isLiving = false;

parentPort!.on('message', (order: 'live' | 'rest') => {
  isLiving = order === 'live';
  if (isLiving) void live().then((experience) => parentPort!.postMessage(experience));
});

async function live(): Promise<Experience> {
  const [transfers, batches]: [number[], number[]] = [[], []];
  await Promise.all([
    again(TRANSFER_EVERY_MS, transfers, async () =>
      answered(await asTenant('POST', '/v1/transfers', { body: transfer }), 201),
    ),
    again(BATCH_EVERY_MS, batches, () => payroll.ready(ROWS)),
  ]);
  return {
    p99: percentile99(transfers),
    slowestBatch: Math.round(Math.max(...batches)),
    batches: batches.length,
  };
}

async function again(everyMs: number, times: number[], act: () => Promise<unknown>): Promise<void> {
  do {
    const began = performance.now();
    await act();
    times.push(performance.now() - began);
    await sleep(everyMs);
  } while (isLiving);
}
