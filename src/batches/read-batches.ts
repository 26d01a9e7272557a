import type { OperationList } from '../operations/operation-list.js';
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
import {
  type BatchReview,
  type EarlierPayments,
  isAccepted,
  MAX_DUPLICATES_NAMED,
} from './rules.js';

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

const EARLIER_PAYMENTS_MS = 90 * 24 * 3_600_000;
const ROWS_PER_STATEMENT = 2_000;

export async function readEarlierPayments(
  reader: Reader,
  batch: BonusBatch,
  at: Instant,
): Promise<EarlierPayments> {
  const since = instant(at - EARLIER_PAYMENTS_MS);
  const named: ReturnType<typeof parsePayment>[] = [];
  let count = 0;
  for (let after = 0; ;) {
    const read = (await reader.query(paymentsSql(batch, after, since))).map(parsePayment);
    const found = read.filter(
      ({ bonusId, openBatchId }) => bonusId !== null || openBatchId !== null,
    );
    count += found.length;
    named.push(...found.slice(0, MAX_DUPLICATES_NAMED - named.length));
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

/** Returns SQL for the next rows, each with the newest bonus and open batch of the same reference. */
function paymentsSql({ id, tenantId }: BonusBatch, after: number, since: Instant): string {
  const tenant = uuid.literal(tenantId);
  const fromOtherBatches = `FROM bonus_batch_rows other FORCE INDEX (reference) STRAIGHT_JOIN bonus_batches other_batch ON other_batch.id=other.batch_id
    WHERE other.reference=own.reference AND other.recipient_account_id=own.recipient_account_id AND other.batch_id<>own.batch_id
      AND other_batch.tenant_id=${tenant}`;
  return `SELECT own.number,
      (SELECT MAX(other.bonus_id) ${fromOtherBatches} AND other.status='paid' AND other.settled_at>=${time.literal(since)}) AS row_bonus_id,
      (SELECT MAX(single.id) FROM bonus_references single FORCE INDEX (PRIMARY)
        WHERE single.reference=own.reference AND single.recipient_account_id=own.recipient_account_id
          AND single.tenant_id=${tenant} AND single.created_at>=${time.literal(since)}) AS single_id,
      (SELECT MAX(other.batch_id) ${fromOtherBatches} AND other.status='pending'
        AND other_batch.status IN ('ready','executing') AND other_batch.canceled_at IS NULL) AS open_batch_id
    FROM bonus_batch_rows own FORCE INDEX (PRIMARY)
    WHERE own.batch_id=${uuid.literal(id)} AND own.number>${after} ORDER BY own.number LIMIT ${ROWS_PER_STATEMENT}`;
}

const nullableId = nullable(uuid);

function parsePayment(row: StoredRow) {
  const ids = [nullableId.parse(row.row_bonus_id), nullableId.parse(row.single_id)].flatMap(
    (id) => id ?? [],
  );
  return {
    number: integer.parse(row.number),
    // Ids of bonuses are ordered by time.
    bonusId: ids.toSorted().at(-1) ?? null,
    openBatchId: nullableId.parse(row.open_batch_id),
  };
}
