import { formatAmount } from '../../core/amount.js';
import { type BonusBatch, bonusBatches } from '../../db/entities/bonuses.js';
import { members } from '../../db/entities/parties.js';
import { type EarlierPayments, readEarlierPayments } from '../../batches/earlier-payments.js';
import { readBatchRows } from '../../batches/reading.js';
import { isAccepted, isPaused, pendingRows, totalDebit } from '../../batches/rules.js';
import { batchWorkflowId } from '../../temporal/contracts.js';
import { BATCH_ACTIONS } from '../actions/controls.js';
import { cards, facts, pathOf, section, tag, time, timeOrNull } from '../pages/layout.js';
import { batchTitle } from '../pages/waiting.js';
import { type Content, html } from '../html.js';
import { readTimeline, type TimelineLine } from '../reading/timeline.js';
import { namesOf } from '../reading/names.js';
import { type ResourceKind, workflowLink } from './resource-kind.js';

const SHOWN_ROWS = 20;

export const batchKind: ResourceKind<BonusBatch> = {
  name: 'batches',
  actions: BATCH_ACTIONS,
  find: ({ database: { reader } }, id) => reader.find(bonusBatches, { id }),
  subjectOf: ({ id, tenantId }) => ({ id, tenantId, subjectType: 'bonus_batch' }),
  async show(site, batch) {
    const { reader } = site.database;
    const { id, tenantId, sourceAccountId: from, asset, createdBy, executedBy } = batch;
    const [names, people, failed, earlier] = await Promise.all([
      namesOf(reader, [batch]),
      reader.select(members, { id: [createdBy, ...(executedBy === null ? [] : [executedBy])] }),
      readBatchRows(reader, batch, 'failed', 0, SHOWN_ROWS),
      batch.status === 'ready' ? readEarlierPayments(reader, batch, site.clock()) : null,
    ]);
    const timeZone = names.timeZone(tenantId);
    const nameOf = (wanted: string | null): string | null =>
      wanted === null
        ? null
        : `${people.find((one) => one.id === wanted)?.name ?? wanted} (member of the tenant)`;
    const steps: readonly (readonly [string, TimelineLine['at'] | null, string | null])[] = [
      ['Uploaded', batch.createdAt, nameOf(createdBy)],
      ['Validated', batch.validatedAt, null],
      ['Execution begun', batch.executedAt, nameOf(executedBy)],
      ['Ended', batch.finishedAt, null],
    ];
    const lines = steps.flatMap(([what, at, by]) =>
      at === null ? [] : [{ at, what, by, details: [] }],
    );
    const sum = (raw: bigint): string | null =>
      asset === null ? null : formatAmount({ raw, asset });
    return {
      title: batchTitle(batch),
      facts: [
        ['Status', [tag(batch.status), isPaused(batch) ? html` ${tag('paused')}` : '']],
        ['Paused because', batch.pauseReason],
        ['Paused by', batch.pausedBy],
        ['Total', sum(batch.totalRaw)],
        ['Fees', sum(batch.feesRaw)],
        ['Total debit', isAccepted(batch) ? sum(totalDebit(batch)) : null],
        ['Rows', `${batch.rowCount}, of which ${batch.rowsRejected} with problems`],
        [
          'Hidden rows',
          batch.hiddenRows > 0
            ? `${batch.hiddenRows} of the rows are hidden in the file; they are paid too`
            : null,
        ],
        [
          'Hidden sheets',
          batch.skippedSheets > 0
            ? `${batch.skippedSheets} before the sheet that was read; their rows are not paid`
            : null,
        ],
        [
          'Paid',
          isAccepted(batch)
            ? `${batch.rowsPaid} paid, ${batch.rowsFailed} failed, ${pendingRows(batch)} to come`
            : null,
        ],
        ['From', html`<a href="${pathOf('accounts', from)}">${names.account(from)}</a>`],
        ['Description', batch.description],
        ['Tenant', names.tenant(tenantId)],
        ['Uploaded', time(batch.createdAt, timeZone)],
        ['Canceled', timeOrNull(batch.canceledAt, timeZone)],
        ['Rejected because', batch.rejectionCode],
        ['Id', id],
      ],
      more: [earlier !== null && earlierPayments(earlier), failedRows(failed, batch.rowsFailed)],
      // Each bonus has its own id, so no entries are listed for the batch.
      timeline: await readTimeline(reader, {
        ...{ id, tenantId, timeZone, accountIds: [], lines },
        instants: [batch.createdAt, batch.validatedAt, batch.finishedAt],
      }),
      timeZone,
      workflow: workflowLink(site, batchWorkflowId(id)),
    };
  },
};

function earlierPayments({ count, rows }: EarlierPayments): Content {
  const shown = rows.map(
    ({ number, batchId, bonusId }) =>
      html`<h3>Row ${number}</h3>
        ${facts([
          [
            'Batch',
            batchId === null ? null : html`<a href="${pathOf('batches', batchId)}">${batchId}</a>`,
          ],
          ['Bonus', bonusId ?? 'not paid yet: the other batch is ready or executing'],
        ])}`,
  );
  return (
    count > 0 &&
    section(
      'earlier',
      `Rows paid before under the same reference, the first ${rows.length} of ${count}`,
      cards(shown),
    )
  );
}

function failedRows(rows: Awaited<ReturnType<typeof readBatchRows>>, count: number): Content {
  const shown = rows.map(
    ({ number, recipient, code, message }) =>
      html`<h3>Row ${number}</h3>
        ${facts([
          ['Recipient', recipient],
          ['Why', `${code ?? ''}: ${message ?? ''}`],
        ])}`,
  );
  return (
    rows.length > 0 &&
    section('failed', `Failed rows, the first ${rows.length} of ${count}`, cards(shown))
  );
}
