import { limitsOf } from '../../operations/limits.js';
import { type Limits, operationLimitRefusal } from '../../accounts/rules.js';
import type { Recipients } from '../../accounts/recipients.js';
import {
  type Amount,
  type Asset,
  eachAsset,
  calculateFee,
  type FeeSchedule,
  MAX_RAW,
} from '../../core/amount.js';
import { MAX_REFERENCE } from '../../bonuses/decide.js';
import { MAX_DESCRIPTION } from '../../core/checked-text.js';
import type { Uuid } from '../../core/ids.js';
import type { Metadata } from '../../core/metadata.js';
import type { Reader } from '../../db/database.js';
import type { Batch } from '../../db/entities/batches.js';
import { accountLimits } from '../../db/entities/identity.js';
import {
  accounts,
  type FeeOperation,
  feeSchedules,
  isFeeOf,
  tenants,
} from '../../db/entities/parties.js';
import { type Cell, type FilledCell, isBlank, type SheetRow } from '../../spreadsheets/sheet.js';
import { MAX_DUPLICATES_NAMED } from '../rules.js';
import {
  cellProblem,
  concealProblems,
  lineBreakProblem,
  type Problem,
  quote,
  readAmount,
  readAsset,
  type Reading,
  readText,
} from './cells.js';
import { type Header, positionsOf, readMetadata } from './header.js';
import type { Payee, Payer, ReadRecipient, SheetKind } from './sheet-kind.js';

/** Limits and fees, read once so that all rows have the same. */
interface BatchTerms {
  readonly payer: Payer;
  readonly limits: Readonly<Record<Asset, Limits>>;
  /** Null if the source account pays no fee in the asset. */
  readonly fees: Readonly<Record<Asset, FeeSchedule | null>>;
}

export interface ReadRow {
  readonly number: number;
  readonly cells: Readonly<Record<string, FilledCell | null>>;
  /** Problems besides those of the readings. */
  readonly faults: readonly Problem[];
  readonly recipient: Reading<ReadRecipient>;
  readonly amount: Reading<bigint>;
  readonly asset: Reading<Asset>;
  readonly description: Reading<string | null>;
  readonly reference: Reading<string | null>;
  readonly metadata: ReturnType<typeof readMetadata>;
}

export interface ValidRow extends Payee {
  readonly number: number;
  readonly recipient: string;
  readonly raw: bigint;
  readonly feeRaw: bigint;
  readonly description: string | null;
  readonly reference: string | null;
  readonly metadata: Metadata | null;
}

type CheckedRow =
  | { readonly number: number; readonly valid: ValidRow }
  | { readonly number: number; readonly problems: readonly Problem[] };

type Layout = Omit<Header, 'problems'>;

/** Reads a row. Returns null if it is empty; empty rows do not count. */
export function readRow({ number, cells }: SheetRow, layout: Layout): ReadRow | null {
  const { columns, sheet } = layout;
  const at = (name: string): FilledCell | null => cells[columns[name] ?? -1] ?? null;
  const own = Object.fromEntries(sheet.columns.map(({ name }) => [name, at(name)]));
  const faults = rowFaults(number, cells, layout);
  const labels = Array.from(layout.metadata.values(), (index) => cells[index] ?? null);
  if (
    faults.length === 0 &&
    [...Object.values(own), ...labels].every(
      (cell) => isBlank(cell) && cell?.kind !== 'formula' && cell?.hasLineBreak !== true,
    )
  )
    return null;
  const { recipient, faults: ofRecipient } = sheet.readRecipient(at);
  return {
    number,
    cells: own,
    faults: [...faults, ...ofRecipient],
    recipient,
    amount: readAmount(at('amount')),
    asset: readAsset(at('asset')),
    description: readText('description', at('description'), MAX_DESCRIPTION),
    reference: readText('reference', at('reference'), MAX_REFERENCE),
    metadata: readMetadata(cells, layout.metadata),
  };
}

function rowFaults(
  number: number,
  cells: readonly Cell[],
  { sheet, columns, metadata, paidColumns, width }: Layout,
): Problem[] {
  const read = positionsOf({ columns, metadata });
  const faults: Problem[] = [];
  const paid = paidColumns.find((index) => sheet.paid.matches(cells[index]?.text.trim() ?? ''));
  if (paid !== undefined) faults.push(paidProblem(sheet, number, cells[paid] ?? null));
  const hasLineBreak = (index: number): boolean => cells[index]?.hasLineBreak === true;
  const broken = cells.findIndex(
    (_, index) => index < width && hasLineBreak(index) && !read.has(index),
  );
  if (broken >= 0) faults.push(lineBreakProblem('', cells[broken] ?? null, broken));
  const extra = cells.findIndex(
    (cell, index) => index >= width && (!isBlank(cell) || hasLineBreak(index)),
  );
  if (extra >= 0) faults.push(tooLongProblem(number, cells[extra] ?? null, extra, width));
  return faults;
}

/** A result file that is uploaded again would pay everyone again. */
function paidProblem({ paid }: SheetKind, number: number, cell: Cell): Problem {
  const message = `row ${number} ${paid.message}. Remove the row, or the column ${paid.column} if it shall be paid again.`;
  return cellProblem(paid.column, 'already_paid', message, cell);
}

/** In a CSV, an unquoted comma changes 100000,75 to the amount 100000 and moves all later cells. */
function tooLongProblem(number: number, cell: Cell, index: number, width: number): Problem {
  const where = `row ${number} has ${quote(cell?.text ?? '')} in column ${index + 1}, but the header has ${width} columns`;
  const advice =
    'In a CSV, put text that contains the separator in quotation marks; in a workbook, name the column or empty the cell';
  return cellProblem('', 'invalid_field', `${where}. ${advice}.`, cell);
}

/** True for what a person wrote and may see: an amount too small to be an account number, and their own reference. */
function showsNoSecret({ code }: Problem): boolean {
  return code === 'below_minimum' || code === 'duplicate_reference';
}

function amountOf({ amount, asset }: ReadRow): Amount | null {
  return 'value' in amount && 'value' in asset ? { raw: amount.value, asset: asset.value } : null;
}

type Refuse = (field: string, code: Problem['code'], message: string) => void;

/** Checks rows in file order, and keeps values for comparison with later rows. */
export class RowChecker {
  asset: Asset | null = null;
  totalRaw = 0n;
  feesRaw = 0n;
  duplicateCount = 0;
  readonly duplicateRows: number[] = [];
  private readonly references = new Map<string, number>();
  private readonly recipients = new Set<Uuid>();

  constructor(
    private readonly terms: BatchTerms,
    private readonly conceal: SheetKind['conceal'],
  ) {}

  /** Checks a row. Shows no secret, even if an open quote, or a comma too many, has moved it to another column. */
  check(row: ReadRow, found: Recipients): CheckedRow {
    const checked = this.checkCells(row, found);
    if ('valid' in checked || checked.problems.every(showsNoSecret)) return checked;
    return { ...checked, problems: concealProblems(checked.problems, this.conceal) };
  }

  private checkCells(row: ReadRow, found: Recipients): CheckedRow {
    const { number, cells } = row;
    const problems: Problem[] = [...row.faults];
    const refuse: Refuse = (field, code, message) => {
      problems.push(cellProblem(field, code, message, cells[field] ?? null));
    };
    const value = <T>(reading: Reading<T>): T | undefined => {
      if ('value' in reading) return reading.value;
      problems.push(reading.problem);
      return undefined;
    };
    const amount = amountOf(row);
    const recipient = value(row.recipient);
    const { payer, limits } = this.terms;
    const payee = recipient && value(recipient.resolve(found, payer, amount));
    const raw = value(row.amount);
    const asset = value(row.asset);
    if (amount !== null) {
      const refusal = operationLimitRefusal(amount, limits[amount.asset]);
      if (refusal !== null) refuse('amount', refusal.code, refusal.message);
    }
    if (asset !== undefined && this.asset !== null && asset !== this.asset)
      refuse(
        'asset',
        'mixed_asset',
        `the batch is in ${this.asset}: put what is in ${asset} into a file of its own`,
      );
    const description = value(row.description) ?? null;
    const reference = value(row.reference) ?? null;
    problems.push(...row.metadata.problems);
    const first = reference === null ? undefined : this.references.get(reference);
    if (first !== undefined)
      refuse('reference', 'duplicate_reference', `row ${first} has the same reference`);
    else if (reference !== null) this.references.set(reference, number);
    if (
      problems.length > 0 ||
      recipient === undefined ||
      payee === undefined ||
      raw === undefined ||
      asset === undefined
    )
      return { number, problems };
    const schedule = this.terms.fees[asset];
    const feeRaw = schedule === null ? 0n : calculateFee(schedule, raw);
    if (this.totalRaw + raw + this.feesRaw + feeRaw > MAX_RAW) {
      refuse(
        'amount',
        'invalid_field',
        `with this row the file would pay more than ${MAX_RAW} in all`,
      );
      return { number, problems };
    }
    const payment = { recipient: recipient.text, ...payee, raw, feeRaw };
    const { metadata } = row.metadata;
    const valid = { number, ...payment, description, reference, metadata };
    this.accept(valid, asset);
    return { number, valid };
  }

  private accept({ number, recipientKey, raw, feeRaw }: ValidRow, asset: Asset): void {
    this.asset ??= asset;
    this.totalRaw += raw;
    this.feesRaw += feeRaw;
    if (this.recipients.has(recipientKey)) {
      this.duplicateCount += 1;
      if (this.duplicateRows.length < MAX_DUPLICATES_NAMED) this.duplicateRows.push(number);
    }
    this.recipients.add(recipientKey);
  }
}

export async function readTerms(
  reader: Reader,
  { tenantId, sourceAccountId }: Batch,
  operation: FeeOperation,
): Promise<{ readonly terms: BatchTerms; readonly feeAccountId: Uuid | null }> {
  const [source, tenant, own, schedules] = await Promise.all([
    reader.find(accounts, { id: sourceAccountId }),
    reader.find(tenants, { id: tenantId }),
    reader.select(accountLimits, { accountId: sourceAccountId }),
    reader.select(feeSchedules, { tenantId, operation }),
  ]);
  if (source === undefined || tenant === undefined)
    throw new Error('the source account of a batch does not exist');
  // The fee account itself pays no fee.
  const feeAccountId = tenant.feeAccountId === sourceAccountId ? null : tenant.feeAccountId;
  const limits = (asset: Asset): Limits =>
    limitsOf(
      source,
      asset,
      own.find((one) => one.asset === asset),
    );
  const fee = (asset: Asset): FeeSchedule | null =>
    feeAccountId === null
      ? null
      : (schedules.find((one) => isFeeOf(one, { tenantId, operation, asset })) ?? null);
  return {
    terms: { payer: { sourceAccountId, tenant }, limits: eachAsset(limits), fees: eachAsset(fee) },
    feeAccountId,
  };
}
