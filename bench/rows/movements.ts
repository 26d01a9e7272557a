import type { Asset } from '../../src/core/amount.js';
import { toRfc3339 } from '../../src/core/instant.js';
import { readAccount } from '../../src/accounts/access.js';
import { type MovementFilter, readMovements } from '../../src/accounts/movements.js';
import type { Reader } from '../../src/db/database.js';
import { Cursors, cursorBinding } from '../../src/http/cursor.js';
import type { Bench } from '../bench.js';
import type { Ledger } from '../ledgers/ledger.js';
import { Random } from '../ledgers/random.js';
import type { Latency } from '../load/job.js';
import { latencyText, ms } from '../report/text.js';
import { RowFailed } from '../row-failed.js';
import { atLeast, atMost, type Measured, type Row } from '../row.js';
import type { ApiProcess } from '../service/api-process.js';
import { CURSOR_KEY } from '../service/settings.js';
import { busyLedgerOf, readHistory, type HistoryFacts } from './movement-history.js';
import { withPageTimes } from './page-times.js';
import { callerOf } from './reads.js';

const PER_SECOND = 200;
const KEPT_SHARE = 0.98;
const CONNECTIONS = 32;
const PAGE = 100;

/** How far down its list a page begins, as a share of the list. */
const DEPTHS = [0, 0.25, 0.5, 0.75, 0.95] as const;
/** Different pages near each depth, so that no page is requested over and over. */
const PAGES_PER_DEPTH = 20;
const SPREAD_SHARE = 0.02;

/** A page of the busy account's movements: which list, and from where. */
interface Page {
  readonly filter: MovementFilter;
  /** The previous page's position; null: from the newest. */
  readonly before: bigint | null;
  readonly path: string;
  readonly labels: readonly [depth: string, filter: string];
}

export const movementsRow: Row = {
  name: 'movements',
  title: `Movements of one account, pages of ${PAGE}, any depth, each filter and pairs of them, steady ${PER_SECOND}/s`,
  run: measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const { ledger, entries } = await busyLedgerOf(bench);
  const pages = pagesOf(ledger, await readHistory(ledger));
  const { done: run, times } = await bench.withApi(ledger, async (api) => {
    await checkPages(api, ledger, pages);
    const load = bench.run(api, ledger, {
      connections: CONNECTIONS,
      perSecond: PER_SECOND,
      expectedStatus: 200,
      requests: {
        kind: 'listed',
        list: pages.map(({ path, labels }) => ({ path, labels })),
        order: 'random',
      },
    });
    return withPageTimes(
      ledger,
      { pages, read: (reader, page) => readPage(reader, ledger, page) },
      load,
    );
  });
  const { latency, byLabel } = run.load;
  const depths = DEPTHS.map((depth) => byLabel[depthLabel(depth)]).filter(
    (one) => one !== undefined,
  );
  const spread = spreadOf(depths);
  const byDepth = depths.map(({ p50Ms }) => p50Ms.toFixed(1)).join(', ');
  return {
    figures:
      `${entries.toLocaleString('en')} entries: ${latencyText(latency)}; p50 by depth ${byDepth} ms (spread ${(spread * 100).toFixed(0)} %); ` +
      `database time p50 ${ms(times.server.p50Ms)}, p99 ${ms(times.server.p99Ms)}`,
    baseline: `the same SQL by the bare driver beside the load, one page after another: ${latencyText(times.roundTrips)}`,
    ratio: times.roundTrips.p50Ms / latency.p50Ms,
    targets: [
      // Below this rate requests only wait for each other, and all depths take the same time at any cost.
      atLeast('answered per second', run.load.perSecond, PER_SECOND * KEPT_SHARE),
      atMost('p99 ms', latency.p99Ms, 8),
      atMost('spread of the depths %', spread * 100, 15),
      atMost('database time ms (p50)', times.server.p50Ms, 2),
    ],
    details: { ...run.details, databaseTimes: times, spread },
  };
}

/** The service's work for the page, including its check of the caller's role. */
async function readPage(reader: Reader, ledger: Ledger, { filter, before }: Page): Promise<void> {
  const [accountId = ledger.memberId] = ledger.accountIds;
  await readAccount(reader, callerOf(ledger), accountId, 'readAccount');
  await readMovements(reader, accountId, filter, before, PAGE);
}

/** Returns how much slower the slowest depth is than the fastest, by medians, as a share. */
function spreadOf(depths: readonly Latency[]): number {
  const medians = depths.map(({ p50Ms }) => p50Ms);
  return Math.max(...medians) / Math.min(...medians) - 1;
}

function depthLabel(depth: number): string {
  return `depth ${depth * 100} %`;
}

/** No filter, each filter alone, and each pair. */
function filtersOf({ from, to }: HistoryFacts): readonly MovementFilter[] {
  const asset: Asset = 'DUSD';
  return [
    {},
    { asset },
    { kind: 'transfer_in' },
    { kind: 'payin_in' },
    { from },
    { to },
    { asset, kind: 'transfer_out' },
    { asset, from },
    { asset, to },
    { kind: 'transfer_in', from },
    { kind: 'transfer_out', to },
    { from, to },
  ];
}

function pagesOf(ledger: Ledger, facts: HistoryFacts): Page[] {
  const random = new Random(6);
  return filtersOf(facts).flatMap((filter) =>
    DEPTHS.flatMap((depth) =>
      Array.from({ length: PAGES_PER_DEPTH }, (): Page => {
        const newest = filter.to === undefined ? facts.entries : facts.toSeq;
        const oldest = filter.from === undefined ? 1 : facts.fromSeq;
        const length = newest - oldest;
        const at =
          newest - Math.floor(depth * length) - random.below(Math.ceil(length * SPREAD_SHARE));
        return pageAt(ledger, filter, depth === 0 ? null : BigInt(at), depth);
      }),
    ),
  );
}

/** Makes the cursor of the page as the service does, with the key that the bench has configured. */
function pageAt(
  ledger: Ledger,
  filter: MovementFilter,
  before: bigint | null,
  depth: number,
): Page {
  const path = `/v1/accounts/${ledger.accountIds[0]}/movements`;
  const query = {
    asset: filter.asset,
    kind: filter.kind,
    'created_at[gte]': filter.from,
    'created_at[lte]': filter.to,
  };
  const binding = cursorBinding({ caller: ledger, path, query });
  const sent = new URLSearchParams({ limit: `${PAGE}` });
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) sent.set(name, typeof value === 'number' ? toRfc3339(value) : value);
  if (before !== null)
    sent.set('cursor', new Cursors([CURSOR_KEY]).encode(binding, [before.toString()]));
  const filters = Object.keys(binding.filters).join(' + ');
  return {
    filter,
    before,
    path: `${path}?${sent.toString()}`,
    labels: [depthLabel(depth), `filter ${filters || 'none'}`],
  };
}

interface Shown {
  readonly items: readonly {
    readonly kind: string;
    readonly amount: { readonly asset: string };
    readonly created_at: string;
  }[];
  readonly next_cursor: string | null;
}

/** Checks, before anything is measured, that a page of each kind is full and correct. Throws RowFailed. */
async function checkPages(api: ApiProcess, ledger: Ledger, pages: readonly Page[]): Promise<void> {
  for (const { path, filter } of pages.filter((_, index) => index % PAGES_PER_DEPTH === 0)) {
    const headers = { Authorization: `Bearer ${ledger.token}` };
    const answer = await fetch(`http://127.0.0.1:${api.port}${path}`, { headers });
    const { items, next_cursor: next } = (await answer.json()) as Shown;
    const isCorrect =
      answer.status === 200 &&
      items.length === PAGE &&
      next !== null &&
      items.every(
        (item) =>
          (filter.asset === undefined || item.amount.asset === filter.asset) &&
          (filter.kind === undefined || item.kind === filter.kind) &&
          (filter.from === undefined || item.created_at >= toRfc3339(filter.from)) &&
          (filter.to === undefined || item.created_at <= toRfc3339(filter.to)),
      );
    if (!isCorrect)
      throw new RowFailed(
        `the page ${path} is not full or does not match its filter (status ${answer.status})`,
      );
  }
}
