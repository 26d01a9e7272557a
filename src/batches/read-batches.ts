import type { OperationList } from '../operations/operation-list.js';
import { capabilityRefusal } from '../accounts/rules.js';
import type { Uuid } from '../core/ids.js';
import { string, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import {
  type BatchKindName,
  BATCH_STATUSES,
  type BatchRowStatus,
  type Batch,
  batches,
  type BatchProblem,
  batchProblems,
  type BatchRow,
  batchRows,
} from '../db/entities/batches.js';
import { balances } from '../db/entities/ledger.js';
import { accounts } from '../db/entities/parties.js';
import { literal, wordsSql } from '../db/statements.js';
import { type BatchReview, batchType, isAccepted } from './rules.js';

const BEFORE_ALL = { number: -1, ordinal: -1 };

/**
 * Returns the next problems of a file in order, first those of the whole file (row 0). `text` has
 * parts of words of the problem, its column and its value.
 */
export function readProblems(
  reader: Reader,
  batchId: Uuid,
  limit: number,
  last: Pick<BatchProblem, 'number' | 'ordinal'> = BEFORE_ALL,
  { code = '', text = '' }: { readonly code?: string; readonly text?: string } = {},
): Promise<readonly BatchProblem[]> {
  const filters = [
    `batch_id=${uuid.literal(batchId)}`,
    ...(code === '' ? [] : [`code=${literal(batchProblems, 'code', code)}`]),
    ...wordsSql("CONCAT_WS(' ', message, field, value)", text),
  ];
  return reader.list(
    batchProblems,
    `FORCE INDEX (PRIMARY)
     WHERE ${filters.join(' AND ')} AND number>=${last.number}
       AND (number>${last.number} OR ordinal>${last.ordinal})
     ORDER BY number, ordinal LIMIT ${limit}`,
  );
}

/** Returns the codes that the problems of the file have. */
export async function readProblemCodes(
  reader: Reader,
  { id }: Pick<Batch, 'id'>,
): Promise<readonly string[]> {
  const rows = await reader.query(
    `SELECT DISTINCT code FROM batch_problems FORCE INDEX (PRIMARY)
     WHERE batch_id=${uuid.literal(id)} ORDER BY code`,
  );
  return rows.map(({ code }) => string.parse(code));
}

/** Batches of every kind, as staff list them. */
export const BATCHES = {
  table: batches,
  statuses: BATCH_STATUSES,
  amountColumn: 'total_raw',
} as const;

/** How members list the batches of a kind, with any role in the source. */
export function batchList(kind: BatchKindName): OperationList<Batch> {
  return {
    ...BATCHES,
    resourceType: batchType({ kind }),
    only: { kind },
    visibleToRolesIn: ['source_account_id'],
  };
}

export async function readReviews(
  reader: Reader,
  batches: readonly Batch[],
): Promise<ReadonlyMap<Uuid, BatchReview>> {
  const ready = batches.filter(({ status, asset }) => status === 'ready' && asset !== null);
  if (ready.length === 0) return new Map();
  const ids = [...new Set(ready.map(({ sourceAccountId }) => sourceAccountId))];
  const [own, sources] = await Promise.all([
    reader.select(balances, { accountId: ids }),
    reader.select(accounts, { id: ids }),
  ]);
  return new Map(
    ready.flatMap(({ id, sourceAccountId, asset }): [Uuid, BatchReview][] => {
      const balance = own.find((one) => one.accountId === sourceAccountId && one.asset === asset);
      const source = sources.find((one) => one.id === sourceAccountId);
      if (balance === undefined || source === undefined) return [];
      return [
        [
          id,
          {
            available: balance.available,
            canSend: capabilityRefusal(source) === null,
            earlier: null,
          },
        ],
      ];
    }),
  );
}

/** Restricts the rows of a batch to those up to the number `until`, with `text` in the recipient or reference. */
interface BatchRowFilter {
  readonly status?: BatchRowStatus | undefined;
  readonly text?: string;
  readonly until?: number;
}

export async function readBatchRows(
  reader: Reader,
  batch: Batch,
  { status, text = '', until }: BatchRowFilter,
  after: number,
  limit: number,
): Promise<readonly BatchRow[]> {
  // Rows of an unfinished validation are hidden.
  if (!isAccepted(batch)) return [];
  const inStatus =
    status === undefined ? '' : ` AND status=${literal(batchRows, 'status', status)}`;
  const isUntil = until === undefined ? '' : ` AND number<=${Math.trunc(until)}`;
  const withText = wordsSql("CONCAT_WS(' ', recipient, reference)", text);
  return reader.list(
    batchRows,
    `FORCE INDEX (${status === undefined || text !== '' ? 'PRIMARY' : 'status'})
     WHERE batch_id=${literal(batchRows, 'batchId', batch.id)}${inStatus}
     AND ${[`number>${Math.trunc(after)}`, ...withText].join(' AND ')}${isUntil}
     ORDER BY number LIMIT ${Math.trunc(limit)}`,
  );
}
