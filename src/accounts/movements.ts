import { amountJson, type Asset } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Reader, StoredRow } from '../db/database.js';
import { entries, ledgerTransactions, type MovementKind } from '../db/entities/ledger.js';
import { accounts } from '../db/entities/parties.js';
import { payouts } from '../db/entities/payouts.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { displayName } from './display-name.js';

export interface MovementFilter {
  readonly asset?: Asset | undefined;
  readonly kind?: MovementKind | undefined;
  /** Inclusive bounds of `created_at`. */
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
}

export interface MovementPage {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  /** The `seq` to go on before, or null on the last page. */
  readonly nextBefore: bigint | null;
}

/**
 * A page of an account's entries, newest first, beginning before `before` (null: at the newest). The cost is the page's,
 * at any depth: a time bound becomes a bound on `seq` by one index look-up, since `created_at` never runs backwards
 * within an account. (docs/contract.md, Movements)
 */
export async function readMovements(
  reader: Reader,
  accountId: Uuid,
  filter: MovementFilter,
  before: bigint | null,
  limit: number,
): Promise<MovementPage> {
  const [first, last] = await Promise.all([
    filter.from === undefined ? 1n : firstSeqFrom(reader, accountId, filter.from),
    filter.to === undefined ? null : lastSeqTo(reader, accountId, filter.to),
  ]);
  if (first === null || (filter.to !== undefined && last === null)) return { items: [], nextBefore: null };
  const newest = before === null ? last : last === null || before - 1n < last ? before - 1n : last;
  const rows = await reader.query(pageSql(accountId, filter, first, newest, limit + 1));
  const shown = rows.slice(0, limit);
  const oldest = shown.at(-1);
  const holders = await readHolders(reader, shown);
  return {
    items: shown.map((row) => presentMovement(row, holders)),
    nextBefore: rows.length > limit && oldest !== undefined ? column.bigint.parse(oldest.seq) : null,
  };
}

async function firstSeqFrom(reader: Reader, accountId: Uuid, from: Instant): Promise<bigint | null> {
  return seqOf(reader, accountId, `created_at>=${column.time.literal(from)}`, 'ASC');
}

async function lastSeqTo(reader: Reader, accountId: Uuid, to: Instant): Promise<bigint | null> {
  return seqOf(reader, accountId, `created_at<=${column.time.literal(to)}`, 'DESC');
}

async function seqOf(reader: Reader, accountId: Uuid, bound: string, order: 'ASC' | 'DESC'): Promise<bigint | null> {
  const [row] = await reader.query(
    `SELECT seq FROM entries FORCE INDEX (created) WHERE account_id=${literal(entries, 'accountId', accountId)} AND ${bound}
     ORDER BY created_at ${order}, seq ${order} LIMIT 1`,
  );
  return row === undefined ? null : column.bigint.parse(row.seq);
}

/** Each filter has an index that ends in `seq`; naming it keeps the optimizer from reading and sorting the whole account. */
function pageSql(accountId: Uuid, filter: MovementFilter, first: bigint, newest: bigint | null, count: number): string {
  const conditions = [`account_id=${literal(entries, 'accountId', accountId)}`, `seq>=${first}`];
  if (newest !== null) conditions.push(`seq<=${newest}`);
  if (filter.asset !== undefined) conditions.push(`asset=${literal(entries, 'asset', filter.asset)}`);
  if (filter.kind !== undefined) conditions.push(`kind=${literal(entries, 'kind', filter.kind)}`);
  const index =
    filter.asset === undefined
      ? filter.kind === undefined
        ? 'PRIMARY'
        : 'kind'
      : filter.kind === undefined
        ? 'asset'
        : 'asset_kind';
  return `SELECT ${columnList(entries, 'e')}, x.related_type, x.related_id, x.description,
      c.id AS c_id, c.tenant_id AS c_tenant_id, c.alias AS c_alias, c.name AS c_name, c.type AS c_type
    FROM (SELECT ${columnList(entries)} FROM entries FORCE INDEX (${index}) WHERE ${conditions.join(' AND ')}
      ORDER BY seq DESC LIMIT ${count}) e
    JOIN ledger_transactions x ON x.id=e.transaction_id
    LEFT JOIN accounts c ON c.id=e.counterparty_account_id
    ORDER BY e.seq DESC`;
}

type Holders = ReadonlyMap<Uuid, string>;

/** Who is behind the bank accounts of the page's payouts, by payout. Most pages have none, and cost nothing. */
async function readHolders(reader: Reader, rows: readonly StoredRow[]): Promise<Holders> {
  const ids = rows.flatMap((row) => (row.related_type === 'payout' ? column.uuid.parse(row.related_id) : []));
  if (ids.length === 0) return new Map();
  const found = await reader.select(payouts, { id: [...new Set(ids)] });
  return new Map(found.map(({ id, holderName }) => [id, holderName]));
}

function presentMovement(row: StoredRow, holders: Holders): Readonly<Record<string, unknown>> {
  const entry = parseRow(entries, row);
  return {
    id: entry.id,
    kind: entry.kind,
    amount: amountJson({ raw: entry.raw < 0n ? -entry.raw : entry.raw, asset: entry.asset }),
    counterparty: presentCounterparty(row, holders.get(column.uuid.parse(row.related_id))),
    description: ledgerTransactions.column('description').column.parse(row.description),
    related: {
      type: ledgerTransactions.column('relatedType').column.parse(row.related_type),
      id: column.uuid.parse(row.related_id),
    },
    created_at: toRfc3339(entry.createdAt),
  };
}

const nullableText = column.nullable(column.string);

/** Always an object: for what has no account of a tenant's the ids are null. (docs/contract.md, Movements) */
function presentCounterparty(row: StoredRow, holder: string | undefined): Readonly<Record<string, unknown>> {
  const type = row.c_type === null ? 'system' : accounts.column('type').column.parse(row.c_type);
  if (type === 'system' && holder !== undefined)
    return { account_id: null, tenant: null, alias: null, display_name: holder, type: 'bank_account' };
  if (type === 'system') return { account_id: null, tenant: null, alias: null, display_name: 'System', type };
  return {
    account_id: column.uuid.parse(row.c_id),
    tenant: column.uuid.parse(row.c_tenant_id),
    alias: nullableText.parse(row.c_alias),
    display_name: displayName(type === 'person' ? 'person' : 'business', column.string.parse(row.c_name)),
    type,
  };
}
