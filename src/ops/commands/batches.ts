import { ApiError } from '../../core/errors.js';
import { newId, type Uuid } from '../../core/ids.js';
import { instant, toRfc3339 } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import {
  type Batch,
  BATCH_ROW_STATUSES,
  batches,
  type BatchProblem,
  type BatchRow,
  batchRows,
} from '../../db/entities/batches.js';
import { type Payout, payouts } from '../../db/entities/payouts.js';
import { rowDestinationText } from '../../batches/kinds/payout.js';
import { performBatchAction } from '../../batches/control.js';
import {
  type PayoutCounts,
  payoutCountsText,
  readPayoutCounts,
  unpaidPayouts,
} from '../../batches/payout-counts.js';
import { BATCHES, readBatchRows, readProblems } from '../../batches/read-batches.js';
import { deleteUploadedBytes } from '../../batches/sweeps.js';
import { batchType, isAccepted, pendingRows } from '../../batches/rules.js';
import { namesOf } from '../../support/reading/transfers.js';
import type { BatchActionSignal } from '../../temporal/contracts.js';
import { command, type CommandDefinition, managerCommand, type Ops, query } from '../command.js';
import { PROGRAM } from '../help.js';
import { historyFields, readHistoryOf } from '../history.js';
import { named } from '../lookups.js';
import { flag, limit, option, reason, status, wholeNumber } from '../inputs.js';
import { duration } from '../times.js';
import { beginningWith, Described, type Fields, rowFields } from '../fields.js';
import { operationListCommand } from './operation-list.js';

/** A row that became a payout is paid, or has failed, only when its payout is. */
function batchLine(batch: Batch, payouts: PayoutCounts | undefined): Fields {
  const { asset, totalRaw, rowsPaid, rowsFailed } = batch;
  const [paid, unpaid] = payouts ? [payouts.completed, unpaidPayouts(payouts)] : [rowsPaid, 0];
  const undecided = isAccepted(batch) ? pendingRows(batch) : 0;
  return {
    ...rowFields(batches, batch, 'id kind status rowCount:rows rowsRejected:rejected'),
    paid,
    failed: rowsFailed + unpaid,
    pending: undecided + rowsPaid - paid - unpaid,
    total: asset && { raw: totalRaw, asset },
    created_at: toRfc3339(batch.createdAt),
  };
}

const MAX_PROBLEMS = 10;
const PROBLEMS_PER_READ = 1_000;

async function readAllProblems(
  reader: Reader,
  batchId: Uuid,
  most: number,
): Promise<readonly BatchProblem[]> {
  const all: BatchProblem[] = [];
  for (;;) {
    const count = Math.min(PROBLEMS_PER_READ, most - all.length);
    const next = count > 0 ? await readProblems(reader, batchId, count, all.at(-1)) : [];
    if (next.length === 0) return all;
    all.push(...next);
  }
}

const rowName = (number: number): string => (number === 0 ? 'file' : String(number));

function problemFields({ number, field, code, message, value }: BatchProblem): Fields {
  return { row: rowName(number), column: field, code, problem: message, value };
}

/** A row that became a payout has its status as well. */
function rowLine({ kind, asset }: Batch, row: BatchRow, made: ReadonlyMap<Uuid, Payout>): Fields {
  const { number, raw, feeRaw, recipient, paymentId, message } = row;
  return {
    row: rowName(number),
    ...rowFields(batchRows, row, 'status'),
    payout: (paymentId && made.get(paymentId)?.status) ?? null,
    amount: asset && { raw, asset },
    to: kind === 'bonus' ? recipient : rowDestinationText(row),
    ...rowFields(batchRows, row, 'reference code'),
    problem: message,
    ...rowFields(batchRows, row, 'paymentId settledAt'),
    fee: asset && { raw: feeRaw, asset },
  };
}

async function show({ database: { reader }, clock, output }: Ops, batch: Batch): Promise<void> {
  const { id, tenantId, asset, sourceAccountId, createdBy, executedBy } = batch;
  const instants = [batch.createdAt, batch.validatedAt, batch.finishedAt];
  const [names, counts, rejected, failed, history] = await Promise.all([
    namesOf(reader, [batch]),
    readPayoutCounts(reader, [batch]),
    readProblems(reader, id, MAX_PROBLEMS),
    readBatchRows(reader, batch, { status: 'failed' }, 0, MAX_PROBLEMS),
    readHistoryOf(reader, batch, instants, clock()),
  ]);
  const payouts = counts.get(id);
  output.one({
    ...batchLine(batch, payouts),
    payouts: payouts ? Described.one(payoutCountsText(payouts), payouts) : null,
    tenant: names.tenant(tenantId),
    from: names.account(sourceAccountId),
    description: batch.description,
    ...rowFields(batches, batch, 'tenantId sourceAccountId hiddenRows skippedSheets'),
    hidden_columns: batch.hiddenColumns,
    unread_sheets: batch.unreadSheets,
    fees: asset && { raw: batch.feesRaw, asset },
    no_longer_held: asset && { raw: batch.settledRaw, asset },
    funds_held: batch.isHeld && batch.status === 'executing' && batch.canceledAt === null,
    uploaded_by: names.person(createdBy),
    executed_by: executedBy && names.person(executedBy),
    ...rowFields(batches, batch, 'validatedAt executedAt pausedAt pausedBy pauseReason'),
    ...rowFields(batches, batch, 'canceledAt finishedAt rejectionCode:rejection'),
    ...historyFields(history),
    first_problems: Described.each(
      [...rejected, ...failed],
      ({ number, code, message }) =>
        `${number === 0 ? 'file' : `row ${number}`}: ${code ?? 'failed'}: ${message ?? ''}`,
      ({ number, code, message }) => ({ row: rowName(number), code, problem: message }),
    ),
  });
}

function controlCommand(
  action: BatchActionSignal['action'],
  summary: string,
  more: { explanation?: string; question?: (batch: Batch) => string; follows?: string } = {},
): CommandDefinition {
  return command({
    summary,
    explanation: more.explanation,
    examples: [
      `batches ${action} 01930000-0000-7000-8000-000000000000 --reason 'asked for in ticket 118'`,
    ],
    input: {
      batch: named.batch,
      reason: reason(),
    },
    needs: {
      anyOf: [`bonus_batch.${action}`, `payout_batch.${action}`],
      for: async ({ batch }, reader) => `${batchType(await batch.find(reader))}.${action}` as const,
    },
    run: async (ops, { batch, reason }) => {
      if (more.question !== undefined) await ops.output.confirm(more.question(batch), more.follows);
      const request = { batchId: batch.id, action, by: await ops.by(), reason, actionId: newId() };
      const result = await performBatchAction(ops, request);
      if ('refusal' in result) throw new ApiError(result.refusal);
      await show(ops, result.batch);
    },
  });
}

export const batchCommands = {
  list: operationListCommand('batches', {
    list: BATCHES,
    examples: ['batches list --status executing', 'batches list --tenant acme --since 7d'],
    present: (batch, names, payouts) =>
      beginningWith('id status total rows paid failed rejected kind from', {
        from: names.account(batch.sourceAccountId),
        ...batchLine(batch, payouts),
      }),
    readPayouts: readPayoutCounts,
    detailsOnly: ['pending'],
  }),
  'show <batch>': query({
    summary:
      'one batch: its state, its sums, how much is paid, and the first rejected or failed rows',
    examples: ['batches show 01930000-0000-7000-8000-000000000000'],
    input: { batch: named.batch },
    run: (ops, { batch }) => show(ops, batch),
  }),
  'rows <batch>': query({
    summary: 'the rows of a batch in the order of its file, with their payments',
    examples: [
      'batches rows 01930000-0000-7000-8000-000000000000 --status failed',
      'batches rows 01930000-0000-7000-8000-000000000000 --limit 99999 --csv > rows.csv',
    ],
    input: {
      batch: named.batch,
      status: status(BATCH_ROW_STATUSES),
      cursor: option(
        '<number> only what comes after this row, the last of a list',
        wholeNumber(1, 999_999_999).prefault('1'),
      ),
      limit,
    },
    run: async ({ database: { reader }, output }, { batch, status, cursor, limit: most }) => {
      const found = await readBatchRows(reader, batch, { status }, cursor, most + 1);
      const shown = found.slice(0, most);
      const id = batch.kind === 'payout' ? shown.flatMap(({ paymentId }) => paymentId ?? []) : [];
      const made = new Map((await reader.select(payouts, { id })).map((one) => [one.id, one]));
      const rows = shown.map((row) => rowLine(batch, row, made));
      output.list(
        rows,
        isAccepted(batch) ? 'No results.' : `A batch that is ${batch.status} has no rows.`,
      );
      if (found.length > most)
        output.more(`The first ${most}. For later ones add --cursor ${shown.at(-1)?.number}`);
    },
  }),
  'problems <batch>': query({
    summary: "the problems of a batch's file, in its order",
    examples: [
      'batches problems 01930000-0000-7000-8000-000000000000',
      'batches problems 01930000-0000-7000-8000-000000000000 --csv > problems.csv',
    ],
    input: { batch: named.batch, csv: flag('print all as CSV for a spreadsheet'), limit },
    run: async (
      { database: { reader }, output },
      { batch: { id, rowsFailed }, csv, limit: most },
    ) => {
      const found = await readAllProblems(reader, id, csv ? Infinity : most);
      const failed =
        rowsFailed > 0 && ` Failed rows: ${PROGRAM} batches rows ${id} --status failed`;
      output.list(found.map(problemFields), `The file has no problems.${failed || ''}`, {
        wraps: 'problem',
      });
      if (!csv && found.length === most)
        output.more(`The first ${most}; --limit shows more, --csv all.`);
    },
  }),
  'pause <batch>': controlCommand(
    'pause',
    'pause payment until it is resumed; the group of rows in progress is finished',
    {
      question: (batch) => `Pause the batch of ${batch.rowCount} rows`,
      follows: 'nothing more of it is paid until it is resumed',
    },
  ),
  'resume <batch>': controlCommand('resume', 'continue to pay a paused batch'),
  'cancel <batch>': controlCommand(
    'cancel',
    'withdraw a batch that is ready, or stop one that is being paid: held funds are released at once',
    {
      explanation:
        'The paying process marks the unpaid rows of an executing batch as failed with the code canceled.',
      question: (batch) =>
        batch.status === 'executing'
          ? `Cancel the batch: ${pendingRows(batch)} of its ${batch.rowCount} rows are not paid yet`
          : `Withdraw the batch of ${batch.rowCount} rows, which is ${batch.status}`,
    },
  ),
  'remove-uploads': managerCommand({
    summary: 'delete the bytes of files validated long enough ago; their hashes stay',
    examples: ['batches remove-uploads --older-than 7d --yes'],
    input: { olderThan: option('<duration> minimum time since validation: 7d, 24h', duration) },
    run: async (ops, { olderThan }) => {
      await ops.output.confirm('Delete the bytes of validated files');
      const before = instant(ops.clock() - olderThan);
      ops.output.one({ removed: await deleteUploadedBytes(ops, before, ops.actor()) });
    },
  }),
};
