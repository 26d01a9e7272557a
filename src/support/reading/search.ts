import { parseAlias, parsePhone } from '../../accounts/identifiers.js';
import type { Asset } from '../../core/amount.js';
import { dayNamed } from '../../core/calendar.js';
import { firstIdAt, parseUuid, timeOfId, type Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import { string, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { bonuses, type BonusBatch, bonusBatches } from '../../db/entities/bonuses.js';
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
import { idsNamedLike, idsReferencedLike } from './search-beginnings.js';

/** Searches across all tenants, using the existing indexes. */

/** Amounts from `least` to `most`, both inclusive. */
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
export type SearchResult = { readonly [Kind in keyof Rows]: readonly Rows[Kind][] };

export const MAX_FOUND = 25;
/** Maximum of rows of a table that one search examines. */
const MAX_EXAMINED = 200_000;

/**
 * Returns the id, and the ids of related resources if it is the id of an event, a posting, a bonus
 * or a pay-in.
 */
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

async function findResources(reader: Reader, ids: readonly Uuid[]): Promise<SearchResult> {
  const id = [...new Set(ids)];
  const [ofTransfers, ofPayouts, batches, endpoints, ofAdjustments, ofAccounts, ofTenants] =
    await Promise.all([
      reader.select(transfers, { id }),
      reader.select(payouts, { id }),
      reader.select(bonusBatches, { id }),
      reader.select(webhookEndpoints, { id }),
      reader.select(adjustments, { id }),
      reader.select(accounts, { id }),
      reader.select(tenants, { id }),
    ]);
  const own = ofAccounts.filter(({ type }) => type !== 'system');
  return {
    transfers: ofTransfers,
    payouts: ofPayouts,
    batches,
    endpoints,
    adjustments: ofAdjustments,
    accounts: own,
    tenants: ofTenants,
  };
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
  return (await findMadeWithin(reader, [window], null)).found;
}

/** A time span for the tenants of one time zone, or for all tenants if `timeZone` is null. */
interface Window {
  readonly from: Instant;
  readonly to: Instant;
  readonly timeZone: string | null;
}

/**
 * Returns the time span of the day in each tenant's time zone. Returns an empty list for an invalid
 * day.
 */
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

/**
 * Returns accounts of any tenant by alias or phone. The only index starts with the tenant, so each
 * tenant is searched.
 */
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

/**
 * Returns the ids of resources created by an idempotency key of any tenant or an operator's
 * reference.
 */
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
  /** Time at which the search stopped early. */
  readonly stoppedAt: Instant | null;
}

/**
 * Returns operations created in these windows, oldest first. With `amounts`, returns only operations
 * whose amount is in one of these ranges.
 */
export async function findMadeWithin(
  reader: Reader,
  windows: readonly Window[],
  amounts: readonly AmountRange[] | null,
): Promise<MadeWithin> {
  const from = instant(Math.min(...windows.map((window) => window.from)));
  const to = instant(Math.max(...windows.map((window) => window.to)));
  const within = async <Row extends { readonly id: Uuid }>(table: Table<Row>, sum: string) => {
    const first = uuid.literal(firstIdAt(from));
    const [last] = await reader.query(
      `SELECT id FROM ${table.name} FORCE INDEX (PRIMARY) WHERE id>=${first} AND id<${uuid.literal(firstIdAt(to))}
       ORDER BY id LIMIT 1 OFFSET ${MAX_EXAMINED}`,
    );
    const stop = last === undefined ? null : uuid.parse(last.id);
    const ranges = amounts?.map(
      ({ asset, least, most }) =>
        `(t.asset=${string.literal(asset)} AND t.${sum} BETWEEN ${least} AND ${most})`,
    );
    const wanted = ranges === undefined ? '' : ` AND (${ranges.join(' OR ')})`;
    const rows = await reader.query(
      `SELECT ${columnList(table, 't')} FROM ${table.name} t FORCE INDEX (PRIMARY)
       STRAIGHT_JOIN tenants o ON o.id=t.tenant_id
       WHERE t.id>=${first} AND t.id<${uuid.literal(stop ?? firstIdAt(to))}${wanted}
       AND (${windows.map(withinSql).join(' OR ')}) ORDER BY t.id LIMIT ${MAX_FOUND + 1}`,
    );
    const items = rows.slice(0, MAX_FOUND).map((row) => parseRow(table, row));
    const next = rows[MAX_FOUND];
    const end = next === undefined ? stop : parseRow(table, next).id;
    return { items, stoppedAt: end === null ? null : timeOfId(end) };
  };
  const [ofTransfers, ofPayouts, batches, ofAdjustments] = await Promise.all([
    within(transfers, 'raw'),
    within(payouts, 'raw'),
    within(bonusBatches, 'total_raw'),
    within(adjustments, 'raw'),
  ]);
  const stops = [ofTransfers, ofPayouts, batches, ofAdjustments].flatMap(
    ({ stoppedAt }) => stoppedAt ?? [],
  );
  return {
    found: {
      ...{ transfers: ofTransfers.items, payouts: ofPayouts.items, batches: batches.items },
      ...{ adjustments: ofAdjustments.items, endpoints: [], accounts: [], tenants: [] },
    },
    stoppedAt: stops.length === 0 ? null : instant(Math.min(...stops)),
  };
}

export function countFound(found: SearchResult): number {
  return Object.values(found).reduce((sum, items) => sum + items.length, 0);
}

/** Shortest beginning that is searched for. */
const MIN_BEGINNING = 2;

/**
 * Searches by anything that the text may be: an id, an alias, a phone or a key, or else the
 * beginning of a name or reference.
 */
export async function findByText(reader: Reader, text: string): Promise<SearchResult> {
  const id = parseUuid(text);
  if (id !== null) {
    const found = await findResources(reader, await idsAbout(reader, id));
    if (countFound(found) > 0) return found;
  }
  const [named, keyed] = await Promise.all([idsNamed(reader, text), idsOfKey(reader, text)]);
  const exact = await findResources(reader, [...named, ...keyed]);
  if (countFound(exact) > 0 || text.length < MIN_BEGINNING || id !== null) return exact;
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
