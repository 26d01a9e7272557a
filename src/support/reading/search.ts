import { parseAlias, parsePhone } from '../../accounts/identifiers.js';
import type { Amount } from '../../core/amount.js';
import { firstIdAt, parseUuid, timeOfId, type Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import { string, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { bonuses, type BonusBatch, bonusBatches } from '../../db/entities/bonuses.js';
import { events } from '../../db/entities/events.js';
import { idempotencyKeys, ledgerTransactions } from '../../db/entities/ledger.js';
import { type Adjustment, adjustments, payIns, type Transfer, transfers } from '../../db/entities/operations.js';
import { type Account, accounts } from '../../db/entities/parties.js';
import { type Payout, payouts } from '../../db/entities/payouts.js';
import { type WebhookEndpoint, webhookEndpoints } from '../../db/entities/webhooks.js';
import { columnList, literal } from '../../db/statements.js';
import { parseRow, type Table } from '../../db/table.js';

/** Searches across all tenants, using the existing indexes. */

export interface Found {
  readonly transfers: readonly Transfer[];
  readonly payouts: readonly Payout[];
  readonly batches: readonly BonusBatch[];
  readonly endpoints: readonly WebhookEndpoint[];
  readonly adjustments: readonly Adjustment[];
  readonly accounts: readonly Account[];
}
const NOTHING_FOUND: Found = { transfers: [], payouts: [], batches: [], endpoints: [], adjustments: [], accounts: [] };

const MAX_FOUND = 25;
/** How many rows of a table one search examines. */
const MAX_LOOKED_AT = 200_000;

/** Everything that has this id or is about it: an event, a posting, a bonus, a pay-in. */
async function findById(reader: Reader, id: Uuid): Promise<Found> {
  const [own, event, posting, bonus, payIn] = await Promise.all([
    findResources(reader, [id]),
    reader.find(events, { id }),
    reader.find(ledgerTransactions, { id }),
    reader.find(bonuses, { id }),
    reader.find(payIns, { id }),
  ]);
  const about = [event?.resourceId, posting?.relatedId, bonus?.batchId ?? bonus?.sourceAccountId, payIn?.accountId];
  const others = about.flatMap((one) => one ?? []);
  if (others.length === 0) return own;
  const more = await findResources(reader, others);
  return joined(own, more);
}

async function findResources(reader: Reader, ids: readonly Uuid[]): Promise<Found> {
  const id = [...new Set(ids)];
  const [ofTransfers, ofPayouts, batches, endpoints, ofAdjustments, ofAccounts] = await Promise.all([
    reader.select(transfers, { id }),
    reader.select(payouts, { id }),
    reader.select(bonusBatches, { id }),
    reader.select(webhookEndpoints, { id }),
    reader.select(adjustments, { id }),
    reader.select(accounts, { id }),
  ]);
  const own = ofAccounts.filter(({ type }) => type !== 'system');
  return { transfers: ofTransfers, payouts: ofPayouts, batches, endpoints, adjustments: ofAdjustments, accounts: own };
}

function joined(one: Found, other: Found): Found {
  return {
    transfers: [...one.transfers, ...other.transfers],
    payouts: [...one.payouts, ...other.payouts],
    batches: [...one.batches, ...other.batches],
    endpoints: [...one.endpoints, ...other.endpoints],
    adjustments: [...one.adjustments, ...other.adjustments],
    accounts: [...one.accounts, ...other.accounts],
  };
}

/** When a time-ordered id was made; null for another kind of id. */
export function madeAt(id: Uuid): Instant | null {
  return id[14] === '7' ? instant(timeOfId(id)) : null;
}

/** A request's operation is created within the time that a request may take. */
const REQUEST_MS = 10_000;

/** What was created right after a request arrived. */
export async function findMadeAfter(reader: Reader, at: Instant): Promise<Found> {
  return (await findMadeWithin(reader, { from: at, to: instant(at + REQUEST_MS) }, null)).found;
}

/** Accounts of any tenant by alias or phone. The only index is by tenant and alias, so each tenant is searched. */
async function findAccounts(reader: Reader, text: string): Promise<Found> {
  const alias = parseAlias(text);
  const phone = parsePhone(text);
  if (alias === null && phone === null) return NOTHING_FOUND;
  const rows = await reader.query(
    alias !== null
      ? `SELECT ${columnList(accounts, 'a')} FROM tenants t STRAIGHT_JOIN accounts a ON a.tenant_id=t.id
         AND a.alias=${literal(accounts, 'alias', alias)} LIMIT ${MAX_FOUND}`
      : `SELECT ${columnList(accounts, 'a')} FROM accounts a WHERE a.phone=${literal(accounts, 'phone', phone)} LIMIT ${MAX_FOUND}`,
  );
  return { ...NOTHING_FOUND, accounts: rows.map((row) => parseRow(accounts, row)) };
}

/** What an idempotency key of any tenant, or an operator's reference, created. */
async function findByKey(reader: Reader, key: string): Promise<Found> {
  const keys = [key, `ops/${key}`].map((one) => string.literal(one));
  const rows = await reader.query(
    `SELECT k.resource_id FROM tenants t STRAIGHT_JOIN idempotency_keys k FORCE INDEX (PRIMARY) ON k.tenant_id=t.id
     AND k.${idempotencyKeys.column('idempotencyKey').name} IN (${keys.join(',')}) WHERE k.resource_id IS NOT NULL LIMIT ${MAX_FOUND}`,
  );
  const ids = rows.map((row) => uuid.parse(row.resource_id));
  if (ids.length === 0) return NOTHING_FOUND;
  const found = await Promise.all(ids.map((id) => findById(reader, id)));
  return found.reduce(joined, NOTHING_FOUND);
}

interface MadeWithin {
  readonly found: Found;
  /** Where the search stopped early. */
  readonly stoppedAt: Instant | null;
}

/** What was created then, oldest first; with `amount`, of exactly that amount. Ids are ordered by time. */
export async function findMadeWithin(
  reader: Reader,
  { from, to }: { readonly from: Instant; readonly to: Instant },
  amount: Amount | null,
): Promise<MadeWithin> {
  const within = async <Row extends { readonly id: Uuid }>(table: Table<Row>, sum: string) => {
    const first = uuid.literal(firstIdAt(from));
    const [last] = await reader.query(
      `SELECT id FROM ${table.name} FORCE INDEX (PRIMARY) WHERE id>=${first} AND id<${uuid.literal(firstIdAt(to))}
       ORDER BY id LIMIT 1 OFFSET ${MAX_LOOKED_AT}`,
    );
    const stop = last === undefined ? null : uuid.parse(last.id);
    const wanted = amount === null ? '' : ` AND asset=${string.literal(amount.asset)} AND ${sum}=${amount.raw}`;
    const rows = await reader.query(
      `SELECT ${columnList(table)} FROM ${table.name} FORCE INDEX (PRIMARY)
       WHERE id>=${first} AND id<${uuid.literal(stop ?? firstIdAt(to))}${wanted} ORDER BY id LIMIT ${MAX_FOUND + 1}`,
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
  const stops = [ofTransfers, ofPayouts, batches, ofAdjustments].flatMap(({ stoppedAt }) => stoppedAt ?? []);
  return {
    found: {
      ...{ ...NOTHING_FOUND, transfers: ofTransfers.items, payouts: ofPayouts.items },
      ...{ batches: batches.items, adjustments: ofAdjustments.items },
    },
    stoppedAt: stops.length === 0 ? null : instant(Math.min(...stops)),
  };
}

export function countFound(found: Found): number {
  return Object.values(found).reduce((sum, items) => sum + items.length, 0);
}

/** By anything the text may be: an id, an alias, a phone, a key. */
export async function findByText(reader: Reader, text: string): Promise<Found> {
  const id = parseUuid(text);
  const [byId, byName, byKey] = await Promise.all([
    id === null ? NOTHING_FOUND : findById(reader, id),
    findAccounts(reader, text),
    findByKey(reader, text),
  ]);
  return joined(joined(byId, byName), id !== null && countFound(byId) > 0 ? NOTHING_FOUND : byKey);
}
