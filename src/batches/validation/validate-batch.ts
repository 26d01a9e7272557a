import type { RecipientBudget } from '../../accounts/recipient-budget.js';
import {
  resultsToCharge,
  MAX_NAMES,
  type RecipientName,
  resolveRecipients,
} from '../../accounts/recipients.js';
import { policyRefusingBatch } from '../../approvals/rules.js';
import { formatAmount } from '../../core/amount.js';
import { ApiError } from '../../core/errors.js';
import type { Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import { approvalPolicies } from '../../db/entities/approvals.js';
import { type Batch, batches } from '../../db/entities/batches.js';
import { GenerationSuperseded } from '../../spreadsheets/generated-files.js';
import { EventLoopYielder, SheetProblem, type SheetRow } from '../../spreadsheets/sheet.js';
import type { FileToRead, ReadingOptions } from '../../spreadsheets/worker-thread/sheet-readers.js';
import { computeEarlierPayments, earlierPaymentsColumns } from '../earlier-payments.js';
import type { BatchFiles } from '../files.js';
import { storedFile } from '../upload.js';
import { fileProblem, type Problem } from './cells.js';
import { readHeader } from './header.js';
import { readRow, type ReadRow, readTerms, RowChecker, type ValidRow } from './rows.js';
import {
  type Progress,
  type RecordDeps,
  type RowProblems,
  ValidationRecord,
  ValidationSuperseded,
} from './validation-record.js';
import type { SheetKind } from './sheet-kind.js';
import { hiddenColumns, sheetProblem, unreadSheets } from './workbook-view.js';

export interface ValidationDeps extends RecordDeps {
  readonly recipientBudget: RecipientBudget;
  readonly files: BatchFiles;
  readonly maxRows: number;
  /** Throws `SheetProblem`, at once or between rows. */
  readonly openSheet: (file: FileToRead, options: ReadingOptions) => AsyncIterable<SheetRow>;
}

export interface BatchWatch {
  readonly signal: AbortSignal;
  readonly heartbeat: (rows: number) => void;
}

/**
 * Reads every row of a batch's file and makes it `ready` or `rejected`. Each call starts from the
 * first row and may be interrupted and repeated. Does nothing to a validated batch.
 * (docs/contract.md, Validation)
 */
export async function validateBatch(
  deps: ValidationDeps,
  batchId: Uuid,
  watch: BatchWatch,
): Promise<Batch | undefined> {
  const { reader } = deps.database;
  const record = await ValidationRecord.begin(deps, batchId);
  if (record === null) return reader.find(batches, { id: batchId });
  try {
    await record.clear();
    const kind = deps.kinds[record.batch.kind];
    const { terms, feeAccountId } = await readTerms(reader, record.batch, kind.sheet.feeOperation);
    const checker = new RowChecker(terms, kind.sheet.conceal);
    const reading = new FileReading(deps, kind.sheet, record, checker, watch);
    const { tenantId } = record.batch;
    await reading.readAll(
      deps.openSheet(storedFile(reader, record.batch), { tenantId, signal: watch.signal }),
    );
    const { progress, hasProblems } = reading;
    const errors = hasProblems
      ? await deps.files.generateIfPossible(
          'errors',
          { ...record.batch, ...progress },
          watch.signal,
        )
      : null;
    const at = deps.clock();
    const earlier = hasProblems
      ? {}
      : earlierPaymentsColumns(await computeEarlierPayments(reader, record.batch, at), at);
    return await record.finish(
      { isAccepted: !hasProblems, progress, errors, earlier },
      checker,
      feeAccountId,
    );
  } catch (failure) {
    if (failure instanceof ValidationSuperseded || failure instanceof GenerationSuperseded)
      return reader.find(batches, { id: batchId });
    throw failure;
  }
}

/** No spreadsheet program creates higher row numbers. */
const LAST_ROW_NUMBER = 11_000_000;

class FileReading {
  private readonly reader: Reader;
  private gathered: ReadRow[] = [];
  private rowCount = 0;
  private rowsRejected = 0;
  private hiddenRows = 0;
  private skippedSheets = 0;
  private hiddenColumns: readonly string[] = [];
  private unreadSheets: readonly string[] = [];
  private sheetProblem: Problem | null = null;
  private lastNumber = 0;
  /** Needed between rows, because parsing a phone is slow and a piece may have a thousand rows. */
  private readonly yielder = new EventLoopYielder();
  /** The current transaction, during which the next rows are read. */
  private writing: Promise<void> = Promise.resolve();
  hasProblems = false;

  constructor(
    private readonly deps: ValidationDeps,
    private readonly sheet: SheetKind,
    private readonly record: ValidationRecord,
    private readonly checker: RowChecker,
    private readonly watch: BatchWatch,
  ) {
    this.reader = deps.database.reader;
  }

  get progress(): Progress {
    const { rowCount, rowsRejected, hiddenRows, hiddenColumns } = this;
    const { skippedSheets, unreadSheets } = this;
    const { asset, totalRaw } = this.checker;
    const counts = { rowCount, rowsRejected, asset, totalRaw };
    return { ...counts, hiddenRows, hiddenColumns, skippedSheets, unreadSheets };
  }

  async readAll(rows: AsyncIterable<SheetRow>): Promise<void> {
    const read = await this.readRows(rows).catch(asFinalProblem);
    const atEnd = (await this.flush().catch(asFinalProblem)) ?? read;
    const noRows = this.rowCount === 0 && !this.hasProblems ? NO_ROWS : null;
    const last = atEnd ?? noRows ?? (await this.readPolicyProblem());
    const ofSheet = this.sheetProblem === null ? [] : [this.sheetProblem];
    const ofFile = last?.number === 0 ? [...ofSheet, last.problem] : ofSheet;
    if (ofFile.length > 0) await this.store([], [{ number: 0, problems: ofFile }]);
    if (last !== null && last.number !== 0)
      await this.store([], [{ number: last.number, problems: [last.problem] }]);
    await this.writing;
  }

  private async readPolicyProblem(): Promise<FinalProblem | null> {
    const { asset, totalRaw } = this.checker;
    if (asset === null) return null;
    const { sourceAccountId: accountId } = this.record.batch;
    const row = await this.reader.find(approvalPolicies, { accountId, asset });
    const policy = policyRefusingBatch(row, totalRaw, this.deps.clock());
    if (policy === null) return null;
    const [total, threshold] = [totalRaw, policy.threshold].map((raw) =>
      formatAmount({ raw, asset }),
    );
    const message = `the file pays ${total}, and the account's approval policy refuses batches of ${threshold} or more: send transfers, which wait for approval`;
    return problemOfFile('above_approval_threshold', message);
  }

  private async readRows(rows: AsyncIterable<SheetRow>): Promise<FinalProblem | null> {
    let header: ReturnType<typeof readHeader> | null = null;
    for await (const row of rows) {
      this.watch.signal.throwIfAborted();
      if (row.number <= this.lastNumber || row.number > LAST_ROW_NUMBER)
        return OUT_OF_ORDER_PROBLEM;
      this.lastNumber = row.number;
      if (row.workbook !== undefined) {
        this.skippedSheets = row.workbook.skippedSheets;
        this.unreadSheets = unreadSheets(row.workbook);
        this.sheetProblem = sheetProblem(row.workbook, this.sheet.markers);
        this.hasProblems ||= this.sheetProblem !== null;
      }
      if (row.cells.length === 0) continue;
      if (header === null) {
        header = readHeader(row, this.sheet);
        this.hiddenColumns = hiddenColumns(header, row.workbook);
        if (header.problems.length > 0)
          await this.store([], [{ number: row.number, problems: header.problems }]);
        continue;
      }
      await this.yielder.yieldIfDue();
      const read = readRow(row, header);
      if (read === null) continue;
      if (this.rowCount === this.deps.maxRows)
        return { number: row.number, problem: tooManyRows(this.rowCount) };
      this.rowCount += 1;
      if (row.isHidden === true) this.hiddenRows += 1;
      // If a column is missing, rows are only counted.
      if (header.problems.length > 0) continue;
      this.gathered.push(read);
      if (this.gathered.length === MAX_NAMES) await this.flush();
    }
    return null;
  }

  /** Throws `rate_limited`, and reveals nothing, if the rows name too many new recipients. */
  private async flush(): Promise<null> {
    const rows = this.gathered;
    this.gathered = [];
    if (rows.length === 0) return null;
    const names = rows.flatMap(({ recipient }): RecipientName[] =>
      'value' in recipient && recipient.value.name !== null ? [recipient.value.name] : [],
    );
    const { id: batchId, tenantId, tokenKeyId } = this.record.batch;
    const found = await resolveRecipients(this.reader, tenantId, names);
    const piece = { batchId, row: this.lastNumber };
    const payers = { tenantId, tokenKeyId };
    await this.deps.recipientBudget.charge(payers, resultsToCharge(names, found), piece);
    const valid: ValidRow[] = [];
    const wrong: RowProblems[] = [];
    for (const row of rows) {
      await this.yielder.yieldIfDue();
      const checked = this.checker.check(row, found);
      if ('valid' in checked) valid.push(checked.valid);
      else wrong.push(checked);
    }
    this.rowsRejected += wrong.length;
    await this.store(valid, wrong);
    return null;
  }

  /** Stores problems and, until the first problem, valid rows: a rejected file needs none of them. */
  private async store(valid: readonly ValidRow[], wrong: readonly RowProblems[]): Promise<void> {
    this.hasProblems ||= wrong.length > 0;
    await this.writing;
    this.watch.signal.throwIfAborted();
    this.watch.heartbeat(this.rowCount);
    this.writing = this.record.add(this.hasProblems ? [] : valid, wrong, this.progress);
    // A failure is thrown by the next `await this.writing`.
    this.writing.catch(() => undefined);
  }
}

interface FinalProblem {
  readonly number: number;
  readonly problem: Problem;
}

/** Returns the problem of the file. Rethrows faults of the service. */
function asFinalProblem(failure: unknown): FinalProblem {
  if (failure instanceof SheetProblem) return problemOfFile(failure.code, failure.message);
  if (failure instanceof ApiError && failure.refusal.code === 'rate_limited')
    return problemOfFile('rate_limited', failure.refusal.message);
  throw failure;
}

function tooManyRows(maxRows: number): Problem {
  return fileProblem('too_many_rows', `a batch has at most ${maxRows} rows: split the file`);
}

function problemOfFile(code: Problem['code'], message: string): FinalProblem {
  return { number: 0, problem: fileProblem(code, message) };
}

const OUT_OF_ORDER = 'the rows of the sheet are not in order: save the file anew';
const OUT_OF_ORDER_PROBLEM = problemOfFile('unreadable_file', OUT_OF_ORDER);
const NO_ROWS = problemOfFile('no_rows', 'there is no row below the header');
