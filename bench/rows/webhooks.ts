import type { Bench } from '../bench.js';
import { postBare } from '../baseline/posts.js';
import { UNIT_RAW } from '../ledgers/history.js';
import type { Ledger } from '../ledgers/ledger.js';
import { evenLedger } from '../ledgers/shape.js';
import { Receiver } from '../receiver/receiver.js';
import { latencyText, perSecond } from '../report/text.js';
import { RowFailed } from '../row-failed.js';
import { atLeast, atMost, type Measured, type Row } from '../row.js';
import type { ApiProcess } from '../service/api-process.js';
import { Client } from '../service/client.js';
import { transferList } from './approval-data.js';
import { headOf, loggedAfter } from './read-log.js';
import { randomParties } from './transfers.js';

const LEDGER = evenLedger('webhooks', 10_000);
/** If nothing has arrived for this long, nothing more will, because a retry is due after 5 s. */
const MAX_SILENCE_MS = 30_000;

const RATE_ENDPOINTS = 4;
const BACKLOG = 5_000;
const QUICK_BACKLOG = 500;
const CLIENTS = 64;
/** As many as a run has in flight for each endpoint (`WINDOW` in src/webhooks/rules.ts). */
const SENDS_PER_ENDPOINT = 8;

const LATENCY_ENDPOINTS = 10;
const PER_SECOND = 100;
const KEPT_SHARE = 0.98;
const CONNECTIONS = 16;

const rate: Row = {
  name: 'webhooks-rate',
  title: `Webhooks from a backlog to ${RATE_ENDPOINTS} endpoints of a local receiver`,
  run: (bench) => withReceiver((receiver) => measureRate(bench, receiver)),
};

const latency: Row = {
  name: 'webhooks-latency',
  title: `Webhooks, commit to first attempt, ${PER_SECOND} events/s, each to ${LATENCY_ENDPOINTS} endpoints`,
  run: (bench) => withReceiver((receiver) => measureLatency(bench, receiver)),
};

export const webhookRows: readonly Row[] = [rate, latency];

/** Creates the backlog before a worker starts, so that only sending is measured. */
async function measureRate(bench: Bench, receiver: Receiver): Promise<Measured> {
  const ledger = await bench.newLedger(LEDGER);
  const events = bench.options.isQuick ? QUICK_BACKLOG : BACKLOG;
  await bench.withApi(ledger, async (api) => {
    await register(api, ledger, receiver, RATE_ENDPOINTS);
    await bench.run(api, ledger, {
      connections: CLIENTS,
      expectedStatus: 201,
      requests: {
        kind: 'listed',
        list: transferList(randomParties(ledger), events),
        order: 'once',
      },
    });
  });
  const { report, cpuUs } = await bench.withService(ledger, async ({ worker }) => {
    await receiver.untilArrived(events * RATE_ENDPOINTS, MAX_SILENCE_MS);
    const found = await receiver.report(0);
    const cpuMs = worker.cpuMs();
    return { report: found, cpuUs: cpuMs === null ? null : (cpuMs * 1000) / found.arrivals };
  });
  const deliveries = (report.distinct - 1) / report.seconds;
  const bare = await postBare(
    urlsOf(receiver, RATE_ENDPOINTS),
    RATE_ENDPOINTS * SENDS_PER_ENDPOINT,
    bench.options.seconds,
  );
  return {
    figures: `${events.toLocaleString('en')} events, ${report.distinct.toLocaleString('en')} deliveries: ${perSecond(deliveries)}; ${report.arrivals - report.distinct} came twice`,
    baseline: `bare POSTs to the same receiver, ${SENDS_PER_ENDPOINT} at a time for each: ${perSecond(bare.perSecond)}`,
    ratio: deliveries / bare.perSecond,
    targets: [atLeast('deliveries per second', deliveries, 1_000)],
    details: { report, workerCpuUsPerDelivery: cpuUs, bare },
  };
}

async function measureLatency(bench: Bench, receiver: Receiver): Promise<Measured> {
  const ledger = await bench.newLedger(LEDGER);
  const head = await headOf(ledger);
  const { run, report, cpuUs } = await bench.withService(ledger, async ({ api, worker }) => {
    await register(api, ledger, receiver, LATENCY_ENDPOINTS);
    const cpuBefore = worker.cpuMs();
    const since = Date.now() + bench.options.warmUpS * 1000;
    const { sources } = randomParties(ledger);
    const load = await bench.run(api, ledger, {
      connections: CONNECTIONS,
      perSecond: PER_SECOND,
      expectedStatus: 201,
      requests: {
        kind: 'transfers',
        sources,
        destinations: sources,
        raw: UNIT_RAW.toString(),
        asset: 'COPM',
      },
    });
    const { count } = await loggedAfter(ledger, 'transfer.completed', head);
    await receiver.untilArrived(count * LATENCY_ENDPOINTS, MAX_SILENCE_MS);
    const found = await receiver.report(since);
    const [before, after] = [cpuBefore, worker.cpuMs()];
    const cpuUs =
      before === null || after === null ? null : ((after - before) * 1000) / found.arrivals;
    return { run: load, report: found, cpuUs };
  });
  if (report.latency.count === 0) throw new RowFailed('no event came after the warm-up');
  const bare = await postBare(urlsOf(receiver, LATENCY_ENDPOINTS), 1, bench.options.seconds);
  return {
    figures: `${latencyText(report.latency)} from the event's created_at to its arrival; ${perSecond(run.load.perSecond)} events`,
    baseline: `a bare POST to the same receiver and its answer: ${latencyText(bare.latency)}`,
    ratio: bare.latency.p99Ms / report.latency.p99Ms,
    targets: [
      atLeast('events per second', run.load.perSecond, PER_SECOND * KEPT_SHARE),
      atMost('p99 ms', report.latency.p99Ms, 150),
    ],
    details: { ...run.details, report, workerCpuUsPerDelivery: cpuUs, bare },
  };
}

async function withReceiver<T>(work: (receiver: Receiver) => Promise<T>): Promise<T> {
  const receiver = await Receiver.start();
  try {
    return await work(receiver);
  } finally {
    receiver.stop();
  }
}

async function register(
  api: ApiProcess,
  ledger: Ledger,
  receiver: Receiver,
  count: number,
): Promise<void> {
  const client = new Client(api, ledger);
  for (const url of urlsOf(receiver, count))
    await client.post('/v1/webhook_endpoints', 201, { url, events: ['transfer.completed'] });
}

function urlsOf(receiver: Receiver, count: number): string[] {
  return Array.from({ length: count }, (_, number) => receiver.url(number));
}
