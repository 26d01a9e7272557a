import { policyRefusingBatch } from '../../approvals/rules.js';
import type { Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import { bytes, time, uuid } from '../../db/columns.js';
import type { DatabaseDeps, Reader, Transaction } from '../../db/database.js';
import { approvalPolicies } from '../../db/entities/approvals.js';
import {
  type Batch,
  batches,
  type BatchProblem,
  batchProblems,
  batchStorage,
} from '../../db/entities/batches.js';
import { accounts } from '../../db/entities/parties.js';
import { olderSql, insertSql, literal, updateSql } from '../../db/statements.js';
import { transact } from '../../db/reader.js';
import { appendEvents } from '../../ledger/event-log.js';
import type { GeneratedFiles } from '../../spreadsheets/generated-files.js';
import { completeFiles } from '../files.js';
import type { earlierPaymentsColumns } from '../earlier-payments.js';
import type { BatchKind, BatchKinds } from '../kind.js';
import { deleteSomeProblems, deleteSomeRows, insertRowsSql } from '../row-storage.js';
import { SAME_FILE_MS } from '../rules.js';
import { batchEvent } from '../schemas.js';
import type { Problem } from './cells.js';
import type { RowChecker, ValidRow } from './rows.js';

/** Thrown if a later run has begun or the validation is over. */
export class ValidationSuperseded extends Error {
  override name = 'ValidationSuperseded';
}

export interface RecordDeps extends DatabaseDeps {
  readonly kinds: BatchKinds;
  readonly baseUrl: string;
}

/** Row 0 represents the file. */
export interface RowProblems {
  readonly number: number;
  readonly problems: readonly Problem[];
}

export type Progress = Pick<
  Batch,
  | 'rowCount'
  | 'rowsRejected'
  | 'asset'
  | 'totalRaw'
  | 'hiddenRows'
  | 'hiddenColumns'
  | 'skippedSheets'
  | 'unreadSheets'
>;

interface Findings {
  readonly isAccepted: boolean;
  readonly progress: Progress;
  /** The errors file. Null if no problem was found or the file could not be generated yet. */
  readonly errors: GeneratedFiles | null;
  /** The columns that store the earlier payments; empty if the file is rejected. */
  readonly earlier: Partial<ReturnType<typeof earlierPaymentsColumns>>;
}

const PROBLEMS_PER_INSERT = 1_000;

/**
 * Writes of a validation run. Each write checks the run's number in the batch's row, so that only
 * the latest of two concurrent runs can write.
 */
export class ValidationRecord {
  private constructor(
    private readonly deps: RecordDeps,
    readonly batch: Batch,
  ) {}

  private get kind(): BatchKind {
    return this.deps.kinds[this.batch.kind];
  }

  /** Begins a run and supersedes earlier ones. Returns null if the batch has been validated. */
  static begin(deps: RecordDeps, batchId: Uuid): Promise<ValidationRecord | null> {
    return transact(deps.database, async (transaction) => {
      const found = await transaction.find(batches, { id: batchId }, { forUpdate: true });
      if (found?.status !== 'validating') return null;
      const reset = {
        validationRun: found.validationRun + 1,
        asset: null,
        totalRaw: 0n,
        rowCount: 0,
        rowsRejected: 0,
        hiddenRows: 0,
        hiddenColumns: [],
        skippedSheets: 0,
        unreadSheets: [],
      };
      await transaction.execute(updateSql(batches, reset, { id: batchId }));
      await transaction.execute(updateSql(batchStorage, { problemRows: 0 }, { batchId }));
      return new ValidationRecord(deps, { ...found, ...reset });
    });
  }

  async clear(): Promise<void> {
    await this.clearRows();
    while (await this.write((transaction) => deleteSomeProblems(transaction, this.batch)));
  }

  private async clearRows(): Promise<void> {
    while (await this.write((transaction) => deleteSomeRows(transaction, this.batch)));
  }

  async add(
    rows: readonly ValidRow[],
    problems: readonly RowProblems[],
    progress: Progress,
  ): Promise<void> {
    await this.write(async (transaction) => {
      const statements = [updateSql(batches, progress, { id: this.batch.id })];
      statements.push(...insertRowsSql(this.kind, this.batch.id, rows));
      const stored = problems.flatMap((one) => this.problemRows(one));
      if (stored.length > 0)
        statements.push(
          `UPDATE batch_storage SET problem_rows=problem_rows+${stored.length} WHERE batch_id=${uuid.literal(this.batch.id)}`,
        );
      for (let from = 0; from < stored.length; from += PROBLEMS_PER_INSERT)
        statements.push(insertSql(batchProblems, stored.slice(from, from + PROBLEMS_PER_INSERT)));
      await transaction.all(statements);
    });
  }

  /**
   * Ends the validation and adds its event. Throws if, while the file was read, the fee account was
   * closed or a policy was set that refuses the batch.
   */
  async finish(
    { isAccepted, progress, errors, earlier }: Findings,
    sums: RowChecker,
    feeAccountId: Uuid | null,
  ): Promise<Batch> {
    if (!isAccepted) await this.clearRows();
    const { database, clock, baseUrl } = this.deps;
    return transact(database, async (transaction) => {
      if (errors !== null) await completeFiles(transaction, errors);
      const chargedId = isAccepted && sums.feesRaw > 0n ? feeAccountId : null;
      await this.lockAccounts(transaction, chargedId);
      await this.assertCurrentRun(transaction);
      const at = clock();
      if (isAccepted) await this.assertNotRefused(transaction, progress, at);
      const finished: Batch = {
        ...this.batch,
        ...progress,
        status: isAccepted ? 'ready' : 'rejected',
        feesRaw: sums.feesRaw,
        feeAccountId: chargedId,
        duplicateCount: sums.duplicateCount,
        duplicateRows: sums.duplicateRows,
        sameFileBatchId: await findSameFile(transaction, this.batch),
        validatedAt: at,
        filesGeneratedAt: errors === null ? null : at,
      };
      const statement = updateSql(batches, finished, { id: finished.id });
      const event = batchEvent(isAccepted ? 'ready' : 'rejected', finished, baseUrl);
      const unpaidRows = isAccepted ? progress.rowCount : 0;
      const stored = { unpaidRows, ...earlier };
      const counted = updateSql(batchStorage, stored, { batchId: finished.id });
      await appendEvents(transaction, [event], at, [statement, counted]);
      return finished;
    });
  }

  /**
   * Locks the source account, which protects the batch, and the fee account. Throws if the fee
   * account was closed.
   */
  private async lockAccounts(transaction: Transaction, chargedId: Uuid | null): Promise<void> {
    const id = [this.batch.sourceAccountId, ...(chargedId === null ? [] : [chargedId])];
    const locked = await transaction.select(accounts, { id }, { orderBy: ['id'], forUpdate: true });
    if (locked.length < id.length) throw new Error('an account of a batch does not exist');
    if (locked.some((account) => account.id === chargedId && account.status === 'closed'))
      throw new Error('the account of the fees was closed while the file was read');
  }

  /**
   * Runs while the source account is locked, so the policy cannot change before the batch is ready.
   */
  private async assertNotRefused(
    transaction: Transaction,
    { asset, totalRaw }: Progress,
    at: Instant,
  ): Promise<void> {
    if (asset === null) return;
    const { sourceAccountId: accountId } = this.batch;
    const row = await transaction.find(approvalPolicies, { accountId, asset });
    if (policyRefusingBatch(row, totalRaw, at) !== null)
      throw new Error('the approval policy was changed while the file was read');
  }

  private async assertCurrentRun(transaction: Transaction): Promise<void> {
    const { id, validationRun } = this.batch;
    const now = await transaction.find(batches, { id }, { forUpdate: true });
    if (now?.status !== 'validating' || now.validationRun !== validationRun)
      throw new ValidationSuperseded('another run validates this batch');
  }

  private write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return transact(this.deps.database, async (transaction) => {
      await this.assertCurrentRun(transaction);
      return work(transaction);
    });
  }

  private problemRows({ number, problems }: RowProblems): BatchProblem[] {
    const batchId = this.batch.id;
    return problems.map((problem, ordinal) => ({ batchId, number, ordinal, ...problem }));
  }
}

async function findSameFile(reader: Reader, batch: Batch): Promise<Uuid | null> {
  const { id, tenantId, fileSha256, createdAt } = batch;
  const since = time.literal(instant(createdAt - SAME_FILE_MS));
  const [row] = await reader.query(
    `SELECT b.id FROM batches b FORCE INDEX (same_file)
     WHERE b.tenant_id=${literal(batches, 'tenantId', tenantId)} AND b.file_sha256=${bytes.literal(fileSha256)}
       AND b.created_at>${since} AND ${olderSql('b', { createdAt, id })}
     ORDER BY b.created_at DESC, b.id DESC LIMIT 1`,
  );
  return row === undefined ? null : uuid.parse(row.id);
}
