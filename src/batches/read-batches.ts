import type { OperationList } from '../accounts/operation-list.js';
import { capabilityRefusal } from '../accounts/rules.js';
import type { Uuid } from '../core/ids.js';
import { integer, nullable, time, uuid } from '../db/columns.js';
import type { Reader, StoredRow } from '../db/database.js';
import {
  BATCH_STATUSES,
  type BatchRowStatus,
  type BonusBatch,
  bonusBatches,
  type BonusBatchProblem,
  bonusBatchProblems,
  type BonusBatchRow,
  bonusBatchRows,
  bonuses,
} from '../db/entities/bonuses.js';
import { balances } from '../db/entities/ledger.js';
import { accounts } from '../db/entities/parties.js';
import { literal } from '../db/statements.js';
import { type Instant, instant } from '../core/instant.js';
import { type BatchReview, type EarlierPayments, isAccepted } from './rules.js';

const BEFORE_ALL = { number: -1, ordinal: -1 };

/** Returns the next problems of a file in order, first those of the whole file (row 0). */
export function readProblems(
  reader: Reader,
  batchId: Uuid,
  limit: number,
  last: Pick<BonusBatchProblem, 'number' | 'ordinal'> = BEFORE_ALL,
): Promise<readonly BonusBatchProblem[]> {
  return reader.list(
    bonusBatchProblems,
    `FORCE INDEX (PRIMARY)
     WHERE batch_id=${uuid.literal(batchId)} AND number>=${last.number}
       AND (number>${last.number} OR ordinal>${last.ordinal})
     ORDER BY number, ordinal LIMIT ${limit}`,
  );
}

export const batchList: OperationList<BonusBatch> = {
  table: bonusBatches,
  statuses: BATCH_STATUSES,
  resourceType: 'bonus_batch',
  visibleToRolesIn: ['source_account_id'],
};

export async function readReviews(
  reader: Reader,
  batches: readonly BonusBatch[],
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

export async function readBatchRows(
  reader: Reader,
  batch: BonusBatch,
  status: BatchRowStatus | undefined,
  after: number,
  limit: number,
): Promise<readonly BonusBatchRow[]> {
  // Rows of an unfinished validation are hidden.
  if (!isAccepted(batch)) return [];
  const inStatus =
    status === undefined ? '' : ` AND status=${literal(bonusBatchRows, 'status', status)}`;
  return reader.list(
    bonusBatchRows,
    `FORCE INDEX (${status === undefined ? 'PRIMARY' : 'status'})
     WHERE batch_id=${literal(bonusBatchRows, 'batchId', batch.id)}${inStatus} AND number>${Math.trunc(after)}
     ORDER BY number LIMIT ${Math.trunc(limit)}`,
  );
}

const SEARCHED_MS = 90 * 24 * 3_600_000;
const MAX_NAMED = 100;
const ROWS_PER_STATEMENT = 2_000;

export async function readEarlierPayments(
  reader: Reader,
  batch: BonusBatch,
  at: Instant,
): Promise<EarlierPayments> {
  const since = instant(at - SEARCHED_MS);
  const named: ReturnType<typeof parsePayment>[] = [];
  let count = 0;
  for (let after = 0; ;) {
    const read = (await reader.query(paymentsSql(batch, after, since))).map(parsePayment);
    const found = read.filter(
      ({ bonusId, openBatchId }) => bonusId !== null || openBatchId !== null,
    );
    count += found.length;
    named.push(...found.slice(0, MAX_NAMED - named.length));
    const last = read.at(-1);
    if (last === undefined) break;
    after = last.number;
  }
  const ids = named.flatMap(({ bonusId }) => bonusId ?? []);
  const paid = ids.length === 0 ? [] : await reader.select(bonuses, { id: ids });
  const batchOf = new Map(paid.map(({ id, batchId }) => [id, batchId]));
  const rows = named.map(({ number, bonusId, openBatchId }) => ({
    number,
    batchId: bonusId === null ? openBatchId : (batchOf.get(bonusId) ?? null),
    bonusId,
  }));
  return { count, rows };
}

/** SQL for the next rows with the newest bonus, and the open batch, that pays the same. */
function paymentsSql({ id, tenantId }: BonusBatch, after: number, since: Instant): string {
  const tenant = uuid.literal(tenantId);
  const byBatch = `FROM bonus_batch_rows o FORCE INDEX (reference) STRAIGHT_JOIN bonus_batches b ON b.id=o.batch_id
    WHERE o.reference=r.reference AND o.recipient_account_id=r.recipient_account_id AND o.batch_id<>r.batch_id
      AND b.tenant_id=${tenant}`;
  return `SELECT r.number,
      (SELECT MAX(o.bonus_id) ${byBatch} AND o.status='paid' AND o.settled_at>=${time.literal(since)}) AS row_bonus_id,
      (SELECT MAX(s.id) FROM bonus_references s FORCE INDEX (PRIMARY)
        WHERE s.reference=r.reference AND s.recipient_account_id=r.recipient_account_id
          AND s.tenant_id=${tenant} AND s.created_at>=${time.literal(since)}) AS single_id,
      (SELECT MAX(o.batch_id) ${byBatch} AND o.status='pending'
        AND b.status IN ('ready','executing') AND b.canceled_at IS NULL) AS open_batch_id
    FROM bonus_batch_rows r FORCE INDEX (PRIMARY)
    WHERE r.batch_id=${uuid.literal(id)} AND r.number>${after} ORDER BY r.number LIMIT ${ROWS_PER_STATEMENT}`;
}

const ID = nullable(uuid);

function parsePayment(row: StoredRow) {
  const ids = [ID.parse(row.row_bonus_id), ID.parse(row.single_id)].flatMap((id) => id ?? []);
  return {
    number: integer.parse(row.number),
    // Ids of bonuses are ordered by time.
    bonusId: ids.toSorted().at(-1) ?? null,
    openBatchId: ID.parse(row.open_batch_id),
  };
}
