import type { CommandResult } from '../core/errors.js';
import type { Asset } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import type { Operation } from '../core/permissions.js';
import type { Reader } from '../db/database.js';
import type { Batch, BatchKindName, BatchRow } from '../db/entities/batches.js';
import type { PayoutSecrets } from '../db/entities/payouts.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import type { Column, TableRow } from '../spreadsheets/writing/cells.js';
import type { RowSecrets, SheetKind } from './validation/sheet-kind.js';

/** A pending row, and the row that must be settled before it, if any. */
export interface OpenRow {
  readonly batch: Batch;
  readonly row: BatchRow;
  /** Set if the funds or the month's allowance may run out. */
  readonly follows: number | null;
}

interface PaymentDeps {
  readonly reader: Reader;
  readonly writer: LedgerWriter;
}

/** Everything in which the kinds of batches differ. (docs/contract.md, Batches) */
export interface BatchKind {
  readonly name: BatchKindName;
  readonly permissions: Readonly<
    Record<'upload' | 'read' | 'template' | 'execute' | 'withdraw', Operation>
  >;
  /** True if the uploader never executes a batch, false if an approval policy decides. */
  readonly alwaysNeedsSecondPerson: boolean;
  readonly sheet: SheetKind;
  /** Seals the secrets of the row with this id, which its payment will have. Null if rows have none. */
  readonly seal: ((rowId: Uuid, secrets: RowSecrets) => PayoutSecrets) | null;
  /** Pays rows of one batch, or refuses them, in one group. Returns their results in order. */
  readonly payRows: (
    deps: PaymentDeps,
    rows: readonly OpenRow[],
  ) => Promise<readonly Pick<CommandResult<unknown>, 'outcome'>[]>;
  readonly result: ResultFile;
}

interface ResultFile {
  readonly columns: readonly Column[];
  readonly rowsOf: (
    reader: Reader,
    rows: readonly BatchRow[],
    asset: Asset,
  ) => Promise<readonly TableRow[]>;
}

export type BatchKinds = Readonly<Record<BatchKindName, BatchKind>>;
