import type { Uuid } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { DatabaseDeps } from '../db/database.js';
import { type BonusBatch, bonusBatches, bonusBatchStorage } from '../db/entities/bonuses.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { lockAccount } from '../accounts/access.js';
import { appendEvents } from '../ledger/event-log.js';
import { GenerationSuperseded } from '../spreadsheets/generated-files.js';
import { type BatchFiles, completeFiles } from './files.js';
import { batchOfEventResource } from './schemas.js';
import { isSettled } from './rules.js';

export interface EndingDeps extends DatabaseDeps {
  readonly baseUrl: string;
  readonly files: BatchFiles;
}

/** Generates the result file, then sets the status and adds the event in one transaction. */
export async function endExecution(
  { database, clock, baseUrl, files }: EndingDeps,
  batch: BonusBatch,
  signal: AbortSignal,
): Promise<void> {
  const { id, tenantId } = batch;
  const made = await files.generateIfPossible('result', batch, signal);
  await transact(database, async (transaction) => {
    if (made !== null) await completeFiles(transaction, made);
    // Locking the account, which guards the batch, last keeps the lock short.
    await lockAccount(transaction, batch.sourceAccountId);
    const settled = await transaction.find(bonusBatches, { id }, { forUpdate: true });
    if (settled === undefined || !isSettled(settled))
      throw new GenerationSuperseded('another process has ended the batch');
    const at = clock();
    const status = settled.rowsFailed === 0 ? 'completed' : 'partially_failed';
    const end = { status, finishedAt: at, filesMadeAt: made === null ? null : at } as const;
    const object = () => batchOfEventResource.present({ batch: { ...settled, ...end }, baseUrl });
    const event = { tenantId, type: `bonus_batch.${status}`, resourceId: id, object } as const;
    const unpaid = updateSql(
      bonusBatchStorage,
      { unpaidRows: settled.rowsFailed },
      { batchId: id },
    );
    await appendEvents(transaction, [event], at, [updateSql(bonusBatches, end, { id }), unpaid]);
  });
}

const BATCHES_AT_A_TIME = 20;

/** Generates files that ended batches lack after a failure. Tries all before it throws. */
export async function generateMissing(deps: LaterDeps, signal: AbortSignal): Promise<void> {
  const faults: unknown[] = [];
  for (let older = ''; !signal.aborted;) {
    const found = await deps.database.reader.query(
      `SELECT s.batch_id FROM bonus_batch_storage s FORCE INDEX (unmade) JOIN bonus_batches b ON b.id=s.batch_id
       WHERE s.rows_removed_at IS NULL AND s.csv_bytes IS NULL${older}
         AND (b.status IN ('completed','partially_failed') OR (b.status='rejected' AND b.rejection_code IS NULL))
       ORDER BY s.batch_id DESC LIMIT ${BATCHES_AT_A_TIME}`,
    );
    const ids = found.map((row) => uuid.parse(row.batch_id));
    // In random order, so that several workers rarely process the same batch.
    for (const id of ids.toSorted(() => Math.random() - 0.5))
      await generateLater(deps, id, signal).catch((fault: unknown) => {
        if (!(fault instanceof GenerationSuperseded)) faults.push(fault);
      });
    const last = ids.at(-1);
    if (last === undefined || ids.length < BATCHES_AT_A_TIME) break;
    older = ` AND s.batch_id<${uuid.literal(last)}`;
  }
  const [first] = faults;
  if (first !== undefined)
    throw first instanceof Error ? first : new Error('files could not be made', { cause: first });
}

type LaterDeps = Omit<EndingDeps, 'baseUrl'>;

async function generateLater(
  { database, clock, files }: LaterDeps,
  id: Uuid,
  signal: AbortSignal,
): Promise<void> {
  const batch = await database.reader.find(bonusBatches, { id });
  if (batch === undefined) return;
  const made = await files.generate(
    batch.status === 'rejected' ? 'errors' : 'result',
    batch,
    signal,
  );
  await transact(database, async (transaction) => {
    await completeFiles(transaction, made);
    await transaction.execute(updateSql(bonusBatches, { filesMadeAt: clock() }, { id }));
  });
}
