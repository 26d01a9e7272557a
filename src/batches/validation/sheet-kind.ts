import type { Amount } from '../../core/amount.js';
import type { RecipientName, Recipients } from '../../accounts/recipients.js';
import type { Uuid } from '../../core/ids.js';
import type { BatchRow } from '../../db/entities/batches.js';
import type { FeeOperation, Tenant } from '../../db/entities/parties.js';
import type { FilledCell } from '../../spreadsheets/sheet.js';
import type { Column } from '../../spreadsheets/writing/cells.js';
import type { Problem, Reading } from './cells.js';

export interface TemplateColumn extends Column {
  readonly example: string;
  readonly note: string;
  readonly isRequired: boolean;
}

/** The files of one kind of batch. (docs/contract.md, Upload) */
export interface SheetKind {
  /** Name of the template's sheet. */
  readonly title: string;
  /** In the order of the template. */
  readonly columns: readonly TemplateColumn[];
  /** Two columns by which another sheet of a workbook is recognised as one to pay. */
  readonly markers: readonly [string, string];
  /** How a row of a result file, which has the column `file`, shows that it was paid. */
  readonly paid: {
    readonly file: string;
    readonly column: string;
    readonly matches: (text: string) => boolean;
    readonly message: string;
  };
  readonly feeOperation: FeeOperation;
  readonly readRecipient: (at: CellFinder) => RecipientReading;
  /** Masks what may be a secret in a cell whose column is not known. Null if no column is secret. */
  readonly conceal: ((text: string) => string) | null;
}

/** Returns the cell of a column. Null if it is empty or the column is missing. */
export type CellFinder = (column: string) => FilledCell | null;

interface RecipientReading {
  readonly recipient: Reading<ReadRecipient>;
  /** Further problems in the columns of the recipient. */
  readonly faults: readonly Problem[];
}

export interface ReadRecipient {
  /** As written in the file. */
  readonly text: string;
  /** The name to resolve; null if the row contains the whole address. */
  readonly name: RecipientName | null;
  /** `amount` is null if the row has no valid one. */
  readonly resolve: (found: Recipients, payer: Payer, amount: Amount | null) => Reading<Payee>;
}

export interface Payer {
  readonly sourceAccountId: Uuid;
  readonly tenant: Tenant;
}

export interface Payee extends Pick<BatchRow, 'recipientKey' | 'destination'> {
  /** Stored only sealed; null if the row has no secrets. */
  readonly secrets: RowSecrets | null;
}

export interface RowSecrets {
  readonly accountNumber: string;
  readonly holderDocument: string;
}
