import { amountJson, type Asset, ASSETS } from '../core/amount.js';
import { ApiError, invalidField } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Reader, StoredRow } from '../db/database.js';
import { entries, ENTRY_KINDS, type MovementKind, POSTED_TYPES } from '../db/entities/ledger.js';
import { accounts } from '../db/entities/parties.js';
import { payouts } from '../db/entities/payouts.js';
import { type NumberRange, numbersWithin } from '../db/numbered-rows.js';
import { columnList, literal } from '../db/statements.js';
import { readClockResets } from '../ledger/database-clock.js';
import { displayName } from './recipients.js';

export interface MovementFilter {
  readonly asset?: Asset | undefined;
  readonly kind?: MovementKind | undefined;
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
}

export interface MovementPage {
  readonly items: readonly Movement[];
  readonly nextBefore: bigint | null;
}

/**
 * Returns a page of entries, newest first. Time bounds become bounds on `seq`. The next page begins
 * before `nextBefore`, which is null on the last page.
 */
export async function readMovements(
  reader: Reader,
  accountId: Uuid,
  filter: MovementFilter,
  before: bigint | null,
  limit: number,
): Promise<MovementPage> {
  const ranges = await findRangesBefore(reader, accountId, filter, before);
  if (ranges.length === 0) return { items: [], nextBefore: null };
  const rows = await reader.query(pageSql(accountId, filter, ranges, 'DESC', limit + 1));
  const page = rows.slice(0, limit);
  const oldest = page.at(-1);
  return {
    items: await movementsOf(reader, page),
    nextBefore:
      rows.length > limit && oldest !== undefined ? column.bigint.parse(oldest.seq) : null,
  };
}

/** Returns the ranges of `seq` within the bounds and before the entry `before`, oldest first. */
export async function findRangesBefore(
  reader: Reader,
  accountId: Uuid,
  filter: MovementFilter,
  before: bigint | null,
): Promise<readonly SeqRange[]> {
  const ranges = await findSeqRanges(reader, accountId, filter);
  return ranges.flatMap(({ first, last }): SeqRange[] => {
    const newest = before !== null && (last === null || before <= last) ? before - 1n : last;
    return newest !== null && newest < first ? [] : [{ first, last: newest }];
  });
}

/** The last entry of a page, for the page after it. */
interface MovementPosition {
  readonly seq: bigint;
  readonly id: Uuid;
}

/**
 * Returns a page of entries, oldest first, after the entry `after`, and the page's last entry, which is
 * null if no entry matches yet. Throws invalid_field (cursor, expired) if a restore has lost `after`, because
 * other entries have its number then.
 */
export async function readMovementsAfter(
  reader: Reader,
  accountId: Uuid,
  filter: MovementFilter,
  after: MovementPosition | null,
  limit: number,
): Promise<{ readonly items: readonly Movement[]; readonly last: MovementPosition | null }> {
  const start = after?.seq ?? 1n;
  const ranges = (await findSeqRanges(reader, accountId, filter)).flatMap(
    ({ first, last }): SeqRange[] =>
      last !== null && last < start ? [] : [{ first: first > start ? first : start, last }],
  );
  const count = after === null ? limit : limit + 1;
  const rows =
    ranges.length === 0 ? [] : await reader.query(pageSql(accountId, filter, ranges, 'ASC', count));
  if (after !== null && (rows[0] === undefined || column.uuid.parse(rows[0].id) !== after.id))
    throw new ApiError(invalidField('cursor', 'expired'));
  const newest = rows.at(-1);
  return {
    items: await movementsOf(reader, after === null ? rows : rows.slice(1)),
    last:
      newest === undefined
        ? null
        : { seq: column.bigint.parse(newest.seq), id: column.uuid.parse(newest.id) },
  };
}

interface SeqRange {
  readonly first: bigint;
  /** Null: up to the newest entry. */
  readonly last: bigint | null;
}

/** Returns the ranges of `seq` within the bounds: several if the account's clock was reset. */
export async function findSeqRanges(
  reader: Reader,
  accountId: Uuid,
  { from, to }: MovementFilter,
): Promise<SeqRange[]> {
  if (from === undefined && to === undefined) return [{ first: 1n, last: null }];
  const rows = {
    table: entries.name,
    owner: `account_id=${literal(entries, 'accountId', accountId)}`,
    number: 'seq',
  };
  const [resets, whole] = await Promise.all([
    readClockResets(reader, accountId),
    numbersWithin(reader, rows, from, to, { first: 1n }),
  ]);
  if (resets.length === 0) return [whole];
  return Promise.all(
    [0n, ...resets].map((before, index) => {
      const last = resets[index];
      return numbersWithin(reader, rows, from, to, {
        first: before + 1n,
        ...(last === undefined ? {} : { last }),
      });
    }),
  );
}

/** The index is named because the optimizer might otherwise sort all entries of the account. */
function pageSql(
  accountId: Uuid,
  filter: MovementFilter,
  ranges: readonly SeqRange[],
  order: 'ASC' | 'DESC',
  count: number,
): string {
  const owner = `account_id=${literal(entries, 'accountId', accountId)}`;
  const isFiltered = filter.asset !== undefined || filter.kind !== undefined;
  const conditions = isFiltered ? filterConditions(filter) : [''];
  const isSingle = ranges.length * conditions.length === 1;
  const parts = conditions.flatMap((condition) =>
    ranges.map(({ first, last }) => {
      const until = last === null ? '' : ` AND seq<=${last}`;
      return `SELECT ${isSingle ? columnList(entries) : 'seq'} FROM entries FORCE INDEX (${isFiltered ? 'asset_kind' : 'PRIMARY'})
        WHERE ${owner}${condition} AND seq>=${first}${until} ORDER BY seq ${order} LIMIT ${count}`;
    }),
  );
  const page = isSingle
    ? parts.join('')
    : `SELECT ${columnList(entries, 'm')} FROM (${parts.map((part) => `(${part})`).join(' UNION ALL ')}
        ORDER BY seq ${order} LIMIT ${count}) page STRAIGHT_JOIN entries m FORCE INDEX (PRIMARY) ON m.${owner} AND m.seq=page.seq`;
  return `${movementsSql(page)} ORDER BY e.seq ${order}`;
}

/** Returns a SELECT of movements `e` with their transactions `t` and counterparties `c`. */
export function movementsSql(entriesSql: string): string {
  return `SELECT e.seq, e.id, e.transaction_id, e.asset, e.kind, e.raw, e.total_after, e.created_at, t.related_type, t.related_id, t.description,
      c.id AS counterparty_id, c.tenant_id AS counterparty_tenant, c.alias AS counterparty_alias, c.name AS counterparty_name, c.type AS counterparty_type
    FROM (${entriesSql}) e
    JOIN ledger_transactions t ON t.id=e.transaction_id
    LEFT JOIN accounts c ON c.id=e.counterparty_account_id`;
}

/** Returns the movements of an asset between two entry numbers, inclusive, oldest first. */
export async function readMovementsInRange(
  reader: Reader,
  accountId: Uuid,
  asset: Asset,
  { first, last }: NumberRange,
): Promise<Movement[]> {
  const rows = await reader.query(
    `${movementsSql(
      `SELECT ${columnList(entries)} FROM entries FORCE INDEX (PRIMARY)
       WHERE account_id=${literal(entries, 'accountId', accountId)} AND seq BETWEEN ${first} AND ${last}
         AND asset=${literal(entries, 'asset', asset)}`,
    )} ORDER BY e.seq`,
  );
  return movementsOf(reader, rows);
}

export async function movementsOf(reader: Reader, rows: readonly StoredRow[]): Promise<Movement[]> {
  const holderNames = await readHolderNames(reader, rows);
  return rows.map((row) => movementOf(row, holderNames));
}

function filterConditions({ asset, kind }: MovementFilter): string[] {
  return (asset === undefined ? ASSETS : [asset]).flatMap((ofAsset) =>
    (kind === undefined ? ENTRY_KINDS : [kind]).map(
      (ofKind) =>
        ` AND asset=${literal(entries, 'asset', ofAsset)} AND kind=${literal(entries, 'kind', ofKind)}`,
    ),
  );
}

/** Names of the holders of bank accounts, or the ends of keys, by payout. */
type HolderNames = ReadonlyMap<Uuid, string>;

async function readHolderNames(reader: Reader, rows: readonly StoredRow[]): Promise<HolderNames> {
  const ids = rows.flatMap((row) =>
    row.related_type === 'payout' ? column.uuid.parse(row.related_id) : [],
  );
  if (ids.length === 0) return new Map();
  const found = await reader.select(payouts, { id: [...new Set(ids)] });
  return new Map(found.map(({ id, holderName, keyEnd }) => [id, holderName ?? `****${keyEnd}`]));
}

export type Movement = ReturnType<typeof movementOf>;

function movementOf(row: StoredRow, holderNames: HolderNames) {
  const relatedId = column.uuid.parse(row.related_id);
  return {
    entry: {
      id: column.uuid.parse(row.id),
      seq: column.bigint.parse(row.seq),
      transactionId: column.uuid.parse(row.transaction_id),
      asset: column.asset.parse(row.asset),
      kind: kind.parse(row.kind),
      raw: column.bigint.parse(row.raw),
      totalAfter: column.bigint.parse(row.total_after),
      createdAt: column.time.parse(row.created_at),
    },
    counterparty: counterpartyOf(row, holderNames.get(relatedId)),
    description: nullableText.parse(row.description),
    relatedType: relatedType.parse(row.related_type),
    relatedId,
  };
}

const nullableText = column.nullable(column.string);
const relatedType = column.oneOf(POSTED_TYPES);
const kind = column.oneOf(ENTRY_KINDS);

/** `holderName`: of a payout's bank account. Ids are null if no tenant owns the account. (docs/contract.md, Movements) */
function counterpartyOf(row: StoredRow, holderName: string | undefined) {
  const storedType = row.counterparty_type;
  const type = storedType === null ? 'system' : accounts.column('type').column.parse(storedType);
  if (type === 'system') {
    const noIds = { accountId: null, tenantId: null, alias: null };
    if (holderName === undefined) return { ...noIds, displayName: 'System', type } as const;
    return { ...noIds, displayName: holderName, type: 'bank_account' } as const;
  }
  const visibleType = type === 'person' ? type : 'business';
  return {
    accountId: column.uuid.parse(row.counterparty_id),
    tenantId: column.uuid.parse(row.counterparty_tenant),
    alias: nullableText.parse(row.counterparty_alias),
    displayName: displayName(visibleType, column.string.parse(row.counterparty_name)),
    type: visibleType,
  } as const;
}

export function presentMovement({
  entry,
  counterparty,
  ...movement
}: Movement): Readonly<Record<string, unknown>> {
  return {
    id: entry.id,
    kind: entry.kind,
    amount: amountJson({ raw: entry.raw < 0n ? -entry.raw : entry.raw, asset: entry.asset }),
    total_after: amountJson({ raw: entry.totalAfter, asset: entry.asset }),
    counterparty: {
      account_id: counterparty.accountId,
      tenant: counterparty.tenantId,
      alias: counterparty.alias,
      display_name: counterparty.displayName,
      type: counterparty.type,
    },
    description: movement.description,
    related: { type: movement.relatedType, id: movement.relatedId },
    created_at: toRfc3339(entry.createdAt),
  };
}
