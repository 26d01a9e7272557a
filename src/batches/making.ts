import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Failpoints } from '../core/failpoints.js';
import { FairQueue } from '../core/fair-queue.js';
import type { Database } from '../db/database.js';
import type { BonusBatch } from '../db/entities/bonuses.js';
import { CommitUnknown, DatabaseUnavailable, TransactionRetryable } from '../db/failures.js';
import { writeApart } from './files/apart/table-writing.js';
import { Turns } from './files/turns.js';
import { ERROR_COLUMNS, RESULT_COLUMNS } from './files/writing/reports.js';
import { TableFiles, type TablePaths } from './files/writing/table.js';
import { MakingSuperseded, PIECE_BYTES } from './files/stored-pieces.js';
import { FileStoring, type MadeFiles } from './made-files.js';
import { errorPieces, resultPieces } from './reports.js';
import type { BatchFile } from './rules.js';

/** A smaller batch is written where it stands: a thread and its packages take half a second. */
const SHORT_ROWS = 1_000;
/** A hundred thousand rows take a tenth of it; then the batch ends without, and the sweeper tries again. */
const MAX_WRITING_MS = 120_000;

const OF_MYSQL = [DatabaseUnavailable, CommitUnknown, TransactionRetryable, MakingSuperseded];

export interface FileMakerParts {
  readonly database: Database;
  readonly failpoints: Failpoints;
}

/** Makes the files that a batch gives back, as CSV and XLSX, once. Safe to be called twice, late, and beside itself. */
export class FileMaker {
  /** What a large one takes of memory and of the temporary disk is taken once. */
  private readonly large = new FairQueue(1);

  constructor(private readonly parts: FileMakerParts) {}

  /**
   * Writes the files and stores them; they are there when whoever calls it has kept them (keepFiles). Throws
   * DatabaseUnavailable, MakingSuperseded, the signal's reason, and what the file system says.
   */
  async make(kind: BatchFile, batch: BonusBatch, signal: AbortSignal): Promise<MadeFiles> {
    const folder = await mkdtemp(join(tmpdir(), 'batch-'));
    try {
      const paths = { csv: join(folder, 'csv'), xlsx: join(folder, 'xlsx') };
      await this.write(kind, batch, paths, signal);
      return await this.store(batch, paths, signal);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** The same, or null where it is no fault of MySQL: the batch ends without its files, and the sweeper makes them. */
  async makeIfPossible(kind: BatchFile, batch: BonusBatch, signal: AbortSignal): Promise<MadeFiles | null> {
    try {
      return await this.make(kind, batch, signal);
    } catch (fault) {
      // What the file system says looks like what MySQL's connection says: these are told apart by their names.
      if (signal.aborted || OF_MYSQL.some((kind) => fault instanceof kind)) throw fault;
      return null;
    }
  }

  private async write(kind: BatchFile, batch: BonusBatch, paths: TablePaths, signal: AbortSignal): Promise<void> {
    const { reader } = this.parts.database;
    const columns = kind === 'errors' ? ERROR_COLUMNS : RESULT_COLUMNS;
    const pieces = kind === 'errors' ? errorPieces(reader, batch.id) : resultPieces(reader, batch);
    if (batch.rowCount > SHORT_ROWS) {
      const leave = await this.large.enter(batch.tenantId, signal);
      const until = AbortSignal.any([signal, AbortSignal.timeout(MAX_WRITING_MS)]);
      return writeApart({ columns, paths }, pieces, until).finally(leave);
    }
    const files = new TableFiles(columns, paths);
    const turns = new Turns();
    try {
      for await (const rows of pieces) {
        signal.throwIfAborted();
        await files.add(rows);
        await turns.pause();
      }
      await files.end();
    } finally {
      files.destroy();
    }
  }

  private async store({ id }: BonusBatch, paths: TablePaths, signal: AbortSignal): Promise<MadeFiles> {
    const { database, failpoints } = this.parts;
    const storing = new FileStoring(database, id, () => failpoints.pass('after_file_stored'));
    for (const format of ['csv', 'xlsx'] as const)
      await storing.add(format, createReadStream(paths[format], { highWaterMark: PIECE_BYTES, signal }));
    return storing.made;
  }
}
