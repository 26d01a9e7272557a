import type { Uuid } from '../core/ids.js';
import type { Database, Transaction } from '../db/database.js';
import { type BonusBatchFile, bonusBatchFiles, bonusBatchStorage } from '../db/entities/bonuses.js';
import { uuid } from '../db/columns.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import type { FileKind } from './files/open-sheet.js';
import { MakingSuperseded, PIECES_A_TRANSACTION } from './files/stored-pieces.js';

/** Where the files of a batch are kept: in pieces, beside its upload. */

/** The files of a making, whose batch does not say yet that they are there. */
export interface MadeFiles {
  readonly batchId: Uuid;
  /** Null where nothing of them is stored yet. */
  readonly run: number | null;
  /** What is left to store, at most a megabyte: of a small batch everything. */
  readonly rest: readonly BonusBatchFile[];
  readonly csvBytes: number;
  readonly xlsxBytes: number;
}

/** Stores the files of a batch, piece by piece. Every method throws MakingSuperseded. */
export class FileStoring {
  private run: number | null = null;
  private rest: BonusBatchFile[] = [];
  private readonly bytes = { csv: 0, xlsx: 0 };

  /** `onStored`: some pieces of more are in the database. */
  constructor(
    private readonly database: Database,
    private readonly batchId: Uuid,
    private readonly onStored: () => void,
  ) {}

  async add(format: FileKind, content: AsyncIterable<Buffer>): Promise<void> {
    let number = 0;
    for await (const piece of content) {
      this.bytes[format] += piece.length;
      this.rest.push({ batchId: this.batchId, format, number, content: piece });
      number += 1;
      if (this.rest.length === PIECES_A_TRANSACTION) await this.flush();
    }
  }

  get made(): MadeFiles {
    const { batchId, run, rest, bytes } = this;
    return { batchId, run, rest, csvBytes: bytes.csv, xlsxBytes: bytes.xlsx };
  }

  private async flush(): Promise<void> {
    const run = await transact(this.database, (transaction) => storePieces(transaction, this.made));
    this.run = run;
    this.rest = [];
    this.onStored();
  }
}

/** Stores the rest. From the commit on the files are there; the caller says so on the batch's row. Throws MakingSuperseded. */
export async function keepFiles(transaction: Transaction, made: MadeFiles): Promise<void> {
  const { batchId, csvBytes, xlsxBytes } = made;
  await storePieces(transaction, made);
  await transaction.execute(updateSql(bonusBatchStorage, { csvBytes, xlsxBytes }, { batchId }));
}

/** The first pieces shut earlier makings out, and take away what they left. Answers the number of this one. */
async function storePieces(transaction: Transaction, { batchId, run, rest }: MadeFiles): Promise<number> {
  const storage = await transaction.find(bonusBatchStorage, { batchId }, { forUpdate: true });
  if (storage?.rowsRemovedAt !== null || storage.csvBytes !== null || (run !== null && storage.filesRun !== run))
    throw new MakingSuperseded('another process makes these files, or they are no longer wanted');
  const filesRun = run ?? storage.filesRun + 1;
  if (run === null) {
    await transaction.execute(`DELETE FROM bonus_batch_files WHERE batch_id=${uuid.literal(batchId)}`);
    await transaction.execute(updateSql(bonusBatchStorage, { filesRun }, { batchId }));
  }
  if (rest.length > 0) await transaction.execute(insertSql(bonusBatchFiles, rest));
  return filesRun;
}
