import { batchPath } from '../../batches/rules.js';
import { parseAlias, parsePhone } from '../../accounts/recipients.js';
import { groupBy } from '../../core/collections.js';
import { firstIdAt, parseUuid, timeOfId, type Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import { normaliseText } from '../../core/text.js';
import { uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { type Batch, batches } from '../../db/entities/batches.js';
import { bonuses } from '../../db/entities/bonuses.js';
import { events } from '../../db/entities/events.js';
import { idempotencyKeys, ledgerTransactions } from '../../db/entities/ledger.js';
import { METADATA_TYPES, metadataPairs } from '../../db/entities/metadata.js';
import { adjustments, payIns, transfers } from '../../db/entities/operations.js';
import { accounts, tenants } from '../../db/entities/parties.js';
import type { WorkflowResourceType } from '../../db/entities/outbox.js';
import { payouts } from '../../db/entities/payouts.js';
import { schedules } from '../../db/entities/schedules.js';
import { webhookEndpoints } from '../../db/entities/webhooks.js';
import { hashOf } from '../../db/metadata-index.js';
import { likeSql, literal, patternSql } from '../../db/statements.js';
import type { RowOf, Table } from '../../db/table.js';
import { wordsOf } from '../../operations/search-words.js';

/** The table of each kind of resource that the desk lists, in the order of search results. */
export const TABLES = {
  tenants,
  accounts,
  transfers,
  bonuses,
  payouts,
  schedules,
  batches,
  adjustments,
  payIns,
  endpoints: webhookEndpoints,
};
export type Rows = { readonly [Kind in keyof typeof TABLES]: RowOf<(typeof TABLES)[Kind]> };
export type ResourcePath = keyof Rows | 'payout_batches' | 'events';

/** The page of each type of resource that the audit log names. */
export const RESOURCE_PATHS: Readonly<Record<string, ResourcePath>> = {
  transfer: 'transfers',
  bonus: 'bonuses',
  payout: 'payouts',
  adjustment: 'adjustments',
  bonus_batch: 'batches',
  payout_batch: 'payout_batches',
  schedule: 'schedules',
  webhook_endpoint: 'endpoints',
  account: 'accounts',
  event: 'events',
} satisfies Record<
  WorkflowResourceType | 'bonus' | 'adjustment' | 'account' | 'event',
  ResourcePath
>;

export const KINDS = Object.keys(TABLES) as readonly (keyof Rows)[];
export type SearchResult = { readonly [Kind in keyof Rows]: readonly Rows[Kind][] };
const NOTHING = Object.fromEntries(KINDS.map((kind) => [kind, []])) as unknown as SearchResult;

/** Maximum of results of each kind. */
export const MAX_FOUND = 25;

/** Returns the id, and the resource of an event, a posting or a pay-in with this id. */
async function idsAbout(reader: Reader, id: Uuid): Promise<readonly Uuid[]> {
  const [event, posting, payIn] = await Promise.all([
    reader.find(events, { id }),
    reader.find(ledgerTransactions, { id }),
    reader.find(payIns, { id }),
  ]);
  const about = [event?.resourceId, posting?.relatedId, payIn?.accountId];
  return [id, ...about.flatMap((one) => one ?? [])];
}

/** Calls `read` for each of these kinds. The result is empty for all other kinds. */
export async function findEach<Kind extends keyof Rows>(
  kinds: readonly Kind[],
  read: (table: Table<{ readonly id: Uuid }>, kind: Kind) => Promise<readonly unknown[]>,
): Promise<SearchResult> {
  const found = await Promise.all(
    kinds.map(async (kind) => [kind, await read(TABLES[kind] as Table<never>, kind)] as const),
  );
  return { ...NOTHING, ...Object.fromEntries(found) };
}

/** Returns the newest `most` of each kind, or all. */
export async function findResources(
  reader: Reader,
  ids: readonly Uuid[],
  most?: number,
): Promise<SearchResult> {
  const found = [...new Set(ids)].map((id) => uuid.literal(id));
  const newest = most === undefined ? '' : `ORDER BY id DESC LIMIT ${most}`;
  return found.length === 0
    ? NOTHING
    : findWhere(reader, `WHERE id IN (${found.join(',')})`, newest);
}

/** Finds the ids in all tables by one statement, because most tables have none, and then reads the rows. */
async function findWhere(reader: Reader, where: string, end: string): Promise<SearchResult> {
  const parts = KINDS.map((kind) => {
    const isListed = kind === 'accounts' ? " AND type<>'system'" : '';
    return `(SELECT '${kind}' AS kind, id FROM ${TABLES[kind].name} FORCE INDEX (PRIMARY) ${where}${isListed} ${end})`;
  });
  const ids = groupBy(await reader.query(parts.join(' UNION ALL ')), ({ kind }) => kind);
  return findEach(
    KINDS.filter((kind) => ids.has(kind)),
    (table, kind) =>
      reader.select(table, { id: (ids.get(kind) ?? []).map((row) => uuid.parse(row.id)) }),
  );
}

/** Returns the condition that an id is or begins with the text; null if it has not 8 to 32 digits. */
export function idBeginsSql(text: string): string | null {
  const digits = text.toLowerCase().replaceAll('-', '');
  if (!/^[0-9a-f]{8,32}$/.test(digits)) return null;
  return `id BETWEEN x'${digits.padEnd(32, '0')}' AND x'${digits.padEnd(32, 'f')}'`;
}

export async function findByIdBeginning(reader: Reader, text: string): Promise<SearchResult> {
  const begins = idBeginsSql(text);
  return begins === null
    ? NOTHING
    : findWhere(reader, `WHERE ${begins}`, `ORDER BY id LIMIT ${MAX_FOUND}`);
}

/** Returns the time in a time-ordered id, or null for another kind of id. */
export function creationTimeOf(id: Uuid): Instant | null {
  return id[14] === '7' ? instant(timeOfId(id)) : null;
}

/** Finds accounts by alias or phone, by an index that starts with the tenant. */
export async function idsNamed(reader: Reader, text: string): Promise<readonly Uuid[]> {
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

/** Returns up to 200 aliases of any tenant that begin so, by an index that starts with the tenant. */
export async function aliasesBeginning(
  reader: Reader,
  beginning: string,
): Promise<readonly string[]> {
  // No character of an alias comes after the tilde.
  const [first, last] = [beginning, `${beginning}~`].map((alias) =>
    literal(accounts, 'alias', alias.toLowerCase()),
  );
  const rows = await reader.query(
    `SELECT DISTINCT a.alias FROM tenants t STRAIGHT_JOIN accounts a ON a.tenant_id=t.id
     AND a.alias BETWEEN ${first} AND ${last} LIMIT 200`,
  );
  return rows.map(({ alias }) => String(alias));
}

/** Finds what an idempotency key or an operator's reference of any tenant created. */
async function idsOfKey(reader: Reader, key: string): Promise<readonly Uuid[]> {
  // No key has other characters, and MySQL cannot compare the column with them.
  if (!/^[\x20-\x7e]*$/.test(key)) return [];
  // With IN instead, the join would read all keys of each tenant.
  const parts = [key, `ops/${key}`].map(
    (
      one,
    ) => `SELECT k.resource_id AS id FROM tenants t STRAIGHT_JOIN idempotency_keys k FORCE INDEX (PRIMARY)
      ON k.tenant_id=t.id AND k.idempotency_key=${literal(idempotencyKeys, 'idempotencyKey', one)} WHERE k.resource_id IS NOT NULL`,
  );
  return idsAboutAll(reader, parts);
}

/** Returns the ids of these SELECTs, and those of what they are about. */
async function idsAboutAll(reader: Reader, parts: readonly string[]): Promise<readonly Uuid[]> {
  const rows = await reader.query(`${parts.join(' UNION ALL ')} LIMIT ${MAX_FOUND}`);
  const found = await Promise.all(rows.map((row) => idsAbout(reader, uuid.parse(row.id))));
  return found.flat();
}

/** Finds operations of any tenant by a value of their metadata. */
async function idsLabelled(reader: Reader, value: string): Promise<readonly Uuid[]> {
  const hash = literal(metadataPairs, 'valueHash', hashOf(normaliseText(value)));
  const parts = METADATA_TYPES.map(
    (type) => `SELECT p.id FROM tenants t STRAIGHT_JOIN metadata_pairs p FORCE INDEX (PRIMARY)
      ON p.tenant_id=t.id AND p.resource_type=${literal(metadataPairs, 'resourceType', type)} AND p.value_hash=${hash}`,
  );
  return idsAboutAll(reader, parts);
}

/** Finds webhook endpoints whose URL begins with the text. */
async function idsOfUrl(reader: Reader, text: string): Promise<readonly Uuid[]> {
  if (!/^https?:\/\/./i.test(text)) return [];
  const own = `${beginsSql('url', text)} AND status<>'deleted'`;
  const rows = await reader.query(
    `SELECT id FROM webhook_endpoints WHERE ${own} LIMIT ${MAX_FOUND}`,
  );
  return rows.map((row) => uuid.parse(row.id));
}

export function countFound(found: SearchResult): number {
  return Object.values(found).reduce((sum, items) => sum + items.length, 0);
}

type PathAndId = readonly [Exclude<keyof Rows, 'payIns'> | 'payout_batches', Uuid];

/** Returns the path of the only resource that an id finds, or null if it finds none or several. */
export async function findOnly(reader: Reader, text: string): Promise<PathAndId | null> {
  const id = parseUuid(text);
  if (id === null) return null;
  const found = await findResources(reader, await idsAbout(reader, id));
  // A pay-in has no page of its own, but its account has.
  const all = KINDS.flatMap((kind) =>
    found[kind].flatMap((row): PathAndId[] => {
      if (kind === 'payIns') return [];
      const path = kind === 'batches' ? batchPath((row as Batch).kind) : kind;
      return [[path, row.id]];
    }),
  );
  return all.length === 1 ? (all[0] ?? null) : null;
}

const MIN_BEGINNING = 2;

/** Searches by id, alias, phone, key, metadata or URL, or else by the beginning of a name or reference. */
export async function findByText(
  reader: Reader,
  text: string,
  now: Instant,
): Promise<SearchResult> {
  const id = parseUuid(text);
  if (id !== null) {
    const found = await findResources(reader, await idsAbout(reader, id));
    if (countFound(found) > 0) return found;
  }
  const [ofAlias, ...exactly] = await Promise.all([
    // People leave the sign out. An amount is not an alias.
    /[a-z]/i.test(text) ? idsNamed(reader, `$${text}`) : [],
    ...[idsNamed, idsOfKey, idsLabelled, idsOfUrl].map((find) => find(reader, text)),
  ]);
  const exact = await findResources(reader, exactly.flat());
  if (countFound(exact) > 0 || text.length < MIN_BEGINNING || id !== null)
    return ofAlias.length === 0 ? exact : findResources(reader, [...exactly.flat(), ...ofAlias]);
  const byIdBeginning = await findByIdBeginning(reader, text);
  if (countFound(byIdBeginning) > 0) return byIdBeginning;
  const [namedLike, referencedLike] = await Promise.all([
    idsNamedLike(reader, text, now),
    idsReferencedLike(reader, text),
  ]);
  const about = await Promise.all(referencedLike.map((one) => idsAbout(reader, one)));
  return findResources(reader, [...ofAlias, ...namedLike, ...about.flat()]);
}

const TENANTS_PER_STATEMENT = 100;
/** Keys are UUIDs: a shorter beginning is more likely an amount. */
const MIN_KEY_LENGTH = 8;

function beginsSql(columnName: string, text: string): string {
  return `${columnName} LIKE ${patternSql('', text)}`;
}

/** Age from which the index of words has an account or operation. */
export const FRESH_MS = 3 * 60_000;

/**
 * Returns the ids of tenants whose name begins with the text, and of accounts opened in the last
 * minutes whose name has its words, without accents and case.
 */
async function idsNamedLike(reader: Reader, text: string, now: Instant): Promise<readonly Uuid[]> {
  const like = likeSql('name', '', text);
  const words = wordsOf(text).map(
    (word) => `(${likeSql('name', '', word)} OR ${likeSql('name', '% ', word)})`,
  );
  const isFresh = `id>=${uuid.literal(firstIdAt(now - FRESH_MS))}`;
  const rows = await reader.query(
    `(SELECT id FROM tenants WHERE ${like} LIMIT ${MAX_FOUND}) UNION ALL
     (SELECT id FROM accounts FORCE INDEX (PRIMARY) WHERE ${isFresh} AND ${words.join(' AND ') || like} AND type<>'system' LIMIT ${MAX_FOUND})`,
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
  const some = `LIMIT ${MAX_FOUND}`;
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
  const groups = Array.from(
    { length: Math.ceil(parts.length / TENANTS_PER_STATEMENT) },
    (_, index) => parts.slice(index * TENANTS_PER_STATEMENT, (index + 1) * TENANTS_PER_STATEMENT),
  );
  const own = `(SELECT id FROM bonus_references WHERE ${begins} ${some})`;
  const ofRow = (columns: string): string =>
    `(SELECT ${columns} FROM batch_rows FORCE INDEX (reference) WHERE ${begins} ${some})`;
  // Each batch once, because its rows would leave no place for what they paid.
  const ofRows = `(SELECT DISTINCT batch_id AS id FROM ${ofRow('batch_id')} r)`;
  const paidByRows = ofRow('COALESCE(payment_id, batch_id) AS id');
  const found: Uuid[] = [];
  for (const group of [[own, ofRows, paidByRows], ...groups]) {
    if (found.length >= MAX_FOUND) break;
    const rows = await reader.query(`${group.join(' UNION ALL ')} ${some}`);
    found.push(...rows.map((row) => uuid.parse(row.id)));
  }
  return [...new Set(found)];
}
