import { parseAlias, parsePhone } from '../../accounts/identifiers.js';
import type { Asset } from '../../core/amount.js';
import { dayNamed } from '../../core/calendar.js';
import { firstIdAt, parseUuid, timeOfId, type Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import { string, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { type BonusBatch, bonusBatches, bonuses } from '../../db/entities/bonuses.js';
import { events } from '../../db/entities/events.js';
import { idempotencyKeys, ledgerTransactions } from '../../db/entities/ledger.js';
import {
  type Adjustment,
  adjustments,
  payIns,
  type Transfer,
  transfers,
} from '../../db/entities/operations.js';
import { type Account, accounts, type Tenant, tenants } from '../../db/entities/parties.js';
import { type Payout, payouts } from '../../db/entities/payouts.js';
import { type WebhookEndpoint, webhookEndpoints } from '../../db/entities/webhooks.js';
import { columnList, literal } from '../../db/statements.js';
import { parseRow, type Table } from '../../db/table.js';

export interface AmountRange {
  readonly asset: Asset;
  readonly least: bigint;
  readonly most: bigint;
}

/** Rows of each kind of resource that the desk lists. */
export interface Rows {
  readonly transfers: Transfer;
  readonly payouts: Payout;
  readonly batches: BonusBatch;
  readonly endpoints: WebhookEndpoint;
  readonly adjustments: Adjustment;
  readonly accounts: Account;
  readonly tenants: Tenant;
}
export const TABLES: { readonly [Kind in keyof Rows]: Table<Rows[Kind]> } = {
  ...{ transfers, payouts, batches: bonusBatches, endpoints: webhookEndpoints },
  ...{ adjustments, accounts, tenants },
};
const KINDS = Object.keys(TABLES) as readonly (keyof Rows)[];
export type SearchResult = { readonly [Kind in keyof Rows]: readonly Rows[Kind][] };
const NOTHING = Object.fromEntries(KINDS.map((kind) => [kind, []])) as unknown as SearchResult;

export const MAX_FOUND = 25;
/** Maximum of rows of a table that one search examines. */
const MAX_EXAMINED = 200_000;

/** Returns the id, and the resource of an event, a posting, a bonus or a pay-in with this id. */
async function idsAbout(reader: Reader, id: Uuid): Promise<readonly Uuid[]> {
  const [event, posting, bonus, payIn] = await Promise.all([
    reader.find(events, { id }),
    reader.find(ledgerTransactions, { id }),
    reader.find(bonuses, { id }),
    reader.find(payIns, { id }),
  ]);
  const about = [
    event?.resourceId,
    posting?.relatedId,
    bonus?.batchId ?? bonus?.sourceAccountId,
    payIn?.accountId,
  ];
  return [id, ...about.flatMap((one) => one ?? [])];
}

/** Returns what `read` finds of each of these kinds, and nothing of the others. */
async function findEach<Kind extends keyof Rows>(
  kinds: readonly Kind[],
  read: (table: Table<{ readonly id: Uuid }>, kind: Kind) => Promise<readonly unknown[]>,
): Promise<SearchResult> {
  const found = await Promise.all(
    kinds.map(async (kind) => [kind, await read(TABLES[kind] as Table<never>, kind)] as const),
  );
  return { ...NOTHING, ...Object.fromEntries(found) };
}

async function findResources(reader: Reader, ids: readonly Uuid[]): Promise<SearchResult> {
  const id = [...new Set(ids)];
  const found = await findEach(KINDS, (table) => reader.select(table, { id }));
  return { ...found, accounts: found.accounts.filter(({ type }) => type !== 'system') };
}

/** Finds the first resources whose id begins with the text, which has at least 8 digits. */
async function findByIdBeginning(reader: Reader, text: string): Promise<SearchResult> {
  const digits = text.toLowerCase().replaceAll('-', '');
  const isBeginning = /^[0-9a-f]{8,31}$/.test(digits);
  return findEach(isBeginning ? KINDS : [], (table) =>
    reader.list(
      table,
      `FORCE INDEX (PRIMARY) WHERE id BETWEEN x'${digits.padEnd(32, '0')}' AND x'${digits.padEnd(32, 'f')}'
       ${table === TABLES.accounts ? "AND type<>'system'" : ''} ORDER BY id LIMIT ${MAX_FOUND}`,
    ),
  );
}

/** Returns the time in a time-ordered id, or null for another kind of id. */
export function madeAt(id: Uuid): Instant | null {
  return id[14] === '7' ? instant(timeOfId(id)) : null;
}

/** Time after a request within which its operation is created. */
const REQUEST_MS = 10_000;

/** Returns operations created right after a request arrived. */
export async function findMadeAfter(reader: Reader, at: Instant): Promise<SearchResult> {
  const window = { from: at, to: instant(at + REQUEST_MS), timeZone: null };
  return (await findMadeWithin(reader, [window], { amounts: null, about: null })).found;
}

/** A time span for the tenants of one time zone, or for all tenants if `timeZone` is null. */
interface Window {
  readonly from: Instant;
  readonly to: Instant;
  readonly timeZone: string | null;
}

/** Returns the day in each time zone of tenants, or an empty list for an invalid day. */
export async function windowsOf(reader: Reader, day: string): Promise<readonly Window[]> {
  const rows = await reader.query("SELECT time_zone FROM tenants UNION SELECT 'UTC'");
  return rows.flatMap((row) => {
    const timeZone = string.parse(row.time_zone);
    const named = dayNamed(day, timeZone);
    return named === null ? [] : [{ ...named, timeZone }];
  });
}

/** Returns the SQL condition that the row `t` of tenant `o` was created in the window. */
function withinSql({ from, to, timeZone }: Window): string {
  const within = `t.id>=${uuid.literal(firstIdAt(from))} AND t.id<${uuid.literal(firstIdAt(to))}`;
  return timeZone === null
    ? `(${within})`
    : `(${within} AND o.time_zone=${string.literal(timeZone)})`;
}

/** Finds accounts by alias or phone, by an index that starts with the tenant. */
async function idsNamed(reader: Reader, text: string): Promise<readonly Uuid[]> {
  const alias = parseAlias(text);
  const phone = parsePhone(text);
  if (alias === null && phone === null) return [];
  const rows = await reader.query(
    alias !== null
      ? `SELECT a.id FROM tenants t STRAIGHT_JOIN accounts a ON a.tenant_id=t.id
         AND a.alias=${literal(accounts, 'alias', alias)} LIMIT ${MAX_FOUND}`
      : `SELECT a.id FROM accounts a WHERE a.phone=${literal(accounts, 'phone', phone)} LIMIT ${MAX_FOUND}`,
  );
  return rows.map((row) => uuid.parse(row.id));
}

/** Finds what an idempotency key or an operator's reference of any tenant created. */
async function idsOfKey(reader: Reader, key: string): Promise<readonly Uuid[]> {
  // No key has other characters, and MySQL cannot compare the column with them.
  if (!/^[\x20-\x7e]*$/.test(key)) return [];
  const keys = [key, `ops/${key}`].map((one) => string.literal(one));
  const rows = await reader.query(
    `SELECT k.resource_id FROM tenants t STRAIGHT_JOIN idempotency_keys k FORCE INDEX (PRIMARY) ON k.tenant_id=t.id
     AND k.${idempotencyKeys.column('idempotencyKey').name} IN (${keys.join(',')}) WHERE k.resource_id IS NOT NULL LIMIT ${MAX_FOUND}`,
  );
  const found = await Promise.all(rows.map((row) => idsAbout(reader, uuid.parse(row.resource_id))));
  return found.flat();
}

interface MadeWithin {
  readonly found: SearchResult;
  readonly stoppedAt: Instant | null;
}

/** Restricts operations. Null means any. */
interface OperationFilter {
  readonly amounts: readonly AmountRange[] | null;
  /**
   * Ids of operations, or of their tenants or accounts, and a part of a text of the operation.
   */
  readonly about: { readonly ids: readonly Uuid[]; readonly text: string } | null;
}

/** Columns with ids of the kinds whose rows have an amount. */
const ABOUT = {
  transfers: ['id', 'tenant_id', 'source_account_id', 'destination_account_id'],
  payouts: ['id', 'tenant_id', 'source_account_id'],
  batches: ['id', 'tenant_id', 'source_account_id'],
  adjustments: ['id', 'tenant_id', 'account_id'],
} as const;
/** Columns of which any part is found, in any case and without accents. */
const TEXTS: Readonly<Record<keyof typeof ABOUT, string>> = {
  transfers: 't.description',
  payouts: "CONCAT_WS(' ', t.rail_reference, t.holder_name, t.description)",
  batches: 't.description',
  adjustments: 't.reason',
};
const OPERATIONS = Object.keys(ABOUT) as readonly (keyof typeof ABOUT)[];

function filterSql(kind: keyof typeof ABOUT, { amounts, about }: OperationFilter): string {
  const sum = kind === 'batches' ? 'total_raw' : 'raw';
  const ranges = amounts?.map(
    ({ asset, least, most }) =>
      `(t.asset=${string.literal(asset)} AND t.${sum} BETWEEN ${least} AND ${most})`,
  );
  const ids = about?.ids.map((id) => uuid.literal(id)).join(',') ?? '';
  const named = ids === '' ? [] : ABOUT[kind].map((column) => `t.${column} IN (${ids})`);
  if (about !== null) named.push(likeSql(TEXTS[kind], '%', about.text));
  return [ranges, about && named]
    .map((some) => (some ? ` AND (${['FALSE', ...some].join(' OR ')})` : ''))
    .join('');
}

/** Returns operations created in these windows, oldest first. */
export async function findMadeWithin(
  reader: Reader,
  windows: readonly Window[],
  filter: OperationFilter,
): Promise<MadeWithin> {
  const from = instant(Math.min(...windows.map((window) => window.from)));
  const to = instant(Math.max(...windows.map((window) => window.to)));
  const first = uuid.literal(firstIdAt(from));
  const stops: Instant[] = [];
  const found = await findEach(OPERATIONS, async (table, kind) => {
    const [last] = await reader.query(
      `SELECT id FROM ${table.name} FORCE INDEX (PRIMARY) WHERE id>=${first} AND id<${uuid.literal(firstIdAt(to))}
       ORDER BY id LIMIT 1 OFFSET ${MAX_EXAMINED}`,
    );
    const stop = last === undefined ? null : uuid.parse(last.id);
    const rows = await reader.query(
      `SELECT ${columnList(table, 't')} FROM ${table.name} t FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tenants o ON o.id=t.tenant_id
       WHERE t.id>=${first} AND t.id<${uuid.literal(stop ?? firstIdAt(to))}${filterSql(kind, filter)}
       AND (${windows.map(withinSql).join(' OR ')}) ORDER BY t.id LIMIT ${MAX_FOUND + 1}`,
    );
    const items = rows.map((row) => parseRow(table, row));
    const end = items[MAX_FOUND]?.id ?? stop;
    if (end !== null) stops.push(instant(timeOfId(end)));
    return items.slice(0, MAX_FOUND);
  });
  return { found, stoppedAt: stops.length === 0 ? null : instant(Math.min(...stops)) };
}

export function countFound(found: SearchResult): number {
  return Object.values(found).reduce((sum, items) => sum + items.length, 0);
}

const MIN_BEGINNING = 2;

/** Searches by id, alias, phone or key, or else by the beginning of a name or reference. */
export async function findByText(reader: Reader, text: string): Promise<SearchResult> {
  const id = parseUuid(text);
  if (id !== null) {
    const found = await findResources(reader, await idsAbout(reader, id));
    if (countFound(found) > 0) return found;
  }
  const [named, keyed] = await Promise.all([idsNamed(reader, text), idsOfKey(reader, text)]);
  const exact = await findResources(reader, [...named, ...keyed]);
  if (countFound(exact) > 0 || text.length < MIN_BEGINNING || id !== null) return exact;
  const byIdBeginning = await findByIdBeginning(reader, text);
  if (countFound(byIdBeginning) > 0) return byIdBeginning;
  const [namedLike, referencedLike] = await Promise.all([
    idsNamedLike(reader, text),
    idsReferencedLike(reader, text),
  ]);
  const about = await Promise.all(referencedLike.map((one) => idsAbout(reader, one)));
  return findResources(reader, [...namedLike, ...about.flat()]);
}

/** Returns the last days, for searches that name none. */
export function recentWindow(now: Instant): Window {
  return { from: instant(now - RECENT_DAYS * 86_400_000), to: instant(now + 1), timeZone: null };
}
export const RECENT_DAYS = 7;

const MAX_OF_EACH = 25;
const TENANTS_A_STATEMENT = 100;
/** Keys are UUIDs: a shorter beginning is more likely an amount. */
const MIN_KEY_LENGTH = 8;

function beginsSql(columnName: string, text: string): string {
  return `${columnName} LIKE ${patternSql('', text)}`;
}

/** Compares without accents and case, for which no index helps. */
function likeSql(textSql: string, before: '' | '%', text: string): string {
  return `${textSql} COLLATE utf8mb4_general_ci LIKE ${patternSql(before, text)}`;
}

/** Returns a pattern for `LIKE` that matches what follows `before` and begins with the text. */
function patternSql(before: '' | '%', text: string): string {
  return string.literal(`${before}${text.replace(/[\\%_]/g, '\\$&')}%`);
}

const MARKS = ['', ...'\u0300\u0301\u0302\u0303\u0308\u0327'];

/** Returns the letter in both cases, without and with each accent. */
function variantsOf(letter: string): readonly string[] {
  return [letter.toLowerCase(), letter.toUpperCase()]
    .flatMap((one) => MARKS.map((mark) => `${one}${mark}`.normalize('NFC')))
    .filter((one) => [...one].length === 1);
}

/**
 * Returns the ids of accounts and tenants whose name begins with the text, without accents and case.
 * The index on the name finds those with the first two letters in any form.
 */
async function idsNamedLike(reader: Reader, text: string): Promise<readonly Uuid[]> {
  const [first = '', second = ''] = text.normalize('NFD').replace(/\p{M}/gu, '');
  const starts = variantsOf(first).flatMap((one) => variantsOf(second).map((two) => one + two));
  const begins = starts.map((start) => beginsSql('name', start)).join(' OR ');
  const like = `(${begins || 'FALSE'}) AND ${likeSql('name', '', text)}`;
  const rows = await reader.query(
    `(SELECT id FROM tenants WHERE ${like} LIMIT ${MAX_OF_EACH}) UNION ALL
     (SELECT id FROM accounts FORCE INDEX (by_name) WHERE ${like} AND type<>'system' LIMIT ${MAX_OF_EACH})`,
  );
  return rows.map((row) => uuid.parse(row.id));
}

/**
 * Returns the ids of resources whose reference or idempotency key begins with the text. The indexes
 * start with the tenant, so each tenant is searched by a range of its own.
 */
async function idsReferencedLike(reader: Reader, text: string): Promise<readonly Uuid[]> {
  if (!/^[\x20-\x7e]*$/.test(text)) return [];
  const owners = await reader.query(`SELECT id FROM tenants`);
  const some = `LIMIT ${MAX_OF_EACH}`;
  const begins = beginsSql('reference', text);
  const parts = owners.flatMap((row) => {
    const owner = `tenant_id=${uuid.literal(uuid.parse(row.id))}`;
    const keys = (start: string): string =>
      `(SELECT resource_id AS id FROM idempotency_keys FORCE INDEX (PRIMARY) WHERE ${owner}
        AND ${beginsSql('idempotency_key', start)} AND resource_id IS NOT NULL ${some})`;
    return [
      `(SELECT id FROM adjustments FORCE INDEX (reference) WHERE ${owner} AND ${begins} ${some})`,
      ...(text.length < MIN_KEY_LENGTH ? [] : [keys(text)]),
      keys(`ops/${text}`),
    ];
  });
  const groups = Array.from({ length: Math.ceil(parts.length / TENANTS_A_STATEMENT) }, (_, index) =>
    parts.slice(index * TENANTS_A_STATEMENT, (index + 1) * TENANTS_A_STATEMENT),
  );
  const own = `(SELECT id FROM bonus_references WHERE ${begins} ${some})`;
  const ofRows = `(SELECT batch_id AS id FROM bonus_batch_rows FORCE INDEX (reference) WHERE ${begins} ${some})`;
  const found: Uuid[] = [];
  for (const group of [[own, ofRows], ...groups]) {
    if (found.length >= MAX_OF_EACH) break;
    const rows = await reader.query(`${group.join(' UNION ALL ')} ${some}`);
    found.push(...rows.map((row) => uuid.parse(row.id)));
  }
  return [...new Set(found)];
}
