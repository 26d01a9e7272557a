import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, type Run, type Service } from '../bench.js';
import { withDatabase } from '../ledgers/database.js';
import { UNIT_RAW } from '../ledgers/history.js';
import type { Ledger } from '../ledgers/ledger.js';
import { evenLedger } from '../ledgers/shape.js';
import { latencyText, perSecond, seconds } from '../report/text.js';
import { RowFailed } from '../row-failed.js';
import { atLeast, type Measured, type Row } from '../row.js';
import { approvalParties, approverToken, setPolicies } from './approval-data.js';
import { headOf, loggedAfter, outboxEntries } from './read-log.js';

const CLIENTS = 64;
const WEEK_S = 604_800;
const LEDGER = evenLedger('approvals', 10_000);
const CATCH_UP_S = 120;
const POLL_MS = 250;

/** Each client creates a transfer, has another member approve it, and starts over. */
export const approvalsRow: Row = {
  name: 'approvals',
  title: 'Approvals: create, approve by another member, settled event; 64 clients',
  async run(bench) {
    const ledger = await bench.newLedger(LEDGER);
    return bench.withService(ledger, (service) => measure(bench, ledger, service));
  },
};

async function measure(
  bench: Bench,
  ledger: Ledger,
  { api, temporal }: Service,
): Promise<Measured> {
  const parties = approvalParties(ledger);
  const load = {
    connections: CLIENTS,
    ...parties,
    raw: UNIT_RAW.toString(),
    asset: 'COPM',
  } as const;
  const { connections, ...transfers } = load;
  const instantly = await bench.run(api, ledger, {
    connections,
    expectedStatus: 201,
    requests: { kind: 'transfers', ...transfers },
  });
  const token = await approverToken(ledger);
  await setPolicies(ledger, parties.sources, WEEK_S);
  const head = await headOf(ledger);
  const run = await bench.run(api, ledger, {
    connections,
    expectedStatus: 200,
    requests: { kind: 'approved transfers', ...transfers, approverToken: token },
  });
  const inLog = await eventsPerSecond(ledger, head, run);
  const lag = await untilCaughtUp(ledger, temporal);
  const rate = run.load.perSecond / 2;
  const { create, approve } = run.load.byLabel;
  if (create === undefined || approve === undefined) throw new RowFailed('nothing was approved');
  return {
    figures:
      `${perSecond(rate)} at the API, ${perSecond(inLog)} in the log; create ${latencyText(create)}; approve ${latencyText(approve)}; ` +
      `when the load ended ${lag.behind.toLocaleString('en')} outbox entries and workflows were left, ${lag.words}`,
    baseline: `instant transfers by the same clients from the same accounts: ${perSecond(instantly.load.perSecond)}`,
    ratio: rate / instantly.load.perSecond,
    targets: [
      atLeast('per second at the API', rate, 300),
      atLeast('per second in the log', inLog, 300),
    ],
    details: { ...run.details, instantly: instantly.details, inLog, lag },
  };
}

/** Returns the rate of events. Throws RowFailed unless every answered approval has its event. */
async function eventsPerSecond(ledger: Ledger, head: bigint, { load }: Run): Promise<number> {
  const { count, firstAt, lastAt } = await loggedAfter(ledger, 'transfer.completed', head);
  if (count !== load.answered / 2)
    throw new RowFailed(
      `${count} transfers are in the log as completed, of ${load.answered / 2} that were approved`,
    );
  return firstAt === null || lastAt === null ? 0 : (count * 1000) / (lastAt - firstAt);
}

/** Work left for Temporal and the worker when the load ended, and its duration. */
async function untilCaughtUp(
  { url }: Ledger,
  temporal: Service['temporal'],
): Promise<{ behind: number; left: number; words: string }> {
  return withDatabase(url, async ({ reader }) => {
    const countLeft = async (): Promise<number> =>
      (await outboxEntries(reader)) + ((await temporal?.running('transfer')) ?? 0);
    const began = performance.now();
    const behind = await countLeft();
    for (let left = behind; ; left = await countLeft()) {
      const tookS = (performance.now() - began) / 1000;
      if (left === 0) return { behind, left, words: `caught up after ${seconds(tookS)}` };
      if (tookS > CATCH_UP_S)
        return { behind, left, words: `${left.toLocaleString('en')} after ${CATCH_UP_S} s` };
      await sleep(POLL_MS);
    }
  });
}
