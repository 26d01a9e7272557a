import { ApiError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { instant, toRfc3339 } from '../../core/instant.js';
import { BATCH_STATUSES, type Batch, batches } from '../../db/entities/batches.js';
import { performBatchAction } from '../../batches/control.js';
import { listNewest } from '../../operations/operation-list.js';
import { BATCHES, readBatchRows, readProblems } from '../../batches/read-batches.js';
import { deleteUploadedBytes } from '../../batches/sweeps.js';
import { batchType, isAccepted, pendingRows } from '../../batches/rules.js';
import { namesOf } from '../../support/reading/transfers.js';
import type { BatchActionSignal } from '../../temporal/contracts.js';
import { command, type CommandDefinition, managerCommand, type Ops, query } from '../command.js';
import { named } from '../lookups.js';
import { duration, limit, option, reason, status, tenant } from '../inputs.js';
import { type Fields, rowFields } from '../output.js';

function batchLine(batch: Batch): Fields {
  const { asset, totalRaw } = batch;
  const counted =
    'id kind status rowCount:rows rowsRejected:rejected rowsPaid:paid rowsFailed:failed';
  return {
    ...rowFields(batches, batch, counted),
    pending: isAccepted(batch) ? pendingRows(batch) : 0,
    total: asset && { raw: totalRaw, asset },
    created_at: toRfc3339(batch.createdAt),
  };
}

const MAX_PROBLEMS = 10;

async function show({ database: { reader }, output }: Ops, batch: Batch): Promise<void> {
  const { id, tenantId, asset, sourceAccountId, createdBy, executedBy } = batch;
  const [names, rejected, failed] = await Promise.all([
    namesOf(reader, [batch]),
    readProblems(reader, id, MAX_PROBLEMS),
    readBatchRows(reader, batch, { status: 'failed' }, 0, MAX_PROBLEMS),
  ]);
  output.one({
    ...batchLine(batch),
    tenant: names.tenant(tenantId),
    from: names.account(sourceAccountId),
    ...rowFields(batches, batch, 'tenantId sourceAccountId hiddenRows skippedSheets'),
    hidden_columns: batch.hiddenColumns,
    unread_sheets: batch.unreadSheets,
    fees: asset && { raw: batch.feesRaw, asset },
    settled: asset && { raw: batch.settledRaw, asset },
    funds_held: batch.isHeld && batch.status === 'executing' && batch.canceledAt === null,
    uploaded_by: names.person(createdBy),
    executed_by: executedBy && names.person(executedBy),
    ...rowFields(batches, batch, 'validatedAt executedAt pausedAt pausedBy pauseReason'),
    ...rowFields(batches, batch, 'canceledAt finishedAt rejectionCode:rejection'),
    first_problems: [...rejected, ...failed].map(
      ({ number, code, message }) =>
        `${number === 0 ? 'file' : `row ${number}`}: ${code ?? 'failed'}: ${message ?? ''}`,
    ),
  });
}

function controlCommand(
  action: BatchActionSignal['action'],
  summary: string,
  more: { explanation?: string; question?: (batch: Batch) => string } = {},
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
      if (more.question !== undefined) await ops.output.confirm(more.question(batch));
      const request = { batchId: batch.id, action, by: ops.by(), reason, actionId: newId() };
      const result = await performBatchAction(ops, request);
      if ('refusal' in result) throw new ApiError(result.refusal);
      await show(ops, result.batch);
    },
  });
}

export const batchCommands = {
  list: query({
    summary: "a tenant's batches, newest first",
    examples: ['batches list --tenant acme --status executing'],
    input: { tenant, status: status(BATCH_STATUSES), limit },
    run: async ({ database, output }, { tenant, status, limit: most }) => {
      const filter = { tenantId: tenant.id, status };
      const found = await listNewest(BATCHES, database.reader, filter, most);
      const detailsOnly = ['rejected', 'pending'];
      output.newest(found.map(batchLine), most, 'No results.', { detailsOnly });
    },
  }),
  'show <batch>': query({
    summary:
      'one batch: its state, its sums, how much is paid, and the first rejected or failed rows',
    examples: ['batches show 01930000-0000-7000-8000-000000000000'],
    input: { batch: named.batch },
    run: (ops, { batch }) => show(ops, batch),
  }),
  'pause <batch>': controlCommand(
    'pause',
    'pause payment until it is resumed; the group of rows in progress is finished',
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
    input: { olderThan: option('<time> minimum time since validation: 7d, 24h', duration) },
    run: async (ops, { olderThan }) => {
      await ops.output.confirm('Delete the bytes of validated files');
      const before = instant(ops.clock() - olderThan);
      ops.output.one({ removed: await deleteUploadedBytes(ops, before, ops.actor()) });
    },
  }),
};
