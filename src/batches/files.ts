import type { Database, Reader, Transaction } from '../db/database.js';
import {
  type Batch,
  type BatchProblem,
  type BatchRow,
  batchStorage,
} from '../db/entities/batches.js';
import { CommitUnknown, DatabaseUnavailable, TransactionRetryable } from '../db/failures.js';
import { updateSql } from '../db/statements.js';
import {
  type FileOwner,
  type GeneratedFiles,
  generateFiles,
  GenerationSuperseded,
  storePieces,
} from '../spreadsheets/generated-files.js';
import { FairQueue } from '../core/scheduling.js';
import type { Uuid } from '../core/ids.js';
import type { Column, TableRow } from '../spreadsheets/writing/cells.js';
import type { BatchKind, BatchKinds } from './kind.js';
import type { BatchFile } from './rules.js';
import { readBatchRows, readProblems } from './read-batches.js';

const SHORT_ROWS = 1_000;
/** Ten times as long as writing a hundred thousand rows takes. */
const MAX_WRITING_MS = 120_000;

const RETRYABLE = [DatabaseUnavailable, CommitUnknown, TransactionRetryable, GenerationSuperseded];

const FILE_OWNER: FileOwner = {
  async lockAttempt(transaction, batchId) {
    const storage = await transaction.find(batchStorage, { batchId }, { forUpdate: true });
    if (storage?.rowsRemovedAt !== null || storage.csvBytes !== null) return null;
    return storage.generationAttempt;
  },
  attemptSql: (batchId, generationAttempt) =>
    updateSql(batchStorage, { generationAttempt }, { batchId }),
};

export class BatchFiles {
  /** Runs one long table at a time, to limit memory and temporary disk space. */
  private readonly long = new FairQueue(1);

  constructor(
    private readonly database: Database,
    private readonly kinds: BatchKinds,
  ) {}

  async generate(file: BatchFile, batch: Batch, signal: AbortSignal): Promise<GeneratedFiles> {
    const { database } = this;
    const { reader } = database;
    const { result } = this.kinds[batch.kind];
    const table = {
      columns: file === 'errors' ? ERROR_COLUMNS : result.columns,
      sheetName: 'Result',
      pieces:
        file === 'errors' ? errorPieces(reader, batch.id) : resultPieces(reader, batch, result),
      isLong: batch.rowCount > SHORT_ROWS,
    };
    if (!table.isLong) return generateFiles(database, FILE_OWNER, batch.id, table, signal);
    const leave = await this.long.enter(batch.tenantId, signal);
    const until = AbortSignal.any([signal, AbortSignal.timeout(MAX_WRITING_MS)]);
    return generateFiles(database, FILE_OWNER, batch.id, table, until).finally(leave);
  }

  /** Returns null after a failure of the file system. A sweep then generates the files later. */
  async generateIfPossible(
    file: BatchFile,
    batch: Batch,
    signal: AbortSignal,
  ): Promise<GeneratedFiles | null> {
    try {
      return await this.generate(file, batch, signal);
    } catch (fault) {
      // Errors of the file system and of a MySQL connection differ only by class.
      if (signal.aborted || RETRYABLE.some((type) => fault instanceof type)) throw fault;
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
  await storePieces(transaction, FILE_OWNER, files);
  await transaction.execute(updateSql(batchStorage, { csvBytes, xlsxBytes }, { batchId }));
}

const ROWS_PER_PIECE = 250;

async function* errorPieces(reader: Reader, batchId: Uuid): AsyncGenerator<readonly TableRow[]> {
  let last: BatchProblem | undefined;
  do {
    const problems = await readProblems(reader, batchId, ROWS_PER_PIECE, last);
    yield problems.map(errorCells);
    last = problems[ROWS_PER_PIECE - 1];
  } while (last !== undefined);
}

async function* resultPieces(
  reader: Reader,
  batch: Batch,
  { rowsOf }: BatchKind['result'],
): AsyncGenerator<readonly TableRow[]> {
  const { asset } = batch;
  if (asset === null) return;
  let after: number | undefined = 0;
  do {
    const rows: readonly BatchRow[] = await readBatchRows(reader, batch, {}, after, ROWS_PER_PIECE);
    yield await rowsOf(reader, rows, asset);
    after = rows[ROWS_PER_PIECE - 1]?.number;
  } while (after !== undefined);
}

export const ERROR_COLUMNS: readonly Column[] = [
  { name: 'row', kind: 'number', width: 8 },
  { name: 'column', kind: 'text', width: 14 },
  { name: 'code', kind: 'text', width: 26 },
  { name: 'message', kind: 'text', width: 70 },
  { name: 'value', kind: 'party', width: 40 },
];

/** A problem of the whole file has no row, and one that concerns no column has no column. */
export function errorCells({ number, field, code, message, value }: BatchProblem): TableRow {
  const filled = (text: string): string | null => (text === '' ? null : text);
  return [number === 0 ? null : String(number), filled(field), code, message, filled(value)];
}
