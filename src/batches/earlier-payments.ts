import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { Deadline, withTimeout } from '../core/timers.js';
import { integer, nullable, time, uuid } from '../db/columns.js';
import type { DatabaseDeps, Reader, StoredRow } from '../db/database.js';
import { type Batch, type BatchKindName, batchStorage } from '../db/entities/batches.js';
import { bonuses } from '../db/entities/bonuses.js';
import { payouts } from '../db/entities/payouts.js';
import { transact } from '../db/reader.js';
import { updateSql } from '../db/statements.js';
import type { Table } from '../db/table.js';
import { type EarlierPayments, MAX_DUPLICATES_NAMED } from './rules.js';

type OwnBatch = Pick<Batch, 'id' | 'kind' | 'tenantId'>;

/** Where the payments of a kind of batches are found. */
interface PaymentSource {
  readonly table: Table<{ readonly id: Uuid; readonly batchId: Uuid | null }>;
  /** Returns SQL of the newest single payment like the row `own`, or of NULL if none has a reference. */
  readonly single: (tenant: string, since: string) => string;
  /** SQL of whether the payment of the row `other` counts. */
  readonly counts: string;
}

const SOURCES: Readonly<Record<BatchKindName, PaymentSource>> = {
  bonus: {
    table: bonuses,
    single: (tenant, since) =>
      `(SELECT MAX(single.id) FROM bonus_references single FORCE INDEX (PRIMARY)
        WHERE single.reference=own.reference AND single.recipient_account_id=own.recipient_key
          AND single.tenant_id=${tenant} AND single.created_at>=${since})`,
    counts: 'TRUE',
  },
  payout: {
    table: payouts,
    single: () => 'NULL',
    counts: `EXISTS (SELECT 1 FROM payouts paid WHERE paid.id=other.payment_id
      AND paid.status NOT IN ('rejected','canceled','failed','returned'))`,
  },
};

/** Age up to which a stored result serves all readers. */
const KEPT_MS = 3_000;
/** How long a reader waits for a computation before it gets an older result. */
const WAIT_MS = 1_500;
/** Bounds a computation, which readers share, so that no request's deadline ends it. */
const COMPUTATION_MS = 20_000;
/** A computation is repeated after this many times its duration, at most half a minute, at the earliest. */
const REST_TIMES = 4;
const MAX_REST_MS = 30_000;

/**
 * Reads the earlier payments of ready batches, which are stored when validation ends. A result that
 * is older than a few seconds is computed and stored again, once for all readers of this process.
 */
export class EarlierPaymentsReader {
  private readonly inProgress = new Map<Uuid, Promise<EarlierPayments>>();
  /** Batches whose last computation ended a short time ago. */
  private readonly resting = new Set<Uuid>();

  constructor(
    private readonly deps: DatabaseDeps,
    private readonly waitMs = WAIT_MS,
  ) {}

  /**
   * Returns a result of the last seconds, or an older one if the computation takes long, as that of
   * a large batch. Throws DatabaseUnavailable.
   */
  async read(reader: Reader, batch: OwnBatch): Promise<EarlierPayments> {
    const stored = await readStored(reader, batch);
    if (stored === null) return this.compute(batch);
    const { payments } = stored;
    if (isRecent(stored, this.deps.clock()) || this.resting.has(batch.id)) return payments;
    const computed = this.compute(batch).catch(() => payments);
    return withTimeout(this.waitMs, () => computed, payments);
  }

  /** Begins a computation, or joins the one in progress. */
  private compute(batch: OwnBatch): Promise<EarlierPayments> {
    const { id } = batch;
    const running = this.inProgress.get(id);
    if (running !== undefined) return running;
    const beganAt = performance.now();
    const computed = this.refresh(batch).finally(() => {
      const restMs = Math.min(MAX_REST_MS, REST_TIMES * (performance.now() - beganAt));
      this.inProgress.delete(id);
      this.resting.add(id);
      setTimeout(() => this.resting.delete(id), restMs).unref();
    });
    this.inProgress.set(id, computed);
    return computed;
  }

  private async refresh(batch: OwnBatch): Promise<EarlierPayments> {
    const { database, clock } = this.deps;
    const owner = { tenantId: batch.tenantId, deadline: Deadline.afterMs(COMPUTATION_MS) };
    const { searches } = database.readerFor(owner);
    const computed = await computeEarlierPayments(searches, batch, clock());
    await transact(database, (transaction) =>
      transaction.execute(
        updateSql(batchStorage, earlierPaymentsColumns(computed, clock()), { batchId: batch.id }),
      ),
    );
    return computed;
  }
}

/** Returns a recent result, or computes one. */
export async function readEarlierPayments(
  reader: Reader,
  batch: OwnBatch,
  at: Instant,
): Promise<EarlierPayments> {
  const stored = await readStored(reader, batch);
  if (stored !== null && isRecent(stored, at)) return stored.payments;
  return computeEarlierPayments(reader, batch, at);
}

export function earlierPaymentsColumns(computed: EarlierPayments, at: Instant) {
  return { earlierPayments: JSON.stringify(computed), earlierPaymentsAt: at };
}

interface StoredPayments {
  readonly payments: EarlierPayments;
  readonly at: Instant;
}

async function readStored(
  reader: Reader,
  { id: batchId }: OwnBatch,
): Promise<StoredPayments | null> {
  const stored = await reader.find(batchStorage, { batchId });
  const { earlierPayments = null, earlierPaymentsAt: at = null } = stored ?? {};
  if (earlierPayments === null || at === null) return null;
  // The text of `earlierPaymentsColumns`.
  return { payments: JSON.parse(earlierPayments) as EarlierPayments, at };
}

function isRecent({ at }: StoredPayments, now: Instant): boolean {
  return now <= at + KEPT_MS;
}

const EARLIER_PAYMENTS_MS = 90 * 24 * 3_600_000;
const ROWS_PER_STATEMENT = 2_000;

/** Reads all rows of the batch, and payments of the 90 days before `at`. */
export async function computeEarlierPayments(
  reader: Reader,
  batch: OwnBatch,
  at: Instant,
): Promise<EarlierPayments> {
  const since = instant(at - EARLIER_PAYMENTS_MS);
  const named: ReturnType<typeof parsePayment>[] = [];
  let count = 0;
  for (let after = 0; ;) {
    const read = (await reader.query(paymentsSql(batch, after, since))).map(parsePayment);
    const found = read.filter(
      ({ paymentId, openBatchId }) => paymentId !== null || openBatchId !== null,
    );
    count += found.length;
    named.push(...found.slice(0, MAX_DUPLICATES_NAMED - named.length));
    const last = read.at(-1);
    if (last === undefined) break;
    after = last.number;
  }
  const ids = named.flatMap(({ paymentId }) => paymentId ?? []);
  const paid = ids.length === 0 ? [] : await reader.select(SOURCES[batch.kind].table, { id: ids });
  const batchOf = new Map(paid.map(({ id, batchId }) => [id, batchId]));
  const rows = named.map(({ number, paymentId, openBatchId }) => ({
    number,
    batchId: paymentId === null ? openBatchId : (batchOf.get(paymentId) ?? null),
    paymentId,
  }));
  return { count, rows };
}

/** Returns SQL for the next rows, each with the newest payment and open batch of the same reference. */
function paymentsSql({ id, kind, tenantId }: OwnBatch, after: number, since: Instant): string {
  const { single, counts } = SOURCES[kind];
  const tenant = uuid.literal(tenantId);
  const fromOtherBatches = `FROM batch_rows other FORCE INDEX (reference) STRAIGHT_JOIN batches other_batch ON other_batch.id=other.batch_id
    WHERE other.reference=own.reference AND other.recipient_key=own.recipient_key AND other.batch_id<>own.batch_id
      AND other_batch.tenant_id=${tenant}`;
  return `SELECT own.number,
      (SELECT MAX(other.payment_id) ${fromOtherBatches} AND other.status='paid' AND other.settled_at>=${time.literal(since)} AND ${counts}) AS row_payment_id,
      ${single(tenant, time.literal(since))} AS single_id,
      (SELECT MAX(other.batch_id) ${fromOtherBatches} AND other.status='pending'
        AND other_batch.status IN ('ready','executing') AND other_batch.canceled_at IS NULL) AS open_batch_id
    FROM batch_rows own FORCE INDEX (PRIMARY)
    WHERE own.batch_id=${uuid.literal(id)} AND own.number>${after} ORDER BY own.number LIMIT ${ROWS_PER_STATEMENT}`;
}

const nullableId = nullable(uuid);

function parsePayment(row: StoredRow) {
  const ids = [nullableId.parse(row.row_payment_id), nullableId.parse(row.single_id)].flatMap(
    (id) => id ?? [],
  );
  return {
    number: integer.parse(row.number),
    // Ids of payments are ordered by time.
    paymentId: ids.toSorted().at(-1) ?? null,
    openBatchId: nullableId.parse(row.open_batch_id),
  };
}
