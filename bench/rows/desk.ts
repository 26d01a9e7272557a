import { hash } from 'node:crypto';
import { firstIdAt, newId } from '../../src/core/ids.js';
import { instant, localDay, systemClock } from '../../src/core/instant.js';
import type { Database, Reader } from '../../src/db/database.js';
import { batches } from '../../src/db/entities/batches.js';
import { auditLog } from '../../src/db/entities/identity.js';
import { transfers } from '../../src/db/entities/operations.js';
import {
  type Staff,
  staff,
  type StaffSession,
  staffSessions,
} from '../../src/db/entities/staff.js';
import { dailyTotalsPositions } from '../../src/db/entities/sweeps.js';
import { transact } from '../../src/db/reader.js';
import { upsertSql } from '../../src/db/statements.js';
import { nullsOf } from '../../src/db/table.js';
import { searchWordsSweep } from '../../src/operations/search-words.js';
import type { Bench } from '../bench.js';
import { withDatabase } from '../ledgers/database.js';
import { addDeskRows } from '../ledgers/desk-rows.js';
import { invoiceOf } from '../ledgers/history.js';
import type { Ledger } from '../ledgers/ledger.js';
import { openLoader } from '../ledgers/load-table.js';
import { Random } from '../ledgers/random.js';
import { busyLedger } from '../ledgers/shape.js';
import { TIME_ZONE } from '../ledgers/state.js';
import type { Latency, ListedRequest } from '../load/job.js';
import { runLoad } from '../load/run-load.js';
import { say } from '../report/say.js';
import { latencyText } from '../report/text.js';
import { atMost, type Measured, type Row } from '../row.js';

const PEOPLE = 100_000;
/** A few of them are pay-ins, so that a million transfers remain. */
const ENTRIES = 1_050_000;
const ITEMS = 100_000;
const QUICK_SHARE = 0.02;
/** People at the desk who request a page as soon as they have the last one. */
const CONNECTIONS = 2;
const MAX_SEARCH_MS = 100;
const MAX_PAGE_MS = 300;
/** Different texts of each kind of search. */
const TEXTS = 20;
const DAY_MS = 86_400_000;

export const deskRow: Row = {
  name: 'desk',
  title: `The support desk: searches among a million transfers and ${PEOPLE.toLocaleString('en')} people, and pages of lists with ${ITEMS.toLocaleString('en')} items`,
  run: measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const share = bench.options.isQuick ? QUICK_SHARE : 1;
  const name = bench.options.isQuick ? 'desk_quick' : 'desk';
  const ledger = await bench.ledger(busyLedger(name, ENTRIES * share, PEOPLE * share - 1));
  const token = `sst_${newId()}`;
  const { pages, searches } = await withDatabase(ledger.url, async (database) => {
    await signIn(database, token);
    if ((await database.reader.list(batches, 'LIMIT 1')).length === 0)
      await fill(ledger, database, ITEMS * share);
    await indexWords(database);
    return requestsOf(ledger, database.reader);
  });
  const { seconds, warmUpS } = bench.options;
  const [empty, search, page] = await bench.withSupport(ledger, async ({ port }) => {
    const load = (list: readonly ListedRequest[]) =>
      runLoad({
        ...{ ports: [port], token: '', cookie: `desk=${token}`, connections: CONNECTIONS },
        ...{ perSecond: null, warmUpS, seconds, expectedStatus: 200 },
        requests: { kind: 'listed', list, order: 'random' },
      });
    return [await load([{ path: '/search' }]), await load(searches), await load(pages)] as const;
  });
  return {
    figures: `searches ${latencyText(search.latency)} (${slowestOf(search.byLabel)}); pages ${latencyText(page.latency)} (${slowestOf(page.byLabel)})`,
    baseline: `a page without data: ${latencyText(empty.latency)}`,
    ratio: empty.latency.p50Ms / page.latency.p50Ms,
    targets: [
      atMost('ms p99 of searches', search.latency.p99Ms, MAX_SEARCH_MS),
      atMost('ms p99 of pages', page.latency.p99Ms, MAX_PAGE_MS),
    ],
    details: { empty, search, page },
  };
}

/** Names the three kinds with the longest p99. */
function slowestOf(byLabel: Readonly<Record<string, Latency>>): string {
  const sorted = Object.entries(byLabel).sort(([, a], [, b]) => b.p99Ms - a.p99Ms);
  const named = sorted.slice(0, 3).map(([label, { p99Ms }]) => `${label} ${p99Ms.toFixed(0)}`);
  return `p99 of the slowest: ${named.join(', ')} ms`;
}

/** Opens a session of a person of the staff, under this token. */
async function signIn(database: Database, token: string): Promise<void> {
  const now = systemClock();
  const known = await database.reader.find(staff, { name: 'bench' });
  const person: Staff = {
    ...nullsOf(staff),
    ...{ id: newId(), name: 'bench', foldedName: 'bench', kind: 'person', active: true },
    ...{ rights: ['approve'], failedCodes: 0, opsFailedCodes: 0, createdAt: now },
  };
  const staffId = known?.id ?? person.id;
  const session: StaffSession = {
    ...nullsOf(staffSessions),
    ...{ id: newId(), staffId, channel: 'support', place: 'bench', createdAt: now },
    ...{ lastUsedAt: now, expiresAt: instant(now + 3_600_000) },
    tokenHash: hash('sha256', token, 'buffer'),
  };
  await transact(database, async (transaction) => {
    if (known === undefined) await transaction.execute(upsertSql(staff, [person], ['name']));
    await transaction.execute(upsertSql(staffSessions, [session], ['place']));
  });
}

async function fill({ adminUrl }: Ledger, { reader }: Database, items: number): Promise<void> {
  say(`  adding lists of ${items.toLocaleString('en')} items`);
  const loader = await openLoader(adminUrl);
  try {
    await addDeskRows(loader, reader, items, systemClock());
  } finally {
    await loader.admin.end();
  }
}

/** Time after which the sweep indexes a row. */
const LAG_MS = 60_000;

/** Runs the sweep of the search's words until it has reached the present. */
async function indexWords(database: Database): Promise<void> {
  const began = systemClock();
  const sweep = searchWordsSweep({ database, clock: systemClock });
  const isBehind = async (): Promise<boolean> => {
    const all = await database.reader.list(dailyTotalsPositions, "WHERE name LIKE 'words/%'");
    return all.length === 0 || all.some(({ position }) => position < BigInt(began - LAG_MS));
  };
  while (await isBehind()) await sweep.run(new AbortController().signal);
}

type Query = Readonly<Record<string, string>>;

async function requestsOf(ledger: Ledger, reader: Reader) {
  const { tenantId, accountIds } = ledger;
  const [busy = ''] = accountIds;
  const [batch] = await reader.list(batches, 'LIMIT 1');
  const [waiting] = await reader.list(transfers, "WHERE status='pending_approval' LIMIT 1");
  const [decided] = await reader.list(auditLog, "WHERE action='transfer.reject' LIMIT 1");
  if (batch === undefined || waiting === undefined || decided === undefined)
    throw new Error('the lists of the desk are empty');
  const day = localDay(decided.at, TIME_ZONE);
  const earlier = instant(decided.at - 60 * DAY_MS);
  const deep = `${waiting.approvalExpiresAt}.${waiting.id}`;
  const old = `${earlier}.${firstIdAt(earlier)}`;
  const far = { row: String(batch.rowCount / 2) };
  const page = (label: string, path: string, ...queries: readonly Query[]): ListedRequest[] =>
    [{}, ...queries].map((query) => {
      const text = new URLSearchParams(query).toString();
      return { path: `${path}${text && '?'}${text}`, labels: [label] };
    });
  const [amount, text] = [{ amount: '3,000' }, { text: 'tienda 0001234' }];
  const days = { day: localDay(earlier, TIME_ZONE) };
  const pages = [
    page('start', '/'),
    page(
      'queue',
      '/waiting/transfers',
      { tenant: 'bench' },
      { amount: '3,000..' },
      { after: deep },
    ),
    ...['payouts', 'stuck', 'unanswered'].map((kind) => page('queue', `/waiting/${kind}`)),
    page('item', `/transfers/${waiting.id}`),
    page('tenant', `/tenants/${tenantId}`),
    page('transfers', `/tenants/${tenantId}/transfers`, amount, text, days, { after: old }),
    page('transfers', `/tenants/${tenantId}/transfers`, { status: 'completed', ...days }),
    page('account', `/accounts/${busy}`),
    page('movements', `/accounts/${busy}/movements`, amount, text, days, { after: '20000' }),
    page('batch', `/batches/${batch.id}`),
    page('rows', `/batches/${batch.id}/rows`, { status: 'failed' }, { text: 'NOV-77' }, far),
    page('problems', `/batches/${batch.id}/problems`, { code: 'malformed' }, far),
    page('decided', '/decided', { day }, { day, person: 'bench' }),
  ].flat();
  return { pages, searches: searchesOf(ledger, waiting.id, day) };
}

/** Returns searches by everything that people ask for. */
function searchesOf({ shape }: Ledger, id: string, day: string): readonly ListedRequest[] {
  const random = new Random(9);
  const kinds: Readonly<Record<string, (digits: string) => Query>> = {
    name: (digits) => ({ text: `perez ${digits}` }),
    'common word': () => ({ text: 'factura mes' }),
    'unknown word': (digits) => ({ text: `nobody ${digits}` }),
    phone: (digits) => ({ text: digits }),
    alias: (digits) => ({ text: `$bench-${digits}` }),
    'beginning of an id': () => ({ text: id.slice(0, 13) }),
    metadata: (digits) => ({ text: invoiceOf(Number(digits) % 1_000) }),
    amount: (digits) => ({ text: `${(Number(digits) % 9) + 1}.000` }),
    'amount and name': (digits) => ({ text: `Tienda ${digits} 3,000` }),
    'amount and day': () => ({ amount: '3,000', day }),
    'word and day': () => ({ text: 'factura', day }),
  };
  return Object.entries(kinds).flatMap(([label, queryOf]) =>
    Array.from({ length: TEXTS }, () => {
      const digits = String(random.below(shape.accounts)).padStart(7, '0');
      const query = new URLSearchParams(queryOf(digits)).toString();
      return { path: `/search?${query}`, labels: [label] };
    }),
  );
}
