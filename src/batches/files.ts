import type { Database, Transaction } from '../db/database.js';
import { type BonusBatch, bonusBatchStorage } from '../db/entities/bonuses.js';
import { CommitUnknown, DatabaseUnavailable, TransactionRetryable } from '../db/failures.js';
import { updateSql } from '../db/statements.js';
import {
  FileGenerator,
  type FileOwner,
  type GeneratedFiles,
  GenerationSuperseded,
  storePieces,
} from '../spreadsheets/generated-files.js';
import { ERROR_COLUMNS, errorPieces, RESULT_COLUMNS, resultPieces } from './read-batches.js';
import type { BatchFile } from './rules.js';

const SHORT_ROWS = 1_000;
/** Ten times what a hundred thousand rows take. */
const MAX_WRITING_MS = 120_000;

const OF_MYSQL = [DatabaseUnavailable, CommitUnknown, TransactionRetryable, GenerationSuperseded];

const OWNER: FileOwner = {
  async lockAttempt(transaction, batchId) {
    const storage = await transaction.find(bonusBatchStorage, { batchId }, { forUpdate: true });
    if (storage?.rowsRemovedAt !== null || storage.csvBytes !== null) return null;
    return storage.filesRun;
  },
  attemptSql: (batchId, filesRun) => updateSql(bonusBatchStorage, { filesRun }, { batchId }),
};

interface BatchFilesDeps {
  readonly database: Database;
}

export class BatchFiles {
  private readonly generator: FileGenerator;

  constructor(private readonly deps: BatchFilesDeps) {
    this.generator = new FileGenerator({ database: deps.database, owner: OWNER });
  }

  generate(kind: BatchFile, batch: BonusBatch, signal: AbortSignal): Promise<GeneratedFiles> {
    const { reader } = this.deps.database;
    const table = {
      columns: kind === 'errors' ? ERROR_COLUMNS : RESULT_COLUMNS,
      sheetName: 'Result',
      pieces: kind === 'errors' ? errorPieces(reader, batch.id) : resultPieces(reader, batch),
      isLong: batch.rowCount > SHORT_ROWS,
    };
    return this.generator.generate(batch, table, signal, MAX_WRITING_MS);
  }

  /** Returns null after a failure that is not MySQL's. The sweeper then tries again. */
  async generateIfPossible(
    kind: BatchFile,
    batch: BonusBatch,
    signal: AbortSignal,
  ): Promise<GeneratedFiles | null> {
    try {
      return await this.generate(kind, batch, signal);
    } catch (fault) {
      // Errors of the file system and of a MySQL connection differ only by class.
      if (signal.aborted || OF_MYSQL.some((kind) => fault instanceof kind)) throw fault;
      return null;
    }
  }
}

/** Stores the remaining pieces and the sizes. The files exist from the commit on. */
export async function completeFiles(
  transaction: Transaction,
  files: GeneratedFiles,
): Promise<void> {
  const { ownerId: batchId, csvBytes, xlsxBytes } = files;
  await storePieces(transaction, OWNER, files);
  await transaction.execute(updateSql(bonusBatchStorage, { csvBytes, xlsxBytes }, { batchId }));
}
