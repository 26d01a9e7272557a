import { formatAmount } from '../../core/amount.js';
import { counted } from '../../core/plural.js';
import { type BonusBatch, bonusBatches } from '../../db/entities/bonuses.js';
import { members } from '../../db/entities/parties.js';
import { type EarlierPayments, readEarlierPayments } from '../../batches/earlier-payments.js';
import { readBatchRows } from '../../batches/reading.js';
import { isAccepted, pendingRows, totalDebit } from '../../batches/rules.js';
import { batchWorkflowId } from '../../temporal/contracts.js';
import { BATCH_ACTIONS } from '../actions/controls.js';
import { historySections } from '../pages/history.js';
import {
  type Fact,
  idText,
  pathOf,
  section,
  table,
  tenantFact,
  time,
  timeOrNull,
} from '../pages/layout.js';
import { batchStatus, batchTitle } from '../pages/rows.js';
import { type Content, html } from '../html.js';
import { line, readHistory, type TimelineLine } from '../reading/timeline.js';
import { namesOf } from '../reading/names.js';
import { endText } from '../reading/payouts.js';
import { type ResourceKind, workflowLink } from './resource-kind.js';

const SHOWN_ROWS = 20;

export const batchKind: ResourceKind<BonusBatch> = {
  name: 'batches',
  actions: BATCH_ACTIONS,
  find: ({ database: { reader } }, id) => reader.find(bonusBatches, { id }),
  subjectOf: ({ id, tenantId }) => ({ id, tenantId, subjectType: 'bonus_batch' }),
  async show(site, batch) {
    const { reader } = site.database;
    const { id, tenantId, sourceAccountId: from, createdBy, executedBy } = batch;
    const { sameFileBatchId: same } = batch;
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
      ['Execution started', batch.executedAt, nameOf(executedBy)],
      ['Ended', batch.finishedAt, null],
    ];
    // Each bonus has its own id, so no entries are listed for the batch.
    const history = await readHistory(reader, {
      ...{ id, tenantId, timeZone, accountIds: [] },
      instants: [batch.createdAt, batch.validatedAt, batch.finishedAt],
      lines: steps.flatMap(([what, at, by]) => (at === null ? [] : [line(at, what, by)])),
    });
    return {
      title: batchTitle(batch),
      status: batchStatus(batch),
      facts: [
        ['Paused because', batch.pauseReason],
        ['Paused by', batch.pausedBy],
        ...rowFacts(batch),
        ['From', html`<a href="${pathOf('accounts', from)}">${names.account(from)}</a>`],
        ['Description', batch.description],
        tenantFact(tenantId, names.tenant(tenantId)),
        ['Uploaded', time(batch.createdAt, timeZone)],
        ['Canceled', timeOrNull(batch.canceledAt, timeZone)],
        ['Rejected because', batch.rejectionCode?.replaceAll('_', ' ')],
        [
          'Same file as',
          same === null ? null : html`<a href="${pathOf('batches', same)}">an earlier batch</a>`,
        ],
        ['Id', idText(id)],
      ],
      more: [
        earlier !== null && earlierPayments(earlier),
        failedRows(failed, batch.rowsFailed),
        historySections(history, timeZone),
      ],
      timeline: history.timeline,
      timeZone,
      workflow: workflowLink(site, batchWorkflowId(id)),
    };
  },
};

function rowFacts(batch: BonusBatch): readonly Fact[] {
  const { asset } = batch;
  const sum = (raw: bigint): string | null =>
    asset === null ? null : formatAmount({ raw, asset });
  return [
    ['Total', sum(batch.totalRaw)],
    ['Fees', sum(batch.feesRaw)],
    ['Total debit', isAccepted(batch) ? sum(totalDebit(batch)) : null],
    ['Rows', `${batch.rowCount}, ${batch.rowsRejected} of them with problems`],
    [
      'Hidden rows',
      batch.hiddenRows > 0
        ? `${counted(batch.hiddenRows, 'row')} hidden in the file, also paid`
        : null,
    ],
    [
      'Hidden sheets',
      batch.skippedSheets > 0
        ? `${counted(batch.skippedSheets, 'sheet')} before the one that was read, not paid`
        : null,
    ],
    [
      'Paid',
      isAccepted(batch)
        ? `${batch.rowsPaid} paid, ${batch.rowsFailed} failed, ${pendingRows(batch)} to be paid`
        : null,
    ],
  ];
}

function earlierPayments({ count, rows }: EarlierPayments): Content {
  const shown = rows.map(({ number, batchId, bonusId }): readonly Fact[] => [
    ['Row', `Row ${number}`],
    [
      'Batch',
      batchId === null ? null : html`<a href="${pathOf('batches', batchId)}">${batchId}</a>`,
    ],
    ['Bonus', bonusId ?? 'not paid yet: the other batch is ready or executing'],
  ]);
  const heading = `Rows paid before under the same reference, the first ${rows.length} of ${count}`;
  return count > 0 && section('earlier', heading, table(heading, shown));
}

function failedRows(rows: Awaited<ReturnType<typeof readBatchRows>>, count: number): Content {
  const shown = rows.map(({ number, recipient, code, message }): readonly Fact[] => [
    ['Row', `Row ${number}`],
    ['Recipient', recipient],
    ['Reason', endText(code, message)],
  ]);
  const heading = `Failed rows, the first ${rows.length} of ${count}`;
  return rows.length > 0 && section('failed', heading, table(heading, shown));
}
