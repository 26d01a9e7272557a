import type { AmountRange } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import type { Page, TimePosition } from '../core/page.js';
import type { Reader } from '../db/database.js';
import { amountsSql, filterWords, likeSql } from '../db/statements.js';
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
  /** Parts of words of the operation's texts, or of the payer's or recipient's name; '' for any. */
  readonly text: string;
}

const TEXTS = ['description', 'reference', 'holderName', 'railReference'];
const PARTIES = ['sourceAccountId', 'destinationAccountId', 'recipientAccountId'];
const MAX_SEARCHED = 10_000;

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
  const { tenantId, status, from, to, amounts, text } = filter;
  const { table, amountColumn = 'raw' } = list;
  const columns = (properties: readonly string[]): string =>
    table.columns
      .flatMap(({ property, name }) => (properties.includes(property) ? `l.${name}` : []))
      .join(', ');
  const filters = equalFilters(list, { tenantId, status });
  if (amounts !== null) filters.push(amountsSql('l.asset', `l.${amountColumn}`, amounts));
  for (const word of filterWords(text))
    filters.push(
      `(${likeSql(`CONCAT_WS(' ', ${columns(TEXTS)})`, '%', word)} OR EXISTS (SELECT 1 FROM accounts a
        FORCE INDEX (PRIMARY) WHERE a.id IN (${columns(PARTIES)}) AND ${likeSql('a.name', '%', word)}))`,
    );
  const rows = chooseIndex(list, { status, from, to }, tenantId);
  return readVisible(reader, { ...rows, filters, examined: MAX_SEARCHED }, before, limit);
}
