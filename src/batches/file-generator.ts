import type { Failpoints } from '../core/failpoints.js';
import { FairQueue } from '../core/fair-queue.js';
import type { Database } from '../db/database.js';
import type { BonusBatch } from '../db/entities/bonuses.js';
import { CommitUnknown, DatabaseUnavailable, TransactionRetryable } from '../db/failures.js';
import { transact } from '../db/transact.js';
import { GenerationSuperseded, storeInPieces } from '../spreadsheets/stored-files.js';
import { withTableFiles } from '../spreadsheets/writing/with-table-files.js';
import type { TablePaths } from '../spreadsheets/writing/table-files.js';
import { type GeneratedFiles, storePieces } from './generated-files.js';
import { ERROR_COLUMNS, RESULT_COLUMNS } from './report-rows.js';
import { errorPieces, resultPieces } from './reports.js';
import type { BatchFile } from './rules.js';

/** Maximum of rows for which files are generated in the main thread. */
const SHORT_ROWS = 1_000;
/**
 * Time limit for writing, ten times what a hundred thousand rows take. After it, the batch ends
 * without a file, and the sweeper tries again.
 */
const MAX_WRITING_MS = 120_000;

const OF_MYSQL = [DatabaseUnavailable, CommitUnknown, TransactionRetryable, GenerationSuperseded];

interface FileGeneratorDeps {
  readonly database: Database;
  readonly failpoints: Failpoints;
}

/**
 * Generates a batch's errors or result file, as CSV and XLSX. Calls may be repeated, late or
 * concurrent.
 */
export class FileGenerator {
  /** Runs one large file at a time, to limit memory and temporary disk space. */
  private readonly large = new FairQueue(1);

  constructor(private readonly deps: FileGeneratorDeps) {}

  /**
   * Writes the files and stores their pieces. The caller completes them with `completeFiles`.
   * Throws `DatabaseUnavailable`, `GenerationSuperseded`, the reason of `signal`, and errors of the
   * file system.
   */
  async generate(kind: BatchFile, batch: BonusBatch, signal: AbortSignal): Promise<GeneratedFiles> {
    const { reader } = this.deps.database;
    const isLong = batch.rowCount > SHORT_ROWS;
    const table = {
      columns: kind === 'errors' ? ERROR_COLUMNS : RESULT_COLUMNS,
      sheetName: 'Result',
      pieces: kind === 'errors' ? errorPieces(reader, batch.id) : resultPieces(reader, batch),
      isLong,
    };
    const store = (paths: TablePaths): Promise<GeneratedFiles> => this.store(batch, paths, signal);
    if (!isLong) return withTableFiles(table, signal, store);
    const leave = await this.large.enter(batch.tenantId, signal);
    const until = AbortSignal.any([signal, AbortSignal.timeout(MAX_WRITING_MS)]);
    return withTableFiles(table, until, store).finally(leave);
  }

  /**
   * Generates the files. Returns null after a failure that is not MySQL's, so that the batch ends
   * without its files, which the sweeper generates later.
   */
  async generateIfPossible(
    kind: BatchFile,
    batch: BonusBatch,
    signal: AbortSignal,
  ): Promise<GeneratedFiles | null> {
    try {
      return await this.generate(kind, batch, signal);
    } catch (fault) {
      // Errors of the file system and of a MySQL connection look alike, so they are distinguished
      // by class.
      if (signal.aborted || OF_MYSQL.some((kind) => fault instanceof kind)) throw fault;
      return null;
    }
  }

  private async store(
    { id: batchId }: BonusBatch,
    paths: TablePaths,
    signal: AbortSignal,
  ): Promise<GeneratedFiles> {
    const { database, failpoints } = this.deps;
    let run: number | null = null;
    const last = await storeInPieces(paths, signal, async (rest) => {
      run = await transact(database, (transaction) =>
        storePieces(transaction, { batchId, run, rest }),
      );
      failpoints.pass('after_file_stored');
    });
    return { batchId, run, ...last };
  }
}
