import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { integer, nullable, time, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type BonusBatch, bonuses } from '../db/entities/bonuses.js';

/**
 * Finds rows of a ready batch whose reference was paid, or is going to be paid by another batch, to
 * the same account. (docs/contract.md, Review)
 */

export interface EarlierPayments {
  readonly count: number;
  /** The first `MAX_NAMED` in file order. */
  readonly rows: readonly EarlierPayment[];
}

interface EarlierPayment {
  readonly number: number;
  /** Null for a single bonus. */
  readonly batchId: Uuid | null;
  /** The newest bonus that paid. Null if another batch is going to pay. */
  readonly bonusId: Uuid | null;
}

const SEARCHED_MS = 90 * 24 * 3_600_000;
const MAX_NAMED = 100;
const ROWS_A_STATEMENT = 2_000;

export async function readEarlierPayments(
  reader: Reader,
  batch: BonusBatch,
  at: Instant,
): Promise<EarlierPayments> {
  const paid = paidSql(batch.tenantId, instant(at - SEARCHED_MS));
  const named: number[] = [];
  let count = 0;
  for (let after = 0; ;) {
    const last = await lastNumber(reader, batch.id, after);
    if (last === null) break;
    const found = await reader.query(
      `SELECT r.number ${ownSql(batch.id)} AND r.number>${after} AND r.number<=${last}
         AND ((SELECT 1 ${paid.byBatch} LIMIT 1) IS NOT NULL OR (SELECT 1 ${paid.bySingle} LIMIT 1) IS NOT NULL)
       ORDER BY r.number`,
    );
    count += found.length;
    named.push(...found.slice(0, MAX_NAMED - named.length).map((row) => integer.parse(row.number)));
    after = last;
  }
  return {
    count,
    rows: named.length === 0 ? [] : await readPayments(reader, batch.id, named, paid),
  };
}

async function readPayments(
  reader: Reader,
  batchId: Uuid,
  numbers: readonly number[],
  paid: PaidSql,
): Promise<readonly EarlierPayment[]> {
  const rows = await reader.query(
    `SELECT r.number,
       (SELECT MAX(o.bonus_id) ${paid.byBatch}) AS row_bonus_id,
       (SELECT MAX(s.id) ${paid.bySingle}) AS single_id,
       (SELECT MAX(o.batch_id) ${paid.byBatch} AND o.status='pending') AS open_batch_id
     ${ownSql(batchId)} AND r.number IN (${numbers.join(',')}) ORDER BY r.number`,
  );
  const matches = rows.map((row) => {
    const ids = [ID.parse(row.row_bonus_id), ID.parse(row.single_id)].flatMap((id) => id ?? []);
    // Ids of bonuses are ordered by time.
    const newest = ids.toSorted().at(-1) ?? null;
    return {
      number: integer.parse(row.number),
      bonusId: newest,
      openBatchId: ID.parse(row.open_batch_id),
    };
  });
  const ids = matches.flatMap(({ bonusId }) => bonusId ?? []);
  const found = ids.length === 0 ? [] : await reader.select(bonuses, { id: ids });
  const batchOf = new Map(found.map(({ id, batchId: of }) => [id, of]));
  return matches.map(({ number, bonusId, openBatchId }) => ({
    number,
    batchId: bonusId === null ? openBatchId : (batchOf.get(bonusId) ?? null),
    bonusId,
  }));
}

function ownSql(batchId: Uuid): string {
  return `FROM bonus_batch_rows r FORCE INDEX (PRIMARY)
    WHERE r.batch_id=${uuid.literal(batchId)} AND r.reference IS NOT NULL`;
}

const ID = nullable(uuid);

/** The number of the last of the next `ROWS_A_STATEMENT` rows, or null. */
async function lastNumber(reader: Reader, batchId: Uuid, after: number): Promise<number | null> {
  const [row] = await reader.query(
    `SELECT MAX(number) AS last FROM (SELECT number FROM bonus_batch_rows FORCE INDEX (PRIMARY)
       WHERE batch_id=${uuid.literal(batchId)} AND number>${after} ORDER BY number LIMIT ${ROWS_A_STATEMENT}) p`,
  );
  return nullable(integer).parse(row?.last);
}

/** SQL for earlier payments of the row `r`. */
interface PaidSql {
  readonly byBatch: string;
  readonly bySingle: string;
}

function paidSql(tenantId: Uuid, since: Instant): PaidSql {
  const tenant = uuid.literal(tenantId);
  return {
    byBatch: `FROM bonus_batch_rows o FORCE INDEX (reference) STRAIGHT_JOIN bonus_batches b ON b.id=o.batch_id
      WHERE o.reference=r.reference AND o.recipient_account_id=r.recipient_account_id AND o.batch_id<>r.batch_id
        AND b.tenant_id=${tenant} AND ((o.status='paid' AND o.settled_at>=${time.literal(since)})
          OR (o.status='pending' AND b.status IN ('ready','executing') AND b.canceled_at IS NULL))`,
    bySingle: `FROM bonus_references s FORCE INDEX (PRIMARY)
      WHERE s.reference=r.reference AND s.recipient_account_id=r.recipient_account_id
        AND s.tenant_id=${tenant} AND s.created_at>=${time.literal(since)}`,
  };
}
