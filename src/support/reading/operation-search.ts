import type { AmountRange, Asset } from '../../core/amount.js';
import { type Instant, instant } from '../../core/instant.js';
import { firstIdAt, timeOfId, type Uuid } from '../../core/ids.js';
import { nullable, string, time, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { amountsSql, columnList, likeSql } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';
import { accountNameSql } from '../../operations/list-search.js';
import { PAYOUT_IDS_OLDER_BY_MS } from '../../payouts/rules.js';
import { findEach, MAX_FOUND, type SearchResult, TABLES } from './search.js';

/** Finds operations by their time, and within it by amount and text, for which no index exists. */

/** Maximum of rows of a table that one search examines. */
const MAX_EXAMINED = 5_000;

/** A time span for the tenants of one time zone, or for all tenants if `timeZone` is null. */
export interface Window {
  readonly from: Instant;
  /** Inclusive. */
  readonly to: Instant;
  readonly timeZone: string | null;
}

/** Returns a time span for each time zone of tenants. */
export async function windowsOf(
  reader: Reader,
  spanIn: (timeZone: string) => Omit<Window, 'timeZone'>,
): Promise<readonly Window[]> {
  const rows = await reader.query("SELECT time_zone FROM tenants UNION SELECT 'UTC'");
  return rows.map((row) => {
    const timeZone = string.parse(row.time_zone);
    return { ...spanIn(timeZone), timeZone };
  });
}

/** Returns the SQL condition that the row `t` of tenant `o` was created in the window. */
function withinSql(kind: DatedKind, { from, to, timeZone }: Window): string {
  const within =
    kind === 'payouts'
      ? `t.created_at>=${time.literal(from)} AND t.created_at<=${time.literal(to)}`
      : `t.id>=${uuid.literal(firstIdAt(from))} AND t.id<${uuid.literal(firstIdAt(to + 1))}`;
  return timeZone === null
    ? `(${within})`
    : `(${within} AND o.time_zone=${string.literal(timeZone)})`;
}

/** Returns the last days, for searches that name none. */
export function recentWindow(now: Instant, ms = RECENT_DAYS * 86_400_000): Window {
  return { from: instant(now - ms), to: now, timeZone: null };
}
export const RECENT_DAYS = 7;

/** Conditions of which an operation meets one. */
export interface About {
  /** Ids of operations, or of their tenants or accounts. */
  readonly ids: readonly Uuid[];
  /** A part of a text of the operation. */
  readonly text: string;
  /**
   * Terms of which the operation has one in its text or amount, and each of the others there or in
   * the name of an account.
   */
  readonly terms: readonly Term[];
  /** Asset of an operation with these terms. Null means any. */
  readonly asset: Asset | null;
}

/** Words and amounts, of which one is enough. */
interface Term {
  readonly words: readonly string[];
  readonly amounts: readonly AmountRange[];
}

/** Restricts operations. Null means any. */
interface OperationFilter {
  readonly amounts: readonly AmountRange[] | null;
  readonly about: About | null;
  /** By default all but bonuses. */
  readonly kinds?: readonly DatedKind[];
}

/** Columns with ids of the kinds that a time finds. */
const ID_COLUMNS = {
  transfers: ['id', 'tenant_id', 'source_account_id', 'destination_account_id'],
  payouts: ['id', 'tenant_id', 'source_account_id'],
  batches: ['id', 'tenant_id', 'source_account_id'],
  adjustments: ['id', 'tenant_id', 'account_id'],
  payIns: ['id', 'tenant_id', 'account_id'],
  bonuses: ['id', 'tenant_id', 'source_account_id', 'recipient_account_id'],
} as const;
type DatedKind = keyof typeof ID_COLUMNS;
/** Columns of which any part is found, in any case and without accents. */
const TEXT_SQL: Readonly<Record<DatedKind, string>> = {
  transfers: 't.description',
  payouts: "CONCAT_WS(' ', t.rail_reference, t.holder_name, t.description)",
  batches: 't.description',
  adjustments: 't.reason',
  payIns: 't.description',
  bonuses: 't.description',
};
export const DATED_KINDS = Object.keys(ID_COLUMNS) as readonly DatedKind[];
/** Bonuses are many, and are found by words and amounts. */
const EXAMINED_KINDS = DATED_KINDS.filter((kind) => kind !== 'bonuses');

function termsSql(kind: DatedKind, rawSql: string, { terms, asset }: About): string {
  // The reference of a rail is not words.
  const textSql =
    kind === 'payouts' ? "CONCAT_WS(' ', t.holder_name, t.description)" : TEXT_SQL[kind];
  const own = terms.map(({ words, amounts }) =>
    [
      amountsSql('t.asset', rawSql, amounts),
      ...words.map((word) => likeSql(textSql, '%', word)),
    ].join(' OR '),
  );
  const parties = ID_COLUMNS[kind].filter((column) => column.endsWith('account_id'));
  const named = terms.map(({ words }) =>
    words.flatMap((word) =>
      parties.map((column) => ` OR ${likeSql(accountNameSql(`t.${column}`), '%', word)}`),
    ),
  );
  const each = terms.map((_, index) => `(${own[index]}${named[index]?.join('')})`);
  const ofAsset = asset === null ? [] : [`t.asset=${string.literal(asset)}`];
  return `(${[`(${own.join(' OR ')})`, ...each, ...ofAsset].join(' AND ')})`;
}

function filterSql(kind: DatedKind, { amounts, about }: OperationFilter): string {
  const sum = kind === 'batches' ? 'total_raw' : 'raw';
  const ids = about?.ids.map((id) => uuid.literal(id)).join(',') ?? '';
  const named = ids === '' ? [] : ID_COLUMNS[kind].map((column) => `t.${column} IN (${ids})`);
  if (about !== null) named.push(likeSql(TEXT_SQL[kind], '%', about.text));
  if (about !== null && about.terms.length > 0) named.push(termsSql(kind, `t.${sum}`, about));
  const ofAmount = amounts === null ? '' : ` AND ${amountsSql('t.asset', `t.${sum}`, amounts)}`;
  return ofAmount + (about === null ? '' : ` AND (${named.join(' OR ')})`);
}

/**
 * Returns operations created in these windows, newest first, before the id `newest`. `nextOf` has
 * the id of the last examined operation of each kind of which more may follow, and `next` the newest
 * of these, or null if all were examined.
 */
export async function findCreatedWithin(
  reader: Reader,
  windows: readonly Window[],
  filter: OperationFilter,
  newest: Uuid | null = null,
) {
  const oldest = Math.min(...windows.map(({ from }) => from));
  const end = newest ?? firstIdAt(Math.max(...windows.map(({ to }) => to)) + 1);
  const ends = await readEnds(reader, filter.kinds ?? EXAMINED_KINDS, oldest, end);
  const nextOf = new Map<string, Uuid>();
  const found = await findEach([...ends.keys()], async (table, kind) => {
    const { examined, stop } = ends.get(kind) ?? NO_END;
    const rows = await reader.query(
      `SELECT ${columnList(table, 't')} FROM ${table.name} t FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tenants o ON o.id=t.tenant_id
       WHERE ${examined}${stop === null ? '' : ` AND t.id>=${uuid.literal(stop)}`}
       AND (${windows.map((window) => withinSql(kind, window)).join(' OR ')})${filterSql(kind, filter)} ORDER BY t.id DESC LIMIT ${MAX_FOUND + 1}`,
    );
    const items = rows.map((row) => parseRow(table, row));
    const next = items.length > MAX_FOUND ? (items[MAX_FOUND - 1]?.id ?? null) : stop;
    if (next !== null) nextOf.set(kind, next);
    return items.slice(0, MAX_FOUND);
  });
  return { found, nextOf, next: [...nextOf.values()].sort().at(-1) ?? null };
}

interface End {
  /** SQL condition that the row `t` has an id of the time. */
  readonly examined: string;
  /** Id of the last row that one search examines. Null if it examines all. */
  readonly stop: Uuid | null;
}
const NO_END: End = { examined: 'FALSE', stop: null };

/** Returns where the search ends for each kind that has rows of the time, by one statement. */
async function readEnds(
  reader: Reader,
  kinds: readonly DatedKind[],
  oldest: number,
  end: Uuid,
): Promise<ReadonlyMap<DatedKind, End>> {
  const all = await Promise.all(
    kinds.map(async (kind) => {
      const since = await sinceSql(reader, kind, oldest);
      return { kind, examined: `t.id<${uuid.literal(end)} AND ${since}` };
    }),
  );
  const parts = all.map(({ kind, examined }) => {
    const rows = `SELECT t.id FROM ${TABLES[kind].name} t FORCE INDEX (PRIMARY) WHERE ${examined} ORDER BY t.id DESC LIMIT 1`;
    return `SELECT '${kind}' AS kind, (${rows}) AS newest, (${rows} OFFSET ${MAX_EXAMINED - 1}) AS stop`;
  });
  const rows = await reader.query(parts.join(' UNION ALL '));
  return new Map(
    all.flatMap(({ kind, examined }): [DatedKind, End][] => {
      const { newest = null, stop } = rows.find((row) => row.kind === kind) ?? {};
      return newest === null ? [] : [[kind, { examined, stop: nullableUuid.parse(stop) }]];
    }),
  );
}
const nullableUuid = nullable(uuid);

/** Returns the condition that an operation of this time or later may have the id of the row `t`. */
async function sinceSql(reader: Reader, kind: DatedKind, oldest: number): Promise<string> {
  const idAt = (at: number): string => uuid.literal(firstIdAt(at));
  const since = `t.id>=${idAt(oldest)}`;
  if (kind !== 'payouts') return since;
  // The validation of a batch makes the ids of its payouts, with the time of the batch's own id.
  const executed = await reader.query(
    `SELECT id FROM batches FORCE INDEX (PRIMARY) WHERE id>=${idAt(oldest - PAYOUT_IDS_OLDER_BY_MS)} AND id<${idAt(oldest)}
     AND kind='payout' AND executed_at IS NOT NULL AND (finished_at IS NULL OR finished_at>=${time.literal(instant(oldest))})`,
  );
  const ranges = executed.map((row) => {
    const at = timeOfId(uuid.parse(row.id));
    return ` OR t.id>=${idAt(at)} AND t.id<${idAt(at + 1)}`;
  });
  return `(${since}${ranges.join('')})`;
}

/** Time after a request within which its operation is created. */
const REQUEST_MS = 10_000;

/** Returns operations created right after a request arrived. */
export async function findCreatedAfter(reader: Reader, at: Instant): Promise<SearchResult> {
  const window = { from: at, to: instant(at + REQUEST_MS), timeZone: null };
  return (await findCreatedWithin(reader, [window], { amounts: null, about: null })).found;
}
