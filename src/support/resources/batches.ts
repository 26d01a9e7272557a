import { readEarlierPayments } from '../../batches/earlier-payments.js';
import { rowDestinationText } from '../../batches/kinds/payout.js';
import { payoutCountsText, readPayoutCounts } from '../../batches/payout-counts.js';
import { readBatchRows, readProblemCodes, readProblems } from '../../batches/read-batches.js';
import {
  batchPath,
  batchType,
  CANCELABLE,
  type EarlierPayments,
  isAccepted,
  totalDebit,
} from '../../batches/rules.js';
import { formatAmount } from '../../core/amount.js';
import { counted } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import {
  type Batch,
  type BatchKindName,
  BATCH_ROW_STATUSES,
  batches,
  type BatchRow,
} from '../../db/entities/batches.js';
import { type Payout, payouts } from '../../db/entities/payouts.js';
import { WORKFLOW_ID_OF } from '../../temporal/contracts.js';
import { batchActions } from '../actions/controls.js';
import { noSuchPage } from '../desk.js';
import { type Content, html, type Html, withValues } from '../html.js';
import type { ListField, ListFilter } from '../pages/filter.js';
import { type Fact, link, money, type Row, tableSection, tag } from '../pages/layout.js';
import {
  batchStatus,
  batchTitle,
  operationStatus,
  paymentsText,
  rejectionText,
} from '../pages/statuses.js';
import { inWords } from '../reading/payouts.js';
import { memberLine } from '../reading/timeline.js';
import type { ListOfResource, PageContext, ResourceKind } from './resource-kind.js';

/** Time for which the start page lists failed batches. */
const FAILED_LISTED_MS = 24 * 3_600_000;

/** Batches of one kind. All have the same lists. */
export function batchKind(kind: BatchKindName): ResourceKind<Batch> {
  const type = batchType({ kind });
  return {
    ...BATCH_PAGE,
    name: batchPath(kind),
    subjectType: type,
    actions: batchActions(type),
    find: ({ database: { reader } }, id) => reader.find(batches, { id, kind }),
  };
}

/** Returns the numbers of a position, 0 for ''. Throws `DeskError` for other text. */
function numbersOf(position: string): readonly number[] {
  if (!/^([0-9]{1,9}(\.[0-9]{1,9})?)?$/.test(position)) throw noSuchPage();
  return position.split('.').map(Number);
}

const CODE: ListField = { name: 'code', label: 'Code' };
const WORDS: ListField = { name: 'text', label: 'Part of the problem or value' };
const FROM_ROW: ListField = { name: 'row', label: 'From row', type: 'number' };

function firstRow({ row = '' }: ListFilter): number {
  return /^[0-9]{1,9}$/.test(row) ? Number(row) : 0;
}

const PROBLEMS: ListOfResource<Batch> = {
  name: 'problems',
  fields: [CODE, WORDS, FROM_ROW],
  fieldsOf: async (reader, batch) => [
    { ...CODE, choices: await readProblemCodes(reader, batch) },
    WORDS,
    FROM_ROW,
  ],
  beginning: () => ({ heading: 'Problems of the file', filter: {} }),
  async read({ id }, { reader }, after, limit, filter) {
    const [number = 0, ordinal = 0] = numbersOf(after);
    const last = after === '' ? { number: firstRow(filter), ordinal: -1 } : { number, ordinal };
    const found = await readProblems(reader, id, limit + 1, last, filter);
    const items = found.slice(0, limit);
    const end = found.length > limit ? items.at(-1) : undefined;
    const rows = items.map((problem): Row => [
      ['Row', numbered(problem.number)],
      ['Column', problem.field],
      ['Code', withValues(html`${inWords(problem.code)}`, { '': problem.code })],
      ['Problem', problem.message],
      ['Value', problem.value, 'party'],
    ]);
    const ids = items.map(() => id);
    return { ids, rows, next: end === undefined ? null : `${end.number}.${end.ordinal}` };
  },
};

/** Returns a cell with the number of a row. 0 is the whole file. */
function numbered(
  number: number,
  shown: Content = number === 0 ? 'The whole file' : `Row ${number}`,
): Html {
  return withValues(html`${shown}`, { '': number === 0 ? null : String(number) });
}

const PAYMENT_PATHS = { bonus: 'bonuses', payout: 'payouts' } as const;

/** Maximum of row numbers that one search by text examines, for which no index exists. */
const MAX_EXAMINED = 50_000;

const ROWS: ListOfResource<Batch> = {
  name: 'rows',
  fields: [
    { name: 'status', label: 'Status', choices: BATCH_ROW_STATUSES },
    { name: 'text', label: 'Part of recipient or reference' },
    FROM_ROW,
  ],
  beginning: ({ rowsFailed }) =>
    rowsFailed > 0
      ? { heading: 'Failed rows', filter: { status: 'failed' } }
      : { heading: 'Rows', filter: {} },
  async read(batch, context, after, limit, filter) {
    const [number = 0] = numbersOf(after);
    const last = Math.max(number, firstRow(filter) - 1);
    const status = BATCH_ROW_STATUSES.find((one) => one === filter.status);
    const { text = '' } = filter;
    const end = last + MAX_EXAMINED;
    const until = text === '' ? {} : { until: end };
    const restriction = { status, text, ...until };
    const found = await readBatchRows(context.reader, batch, restriction, last, limit + 1);
    const items = found.slice(0, limit);
    const isCut =
      text !== '' && (await readBatchRows(context.reader, batch, {}, end, 1)).length > 0;
    const next = found.length > limit ? items.at(-1)?.number : isCut ? end : null;
    const id = batch.kind === 'payout' ? items.flatMap(({ paymentId }) => paymentId ?? []) : [];
    const made = id.length === 0 ? [] : await context.reader.select(payouts, { id });
    const madeById = new Map(made.map((payout) => [payout.id, payout]));
    const rows = items.map((row) => rowOf(batch, row, madeById, context));
    const ids = items.map(({ paymentId }) => paymentId);
    const amounts = items.map(({ raw }) => ({ raw, asset: batch.asset }));
    return { ids, rows, amounts, next: next?.toString() ?? null };
  },
};

function rowOf(
  { kind, asset }: Batch,
  row: BatchRow,
  made: ReadonlyMap<Uuid, Payout>,
  { time }: PageContext,
): Row {
  const { number, recipient, raw, feeRaw, paymentId: id } = row;
  const payout = id === null ? undefined : made.get(id);
  const sum = (part: bigint): Content => asset !== null && money({ raw: part, asset });
  return [
    [
      'Row',
      numbered(number, id === null ? undefined : link(PAYMENT_PATHS[kind], id, `Row ${number}`)),
    ],
    ['Recipient', kind === 'bonus' ? recipient : rowDestinationText(row), 'party'],
    ['Amount', sum(raw), 'number'],
    ['Fee', feeRaw > 0n && sum(feeRaw), 'number'],
    ['Description', row.description],
    ['Reference', row.reference],
    ['Status', tag(row.status)],
    ['Payout', payout && operationStatus(payout)],
    [
      'Reason',
      row.code &&
        withValues(html`${inWords(row.code, row.message)}`, { '': row.code, Message: row.message }),
    ],
    ['Settled', time(row.settledAt)],
  ];
}

const BATCH_PAGE: Omit<ResourceKind<Batch>, 'name' | 'subjectType' | 'actions' | 'find'> = {
  rowOf: (batch) => batch,
  titleOf: batchTitle,
  decisionOf: ({ status, asset, sourceAccountId: accountId }) =>
    status === 'ready' && asset !== null ? { accountId, asset } : null,
  lists: [PROBLEMS, ROWS],
  async describe(batch, { reader, now, names, time, tenant }) {
    const { id, status, sourceAccountId: from, createdBy, executedBy, createdAt } = batch;
    const { executedAt, validatedAt, finishedAt, sameFileBatchId: same } = batch;
    const [earlier, counts] = await Promise.all([
      status === 'ready' ? readEarlierPayments(reader, batch, now) : null,
      readPayoutCounts(reader, [batch]),
    ]);
    const ownPayouts = counts.get(id);
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
        ['Payouts', ownPayouts && payoutCountsText(ownPayouts)],
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
      beforeLists: earlier !== null && earlierPayments(batch, earlier),
      ...(isOpen && { list: 'batches' }),
      ...(hasFailed && isNew && { list: 'rejected' }),
      workflowId: WORKFLOW_ID_OF[batchType(batch)](id),
    };
  },
};

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

function earlierPayments({ kind }: Batch, { count, rows }: EarlierPayments): Content {
  const heading = `Rows paid before under the same reference, the first ${rows.length} of ${count}`;
  return tableSection('earlier', heading, rows, ({ number, batchId, paymentId }) => [
    ['Row', `Row ${number}`],
    ['Batch', batchId !== null && link(batchPath(kind), batchId, batchId)],
    [
      kind === 'bonus' ? 'Bonus' : 'Payout',
      paymentId === null
        ? 'not paid yet: the other batch is ready or executing'
        : link(PAYMENT_PATHS[kind], paymentId, paymentId),
    ],
  ]);
}
