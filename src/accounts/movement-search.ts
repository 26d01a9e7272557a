import type { AmountRange } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { entries, type MovementKind } from '../db/entities/ledger.js';
import { amountsSql, columnList, literal, literals, wordsSql } from '../db/statements.js';
import {
  findRangesBefore,
  type MovementFilter,
  type MovementPage,
  movementsOf,
  movementsSql,
  readMovements,
} from './movements.js';

const MAX_SEARCHED = 10_000;

/**
 * Returns a page like `readMovements`, of entries with an amount in these ranges (null for any), of
 * these kinds (at least one), and with a text in their description or the counterparty's name. No
 * index has them, so that a page examines 10,000 entries, and may have few or no items although the
 * list continues.
 */
export async function searchMovements(
  reader: Reader,
  accountId: Uuid,
  {
    amounts,
    kinds,
    text,
    ...times
  }: Pick<MovementFilter, 'from' | 'to'> & {
    readonly amounts: readonly AmountRange[] | null;
    readonly kinds?: readonly MovementKind[] | undefined;
    readonly text: string;
  },
  before: bigint | null,
  limit: number,
): Promise<MovementPage> {
  if (amounts === null && kinds === undefined && text === '')
    return readMovements(reader, accountId, times, before, limit);
  const owner = `account_id=${literal(entries, 'accountId', accountId)}`;
  const ranges = await findRangesBefore(reader, accountId, times, before);
  const [range, ...older] = ranges.toReversed();
  if (range === undefined) return { items: [], nextBefore: null };
  const newest = `SELECT COALESCE(MAX(seq), 0) AS seq FROM entries WHERE ${owner}`;
  const last = range.last ?? column.bigint.parse((await reader.query(newest))[0]?.seq);
  const end = last - BigInt(MAX_SEARCHED);
  const first = end < range.first ? range.first : end + 1n;
  const filters = [
    `${owner} AND seq BETWEEN ${first} AND ${last}`,
    ...(amounts === null ? [] : [amountsSql('asset', 'ABS(raw)', amounts)]),
    ...(kinds === undefined ? [] : [`kind IN (${literals(entries, 'kind', kinds)})`]),
  ];
  const texts = `CONCAT_WS(' ', t.description, IF(c.type='system', NULL, c.name),
    (SELECT p.holder_name FROM payouts p WHERE t.related_type='payout' AND p.id=t.related_id))`;
  const rows = await reader.searches.query(
    `${movementsSql(
      `SELECT ${columnList(entries)} FROM entries FORCE INDEX (PRIMARY)
       WHERE ${filters.join(' AND ')}`,
    )} WHERE ${['TRUE', ...wordsSql(texts, text)].join(' AND ')} ORDER BY e.seq DESC LIMIT ${limit + 1}`,
  );
  const items = rows.slice(0, limit);
  const isContinued = first > range.first || older.length > 0;
  const position = rows.length > limit ? column.bigint.parse(items.at(-1)?.seq) : first;
  return {
    items: await movementsOf(reader, items),
    nextBefore: rows.length > limit || isContinued ? position : null,
  };
}
