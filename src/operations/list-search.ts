import type { AmountRange } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import type { Page, TimePosition } from '../core/page.js';
import type { Reader } from '../db/database.js';
import { amountsSql, wordsSql } from '../db/statements.js';
import type { Table } from '../db/table.js';
import { readVisible } from '../db/visible-list.js';
import {
  type AccountOperation,
  chooseIndex,
  equalFilters,
  type OperationFilter,
  type OperationList,
} from './operation-list.js';

interface Search extends Pick<OperationFilter, 'status' | 'from' | 'to'> {
  readonly tenantId: Uuid;
  /** Null for any amount. */
  readonly amounts: readonly AmountRange[] | null;
  /** Whether a rejected transfer was canceled; undefined for both. */
  readonly isCanceled?: boolean | undefined;
  /** Parts of words of the operation's texts, or of the payer's or recipient's name; '' for any. */
  readonly text: string;
}

const TEXTS = ['description', 'reference', 'reason', 'holderName', 'railReference', 'url'];
const PARTIES = ['sourceAccountId', 'destinationAccountId', 'recipientAccountId', 'accountId'];
const MAX_SEARCHED = 10_000;

/** Returns SQL for the name of the account with this id. Of an EXISTS, MariaDB would first read all accounts. */
export function accountNameSql(idSql: string): string {
  return `(SELECT a.name FROM accounts a FORCE INDEX (PRIMARY) WHERE a.id=${idSql})`;
}

/** Returns SQL conditions: each word of the text is a part of a text of the row, or of a name of its accounts. */
export function wordFilters(
  { columns }: Pick<Table<never>, 'columns'>,
  row: 'l' | 't',
  text: string,
): readonly string[] {
  const named = (properties: readonly string[]): readonly string[] =>
    columns.flatMap(({ property, name }) =>
      properties.includes(property) ? [`${row}.${name}`] : [],
    );
  const texts = [...named(TEXTS), ...named(PARTIES).map(accountNameSql)];
  return wordsSql(`CONCAT_WS(' ', ${texts.join(', ')})`, text);
}

/**
 * Returns a page of the tenant's operations, newest first, before `before`. Examines 10,000
 * operations, so a page may have few or no items although the list continues.
 */
export function searchNewest<Row extends AccountOperation>(
  list: Pick<OperationList<Row>, 'table' | 'statuses' | 'only' | 'amountColumn'>,
  reader: Reader,
  filter: Search,
  before: TimePosition | null,
  limit: number,
): Promise<Page<Row>> {
  const { tenantId, status, from, to, amounts, isCanceled, text } = filter;
  const { table, amountColumn = 'raw' } = list;
  const filters = equalFilters(list, { tenantId, status });
  if (amounts !== null) filters.push(amountsSql('l.asset', `l.${amountColumn}`, amounts));
  if (isCanceled !== undefined)
    filters.push(`${isCanceled ? '' : 'NOT '}l.rejection_code<=>'canceled'`);
  filters.push(...wordFilters(table, 'l', text));
  const rows = chooseIndex(list, { status, from, to }, tenantId);
  return readVisible(reader, { ...rows, filters, examined: MAX_SEARCHED }, before, limit);
}
