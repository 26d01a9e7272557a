import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from '../helpers/api.js';
import { ApiProcess } from '../helpers/api-process.js';
import type { TestDatabase } from '../helpers/database.js';
import { temporalEnvironment, type TestTemporal } from '../helpers/temporal.js';
import { WorkerProcess } from '../helpers/worker-process.js';
import { Clients } from './clients.js';
import { OtherWork } from './other-work.js';
import { SteadyPayouts } from './steady-payouts.js';
import { WaitingClients } from './waiting-clients.js';
import { percentile } from '../helpers/percentile.js';

interface MixedLoad {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  readonly seconds: number;
  readonly clients: number;
  readonly pauseMs: number;
  /** Of each batch, and the time between two. */
  readonly rows: number;
  readonly betweenBatchesMs: number;
  /** Whether memory and latency are to be flat: a short run says nothing about either. */
  readonly isTimed: boolean;
}

/** Of the time: until then caches fill, code is compiled, and the heap finds its size. */
const WARM_UP_SHARE = 0.2;
const SAMPLES = 200;
const WAITING_CLIENTS = 4;
const WAITING_PAUSE_MS = 2_000;
const READS_PER_SAMPLE = 50;
/** Of the first part after the warm-up, in the last one. */
const FLAT_MEMORY = { share: 1.1, mb: 16 };
const FLAT_LATENCY = { share: 1.5, ms: 2 };

interface Sample {
  readonly apiMb: number;
  readonly workerMb: number;
  readonly readMs: number;
}

/**
 * Transfers, approvals that end in every way, batches, payouts, webhooks and reads at a steady pace, by one API process and one
 * worker that audits all the time. Neither takes more memory in the last third than in the first after the warm-up, reads take no
 * longer, what every client was told is true, and the auditor finds nothing.
 */
export async function mixedLoadCampaign(load: MixedLoad): Promise<string> {
  const { db, temporal, clients: count, pauseMs } = load;
  const api = await ApiProcess.start(db.url, temporalEnvironment(temporal));
  const worker = await WorkerProcess.start(db.url, temporal, { AUDIT_PASS_EVERY_S: '3600' });
  try {
    const { baseUrl } = api;
    const clients = await Clients.start(db, baseUrl, count, pauseMs);
    const waiting = await WaitingClients.start(
      { db, temporal, baseUrl },
      WAITING_CLIENTS,
      WAITING_PAUSE_MS,
    );
    const others = await OtherWork.start(db, baseUrl, load);
    const payouts = await SteadyPayouts.start(db, baseUrl);
    const samples: Sample[] = [];
    const watching = watch({ api, worker, token: clients.token, ...load }, samples);
    await waiting.during(payouts.during(watching));
    clients.stop();
    const told = [
      await payouts.finish(),
      await others.finish(),
      await waiting.finish(),
      await clients.finish(),
    ];
    const flat = flatness(samples);
    if (load.isTimed) assertFlat(flat);
    return `${load.seconds} s of mixed load: ${medians(flat)}; ${told.join('; ')}`;
  } finally {
    await Promise.all([worker.stop(), api.stop()]);
  }
}

interface Watched extends Pick<MixedLoad, 'seconds'> {
  readonly api: ApiProcess;
  readonly worker: WorkerProcess;
  readonly token: string;
}

async function watch({ api, worker, token, seconds }: Watched, samples: Sample[]): Promise<void> {
  const beganAt = performance.now();
  const everyMs = (seconds * 1_000) / SAMPLES;
  while (performance.now() < beganAt + seconds * 1_000) {
    const times: number[] = [];
    for (let read = 0; read < READS_PER_SAMPLE; read += 1) {
      const sentAt = performance.now();
      const answer = await request(api.baseUrl, 'GET', '/v1/transfers?limit=20', { token });
      assert.equal(answer.status, 200, answer.text);
      times.push(performance.now() - sentAt);
    }
    samples.push({
      apiMb: api.residentMb,
      workerMb: worker.residentMb,
      readMs: percentile(times, 0.5),
    });
    await sleep(Math.max(0, beganAt + samples.length * everyMs - performance.now()));
  }
}

type Flatness = Readonly<Record<keyof Sample, readonly [first: number, last: number]>>;

/** The medians of the first third after the warm-up, and of the last. */
function flatness(samples: readonly Sample[]): Flatness {
  const warm = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
  const third = Math.ceil(warm.length / 3);
  const of = (key: keyof Sample): [number, number] => {
    const values = warm.map((sample) => sample[key]);
    return [percentile(values.slice(0, third), 0.5), percentile(values.slice(-third), 0.5)];
  };
  return { apiMb: of('apiMb'), workerMb: of('workerMb'), readMs: of('readMs') };
}

function assertFlat({ apiMb, workerMb, readMs }: Flatness): void {
  for (const [first, last] of [apiMb, workerMb])
    assert(
      last <= first * FLAT_MEMORY.share + FLAT_MEMORY.mb,
      `memory grows from ${first} to ${last} MB`,
    );
  const [first, last] = readMs;
  assert(
    last <= first * FLAT_LATENCY.share + FLAT_LATENCY.ms,
    `a read takes ${last} ms instead of ${first}`,
  );
}

function medians({ apiMb, workerMb, readMs }: Flatness): string {
  const from = ([first, last]: readonly [number, number], digits: number): string =>
    `${first.toFixed(digits)} → ${last.toFixed(digits)}`;
  return `memory of the API ${from(apiMb, 0)} MB, of the worker ${from(workerMb, 0)} MB, median read ${from(readMs, 1)} ms`;
}
