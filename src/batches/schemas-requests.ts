import { MAX_DESCRIPTION } from '../core/checked-text.js';
import { BATCH_ROW_STATUSES, BATCH_STATUSES, type BatchKindName } from '../db/entities/batches.js';
import { EXAMPLE, exampled, z } from '../http/zod.js';
import { KEYED_QUERY, PAGE_QUERY, pageSchema, textField, uuidField } from '../http/schemas.js';
import { forEachPayoutStatus } from './payout-counts.js';
import { BATCH_RESOURCES, type BatchResources } from './schemas.js';
import { ROW_RESOURCES } from './schemas-rows.js';

export const BatchQuery = z.strictObject({
  ...KEYED_QUERY,
  status: z.enum(BATCH_STATUSES).optional().describe('Only batches in this state.'),
});

/** The words and examples in which the operations of the kinds differ. */
interface EndpointWords {
  /** As part of the names of operations and schemas, such as `BonusBatch`. */
  readonly name: string;
  readonly payments: string;
  readonly path: string;
  readonly template: string;
  readonly errors: string;
  readonly result: string;
  /** Who executes a batch. */
  readonly execution: string;
  /** In place of those of a ready batch, when a member has executed it. */
  readonly executing: object;
}

function batchEndpoints(kind: BatchKindName, words: EndpointWords) {
  const { name, payments, path } = words;
  const { response, event } = BATCH_RESOURCES[kind];
  const rows = ROW_RESOURCES[kind];
  const rowQuery = z.strictObject({
    ...PAGE_QUERY,
    status: z
      .enum(rows.statuses)
      .optional()
      .describe('Only rows in this state.')
      .transform((shown) => BATCH_ROW_STATUSES[rows.statuses.indexOf(shown ?? '')]),
  });
  const uploadForm = z
    .strictObject({
      source_account: uuidField.describe(`The account that pays the ${payments} and their fees.`),
      description: textField({ max: MAX_DESCRIPTION })
        .optional()
        .describe('A text about the batch.'),
    })
    .openapi(`Upload${name}`);
  return {
    ...words,
    batch: response,
    page: pageSchema(`${name}Page`, response.schema),
    rowPage: pageSchema(`${name}RowPage`, rows.schema),
    rowQuery,
    presentRow: rows.present,
    uploadForm: exampled(uploadForm, { source_account: EXAMPLE.source, description: 'November' }),
    examples: batchExamples(response.example, words.executing),
    eventExamples: eventExamples(
      event.example,
      `https://api.example.com${path}/${EXAMPLE.id}/files`,
    ),
  };
}
export type BatchEndpoints = ReturnType<typeof batchEndpoints>;

const NULL_UNLESS_READY = {
  funding: null,
  can_send: null,
  earlier_payments: null,
  total_formatted: null,
  fees_formatted: null,
  total_debit_formatted: null,
};

function batchExamples(ready: BatchResources['response']['example'], executing: object) {
  return {
    validating: {
      ...ready,
      ...NULL_UNLESS_READY,
      status: 'validating',
      rows: 0,
      total: null,
      fees: null,
      total_debit: null,
      duplicates: null,
      hidden: null,
      unread_sheets: null,
    },
    executing: {
      ...ready,
      ...NULL_UNLESS_READY,
      status: 'executing',
      executed_at: EXAMPLE.later,
      ...executing,
    },
    withdrawn: {
      ...ready,
      ...NULL_UNLESS_READY,
      status: 'rejected',
      finished_at: EXAMPLE.later,
      rejection: { code: 'withdrawn' },
    },
  };
}

function eventExamples(ready: BatchResources['event']['example'], files: string) {
  const executed = {
    ...ready,
    executed_at: EXAMPLE.at,
    finished_at: EXAMPLE.later,
    files: { errors_url: null, result_url: `${files}/result` },
  };
  return {
    ready,
    rejected: {
      ...ready,
      status: 'rejected',
      rows_rejected: 1,
      total: { raw: '150000', asset: EXAMPLE.asset },
      fees: null,
      total_debit: null,
      duplicates: null,
      files: { errors_url: `${files}/errors`, result_url: null },
    },
    completed: { ...executed, status: 'completed' },
    partiallyFailed: { ...executed, status: 'partially_failed' },
  };
}

const PAYOUT_COLUMNS =
  'country,bank_code,account_type,account_number,holder_name,holder_document,amount,asset';

export const BATCH_ENDPOINTS: Readonly<Record<BatchKindName, BatchEndpoints>> = {
  bonus: batchEndpoints('bonus', {
    name: 'BonusBatch',
    payments: 'bonuses',
    path: '/v1/bonus_batches',
    template: `recipient,amount,asset,description,reference\r\n$example-delete-this-row,150000,${EXAMPLE.asset},Bonus for November,NOV-0001\r\n`,
    errors:
      'row,column,code,message,value\r\n3,recipient,not_found,"no account can be paid under ""$anna""",$anna\r\n',
    result: `row,reference,recipient,amount,asset,status,bonus_id,fee,code,message,paid_at\r\n2,NOV-0001,$ana,150000,${EXAMPLE.asset},paid,${EXAMPLE.id},150,,,${EXAMPLE.later}\r\n`,
    execution:
      "From the source account's approval threshold up, a member other than the uploader must execute it.",
    executing: { progress: { paid: 0, failed: 0, pending: 2 } },
  }),
  payout: batchEndpoints('payout', {
    name: 'PayoutBatch',
    payments: 'payouts',
    path: '/v1/payout_batches',
    template: `${PAYOUT_COLUMNS},description,reference\r\nCO,0007,savings,example-delete-this-row,Ana María Pérez,1020304050,150000,${EXAMPLE.asset},Invoice 2041,INV-2041\r\n`,
    errors:
      'row,column,code,message,value\r\n3,account_number,missing_field,account_number is empty,\r\n',
    result: `row,reference,country,bank_code,account_type,account_number,holder_name,amount,asset,status,payout_id,fee,code,message\r\n2,INV-2041,CO,0007,savings,****6789,Ana María Pérez,150000,${EXAMPLE.asset},in_progress,${EXAMPLE.id},150,,\r\n`,
    execution:
      'A member other than the uploader must execute it: this is the approval of its payouts, which start as `approved`.',
    executing: {
      progress: { created: 0, failed: 0, pending: 2 },
      payouts: forEachPayoutStatus(() => 0),
    },
  }),
};
