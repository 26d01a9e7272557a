import { EXAMPLE } from '../http/examples.js';
import type { z } from '../http/zod.js';
import {
  batchOfEventResource,
  batchResource,
  type BatchOfEventSchema,
  type BonusBatchSchema,
} from './schemas.js';

const of = (raw: string) => ({ raw, asset: EXAMPLE.asset });

const NOT_NOW = {
  funding: null,
  can_send: null,
  earlier_payments: null,
  total_formatted: null,
  fees_formatted: null,
  total_debit_formatted: null,
};
/** Examples of responses in other states of a batch. */
export const BATCH_EXAMPLES = {
  validating: {
    ...{ ...batchResource.example, ...NOT_NOW, status: 'validating', rows: 0 },
    ...{ total: null, fees: null, total_debit: null, duplicates: null, hidden: null },
  },
  executing: {
    ...{ ...batchResource.example, ...NOT_NOW, status: 'executing', executed_at: EXAMPLE.later },
    progress: { paid: 0, failed: 0, pending: 2 },
  },
  withdrawn: {
    ...{ ...batchResource.example, ...NOT_NOW, status: 'rejected', finished_at: EXAMPLE.later },
    rejection: { code: 'withdrawn' },
  },
} satisfies Record<string, z.input<typeof BonusBatchSchema>>;

const files = `https://api.example.com/v1/bonus_batches/${EXAMPLE.id}/files`;
const EXECUTED = {
  ...{ ...batchOfEventResource.example, executed_at: EXAMPLE.at, finished_at: EXAMPLE.later },
  files: { errors_url: null, result_url: `${files}/result` },
};
export const BATCH_EVENT_EXAMPLES = {
  ready: batchOfEventResource.example,
  rejected: {
    ...{
      ...batchOfEventResource.example,
      status: 'rejected',
      rows_rejected: 1,
      total: of('150000'),
    },
    ...{ fees: null, total_debit: null, duplicates: null },
    files: { errors_url: `${files}/errors`, result_url: null },
  },
  completed: { ...EXECUTED, status: 'completed' },
  partiallyFailed: { ...EXECUTED, status: 'partially_failed' },
} satisfies Record<string, z.input<typeof BatchOfEventSchema>>;

const RESULT_COLUMNS =
  'row,reference,recipient,amount,asset,status,bonus_id,fee,code,message,paid_at';
export const FILE_EXAMPLES = {
  template: `recipient,amount,asset,description,reference\r\n$example-delete-this-row,150000,${EXAMPLE.asset},Bonus for November,NOV-0001\r\n`,
  errors:
    'row,column,code,message,value\r\n3,recipient,not_found,nobody who can be paid has this alias,$anna\r\n',
  result: `${RESULT_COLUMNS}\r\n2,NOV-0001,$ana,150000,${EXAMPLE.asset},paid,${EXAMPLE.id},150,,,${EXAMPLE.later}\r\n`,
};
