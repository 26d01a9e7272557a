import { listOperations, type OperationFilter } from '../../src/operations/operation-list.js';
import type { TimePosition } from '../../src/core/page.js';
import { toRfc3339 } from '../../src/core/instant.js';
import * as column from '../../src/db/columns.js';
import { Cursors, cursorBinding } from '../../src/http/cursor.js';
import { transferList } from '../../src/transfers/service.js';
import type { Bench } from '../bench.js';
import { withDatabase } from '../ledgers/database.js';
import { INVOICE_KEY, invoiceOf, UNIT_RAW } from '../ledgers/history.js';
import type { Ledger } from '../ledgers/ledger.js';
import type { Latency } from '../load/job.js';
import { latencyText, ms } from '../report/text.js';
import { atLeast, atMost, type Measured, type Row } from '../row.js';
import { CURSOR_KEY } from '../service/settings.js';
import { busyLedgerOf } from './movement-history.js';
import { withPageTimes } from './page-times.js';
import { callerOf } from './reads.js';

const PER_SECOND = 200;
const KEPT_SHARE = 0.98;
const CONNECTIONS = 32;
const LIMIT = 100;
const PATH = '/v1/transfers';

/** Where in the list a page begins, as a share of the list's length. */
const DEPTHS = [0, 0.25, 0.5, 0.75, 0.95] as const;
/** Different pages at each depth, so that no page is requested over and over. */
const PAGES_PER_DEPTH = 20;

interface ListPage {
  readonly filter: OperationFilter;
  readonly before: TimePosition | null;
  readonly path: string;
  readonly labels: readonly string[];
}

/** A filter as the service parses it and as it is sent. */
type Filter = readonly [OperationFilter, Readonly<Record<string, string | undefined>>];

export const listsRow: Row = {
  name: 'lists',
  title: `A tenant's transfers, pages of ${LIMIT}, any depth and each filter, steady ${PER_SECOND}/s`,
  run: measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const { ledger } = await busyLedgerOf(bench);
  const pages = await pagesOf(ledger);
  const { done: run, times } = await bench.withApi(ledger, (api) => {
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
    const caller = callerOf(ledger);
    return withPageTimes(
      ledger,
      {
        pages,
        read: (reader, { filter, before }) =>
          listOperations(transferList, reader, caller, filter, before, LIMIT),
      },
      load,
    );
  });
  const { latency, byLabel, perSecond } = run.load;
  const p99s = Object.entries(byLabel).map(
    ([label, one]: [string, Latency]) => `${label} ${one.p99Ms.toFixed(1)}`,
  );
  return {
    figures:
      `${ledger.entries.toLocaleString('en')} entries: ${latencyText(latency)}; p99 of each: ${p99s.join(', ')} ms; ` +
      `database time p50 ${ms(times.server.p50Ms)}, p99 ${ms(times.server.p99Ms)}`,
    baseline: `the same SQL by the bare driver beside the load, one page after another: ${latencyText(times.roundTrips)}`,
    ratio: times.roundTrips.p50Ms / latency.p50Ms,
    targets: [
      atLeast('answered per second', perSecond, PER_SECOND * KEPT_SHARE),
      atMost('p99 ms', latency.p99Ms, 10),
      atMost('database time ms (p50)', times.server.p50Ms, 2),
    ],
    details: { ...run.details, databaseTimes: times },
  };
}

async function pagesOf(ledger: Ledger): Promise<ListPage[]> {
  return withDatabase(ledger.url, async ({ reader }) => {
    const positionsAt = async (depth: number): Promise<TimePosition[]> => {
      const rows = await reader.query(
        `SELECT id, created_at FROM transfers ORDER BY created_at DESC, id DESC
         LIMIT ${PAGES_PER_DEPTH} OFFSET ${Math.floor(depth * ledger.shape.operations)}`,
      );
      return rows.map((row) => ({
        createdAt: column.time.parse(row.created_at),
        id: column.uuid.parse(row.id),
      }));
    };
    const depths = await Promise.all(
      DEPTHS.map(async (depth) => [depth, await positionsAt(depth)] as const),
    );
    const [oldest] = await positionsAt(0.9);
    const [key] = await reader.query(
      "SELECT idempotency_key FROM idempotency_keys WHERE idempotency_key NOT LIKE 'ops/%' LIMIT 1",
    );
    if (key === undefined || oldest === undefined) throw new Error('the ledger has no transfers');
    const made = column.string.parse(key.idempotency_key);
    return [
      ...filtersOf(ledger, oldest).flatMap((filter) =>
        depths.flatMap(([depth, positions]) =>
          positions.map((position) =>
            pageAt(ledger, filter, depth === 0 ? null : position, `depth ${depth * 100} %`),
          ),
        ),
      ),
      pageAt(ledger, [{ idempotencyKey: made }, { idempotency_key: made }], null, 'depth 0 %'),
    ];
  });
}

/** Returns the filters. The last one matches few rows, so a page examines as many rows as it may. */
function filtersOf(
  { accountIds: [busy, other] }: Ledger,
  { createdAt: from }: TimePosition,
): readonly Filter[] {
  const min = UNIT_RAW * 3n;
  const invoice = invoiceOf(1);
  return [
    [{}, {}],
    [{ status: 'completed' }, { status: 'completed' }],
    [{ sourceAccountId: busy }, { source_account: busy }],
    [{ from }, { 'created_at[gte]': toRfc3339(from) }],
    [
      { asset: 'DUSD', min },
      { asset: 'DUSD', 'amount[gte]': min.toString() },
    ],
    [{ pair: [INVOICE_KEY, invoice] }, { [`metadata[${INVOICE_KEY}]`]: invoice }],
    [{ columns: { destinationAccountId: other } }, { destination_account: other }],
  ];
}

/** Makes the cursor of the page as the service does, with the key that the bench has configured. */
function pageAt(
  ledger: Ledger,
  [filter, sent]: Filter,
  before: TimePosition | null,
  depth: string,
): ListPage {
  // The service binds a cursor to the parsed form of a time and of metadata.
  const parsed = {
    ...(filter.pair === undefined ? sent : { metadata: Object.fromEntries([filter.pair]) }),
    ...(filter.from === undefined ? {} : { 'created_at[gte]': filter.from }),
  };
  const binding = cursorBinding({ caller: ledger, path: PATH, query: parsed });
  const query = new URLSearchParams({ limit: `${LIMIT}` });
  for (const [name, value] of Object.entries(sent)) if (value !== undefined) query.set(name, value);
  if (before !== null)
    query.set(
      'cursor',
      new Cursors([CURSOR_KEY]).encode(binding, [String(before.createdAt), before.id]),
    );
  const names = Object.keys(sent).join(' + ');
  return {
    filter,
    before,
    path: `${PATH}?${query.toString()}`,
    labels: [depth, `filter ${names || 'none'}`],
  };
}
