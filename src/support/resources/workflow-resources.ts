import { readEarlierPayments } from '../../batches/earlier-payments.js';
import { readBatchRows, readProblems } from '../../batches/read-batches.js';
import { type PayoutCounts, readPayoutCounts } from '../../batches/payout-counts.js';
import {
  batchType,
  CANCELABLE,
  type EarlierPayments,
  isAccepted,
  totalDebit,
  batchPath,
} from '../../batches/rules.js';
import { formatAmount } from '../../core/amount.js';
import { counted } from '../../core/collections.js';
import {
  type Batch,
  BATCH_KINDS,
  type BatchKindName,
  batches,
  type BatchProblem,
} from '../../db/entities/batches.js';
import { type Schedule, schedules } from '../../db/entities/schedules.js';
import { type WebhookEndpoint, webhookEndpoints } from '../../db/entities/webhooks.js';
import { scheduleWorkflowId, WORKFLOW_ID_OF, webhookWorkflowId } from '../../temporal/contracts.js';
import { listNewest } from '../../operations/operation-list.js';
import { readDeliveries } from '../../webhooks/endpoints.js';
import { transferList } from '../../transfers/service.js';
import { scheduleResource } from '../../transfers/schedules/schemas.js';
import { readDescribedEndpoint } from '../../webhooks/staff-actions.js';
import { batchActions, ENDPOINT_ACTIONS, SCHEDULE_ACTIONS } from '../actions/controls.js';
import type { Content } from '../html.js';
import { deliveryRow } from '../pages/history.js';
import {
  type Fact,
  link,
  metadataFact,
  money,
  publicFacts,
  section,
  tableSection,
  tag,
} from '../pages/layout.js';
import { parsePosition, printPosition } from '../pages/position.js';
import {
  batchStatus,
  batchTitle,
  endpointStatus,
  paymentsText,
  rejectionText,
  tableOf,
} from '../pages/rows.js';
import { inWords } from '../reading/payouts.js';
import { memberLine } from '../reading/timeline.js';
import type { ResourceKind } from './resource-kind.js';

const SHOWN_ROWS = 20;
const SHOWN_RUNS = 10;
/** Time for which the start page lists failed batches. */
const FAILED_LISTED_MS = 24 * 3_600_000;

/** Batches of one kind. All have the same lists. */
function batchKind(kind: BatchKindName): ResourceKind<Batch> {
  const type = batchType({ kind });
  return {
    ...BATCH_PAGE,
    name: batchPath(kind),
    subjectType: type,
    actions: batchActions(type),
    find: ({ database: { reader } }, id) => reader.find(batches, { id, kind }),
  };
}

const BATCH_PAGE: Omit<ResourceKind<Batch>, 'name' | 'subjectType' | 'actions' | 'find'> = {
  rowOf: (batch) => batch,
  titleOf: batchTitle,
  async describe(batch, { reader, now, names, time, tenant }) {
    const { id, status, sourceAccountId: from, createdBy, executedBy, createdAt } = batch;
    const { executedAt, validatedAt, finishedAt, sameFileBatchId: same } = batch;
    const [problems, failed, earlier, payouts] = await Promise.all([
      readProblems(reader, id, SHOWN_ROWS),
      readBatchRows(reader, batch, 'failed', 0, SHOWN_ROWS),
      status === 'ready' ? readEarlierPayments(reader, batch, now) : null,
      readPayoutCounts(reader, [batch]),
    ]);
    const isOpen = status === 'validating' || CANCELABLE.includes(status);
    const hasFailed = status === 'rejected' || status === 'partially_failed';
    const isNew = now - (finishedAt ?? createdAt) < FAILED_LISTED_MS;
    return {
      status: batchStatus(batch),
      facts: [
        ['Waits for', status === 'ready' && 'a member of the tenant, who executes it'],
        ['Paused because', batch.pauseReason],
        ['Paused by', batch.pausedBy],
        ...rowFacts(batch),
        ['Payouts', payoutsText(payouts.get(id))],
        ['From', link('accounts', from, names.account(from))],
        ['Description', batch.description],
        tenant,
        ['Uploaded', time(createdAt, `by ${names.person(createdBy)}`)],
        ['Canceled', time(batch.canceledAt)],
        ['Rejected because', rejectionText(batch)],
        ['Same file as', same !== null && link(batchPath(batch.kind), same, 'an earlier batch')],
      ],
      // Each bonus has its own id, so no entries are listed for the batch.
      history: {
        accountIds: [],
        instants: [createdAt, validatedAt, finishedAt],
        lines: [
          memberLine(createdAt, 'Uploaded', names.person(createdBy)),
          executedAt === null || executedBy === null
            ? []
            : memberLine(executedAt, 'Execution started', names.person(executedBy)),
        ].flat(),
      },
      beforeLists: [
        problemRows(problems),
        earlier !== null && earlierPayments(batch, earlier),
        failedRows(failed, batch.rowsFailed),
      ],
      ...(isOpen && { list: 'batches' }),
      ...(hasFailed && isNew && { list: 'rejected' }),
      workflowId: WORKFLOW_ID_OF[batchType(batch)](id),
    };
  },
};

export const batchKinds = BATCH_KINDS.map(batchKind);

function rowFacts(batch: Batch): readonly Fact[] {
  const { asset, hiddenRows, hiddenColumns, skippedSheets, unreadSheets } = batch;
  const sum = (raw: bigint): Content => asset !== null && formatAmount({ raw, asset });
  return [
    ['Total', sum(batch.totalRaw)],
    ['Fees', sum(batch.feesRaw)],
    ['Total debit', isAccepted(batch) && sum(totalDebit(batch))],
    ['Rows', batch.rowCount],
    ['Wrong rows', batch.rowsRejected > 0 && batch.rowsRejected],
    [
      'Hidden rows',
      hiddenRows > 0 && `${counted(hiddenRows, 'row')} hidden in the file, also paid`,
    ],
    [
      'Hidden columns',
      hiddenColumns.length > 0 && `${hiddenColumns.join(', ')}: hidden in the file, but read`,
    ],
    [
      'Unread sheets',
      unreadSheets.length > 0 && `${unreadSheets.join(', ')}: visible in the file, not paid`,
    ],
    [
      'Hidden sheets',
      skippedSheets > 0 &&
        `${counted(skippedSheets, 'sheet')} before the one that was read, not paid`,
    ],
    ['Paid', isAccepted(batch) && paymentsText(batch)],
  ];
}

function payoutsText(counts: PayoutCounts | undefined): Content {
  const present = Object.entries(counts ?? {}).filter(([, count]) => count > 0);
  return (
    present.length > 0 && present.map(([status, count]) => `${count} ${inWords(status)}`).join(', ')
  );
}

function earlierPayments({ kind }: Batch, { count, rows }: EarlierPayments): Content {
  const heading = `Rows paid before under the same reference, the first ${rows.length} of ${count}`;
  return tableSection('earlier', heading, rows, ({ number, batchId, paymentId }) => [
    ['Row', `Row ${number}`],
    ['Batch', batchId !== null && link(batchPath(kind), batchId, batchId)],
    [
      kind === 'bonus' ? 'Bonus' : 'Payout',
      paymentId ?? 'not paid yet: the other batch is ready or executing',
    ],
  ]);
}

function problemRows(problems: readonly BatchProblem[]): Content {
  const isCut = problems.length === SHOWN_ROWS;
  const heading = `Problems of the file${isCut ? `, the first ${SHOWN_ROWS}` : ''}`;
  return tableSection('problems', heading, problems, ({ number, field, code, message }) => [
    ['Row', number === 0 ? 'The whole file' : `Row ${number}`],
    ['Column', field],
    ['Code', code],
    ['Problem', message],
  ]);
}

function failedRows(rows: Awaited<ReturnType<typeof readBatchRows>>, count: number): Content {
  const heading = `Failed rows, the first ${rows.length} of ${count}`;
  return tableSection('failed', heading, rows, ({ number, recipient, code, message }) => [
    ['Row', `Row ${number}`],
    ['Recipient', recipient],
    ['Reason', inWords(code, message)],
  ]);
}

export const scheduleKind: ResourceKind<Schedule> = {
  name: 'schedules',
  subjectType: 'schedule',
  actions: SCHEDULE_ACTIONS,
  find: ({ database: { reader } }, id) => reader.find(schedules, { id }),
  rowOf: (schedule) => schedule,
  titleOf: (schedule) => `Schedule of ${formatAmount(schedule)}`,
  async describe(schedule, context) {
    const { id, tenantId, sourceAccountId: from, destinationAccountId: to } = schedule;
    const { reader, names, time, since, tenant } = context;
    const { everyUnit: unit, everyCount: count } = schedule;
    const filter = { tenantId, scheduleId: id };
    const created = await listNewest(transferList, reader, filter, SHOWN_RUNS);
    const runs = await tableOf(context, 'transfers', created, { without: 'Tenant' });
    return {
      status: tag(schedule.status),
      facts: [
        ['Next run', since(schedule.nextRunAt)],
        ['Amount', money(schedule)],
        ['From', link('accounts', from, names.account(from))],
        ['To', link('accounts', to, names.account(to, tenantId))],
        ['First run', time(schedule.startsAt)],
        ['Every', unit !== null && count !== null && counted(count, unit)],
        ['Ends', time(schedule.endsAt)],
        ...publicFacts(scheduleResource.presentToStaff('desk', schedule)),
        ['Description', schedule.description],
        metadataFact(schedule.metadata),
        tenant,
        ['Requested', time(schedule.createdAt, `by ${names.person(schedule.createdBy)}`)],
      ],
      beforeLists: runs && section('runs', 'Newest runs', runs),
      workflowId: scheduleWorkflowId(id),
    };
  },
};

export const endpointKind: ResourceKind<WebhookEndpoint> = {
  name: 'endpoints',
  subjectType: 'webhook_endpoint',
  actions: ENDPOINT_ACTIONS,
  find: ({ database: { reader } }, id) => reader.find(webhookEndpoints, { id }),
  rowOf: (endpoint) => endpoint,
  titleOf: ({ url }) => `Webhook endpoint ${url}`,
  lists: [
    {
      name: 'deliveries',
      async read({ id }, { reader, timeZone }, before, limit) {
        const { items, next } = await readDeliveries(reader, id, parsePosition(before), limit);
        // Without a URL the table omits the endpoint, which is this page.
        const deliveries = items.map((delivery) => ({ url: '', delivery, ...delivery }));
        const rows = deliveries.map((delivery) => deliveryRow(delivery, timeZone));
        return { ids: items.map(({ id: one }) => one), rows, next: printPosition(next) };
      },
    },
  ],
  async describe(endpoint, { reader, now, timeZone, time, since, tenant }) {
    const { id, status, lostFrom, lostTo, failuresInRow, failingSince, pausedAt } = endpoint;
    const isDisabled = status === 'disabled' && endpoint.disabledReason !== 'by_tenant';
    const isFailing = failingSince !== null || pausedAt !== null || isDisabled;
    const { text, types } = await readDescribedEndpoint(reader, id, now, timeZone);
    return {
      status: endpointStatus(endpoint),
      facts: [
        ['Disabled', inWords(endpoint.disabledReason)],
        ['State', text],
        ['Paused by', endpoint.pausedBy],
        ['Failing since', since(failingSince)],
        ['Failures in a row', failuresInRow > 0 && failuresInRow],
        ['Last success', since(endpoint.lastSuccessAt)],
        ['Events', types.join(', ')],
        ['Lost', lostFrom !== null && lostTo !== null && `events ${lostFrom} to ${lostTo}`],
        tenant,
        ['Registered', time(endpoint.createdAt)],
      ],
      ...(isFailing && status !== 'deleted' && { list: 'endpoints' }),
      workflowId: webhookWorkflowId(id),
    };
  },
};
