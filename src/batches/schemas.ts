import type { Batch, BatchKindName } from '../db/entities/batches.js';
import { defineResource } from '../http/resource.js';
import { uuidSchema } from '../http/schemas.js';
import { EXAMPLE, z } from '../http/zod.js';
import type { EventDraft } from '../ledger/event-log.js';
import { batchType, isExecuted, pendingRows } from './rules.js';
import { forEachPayoutStatus } from './payout-counts.js';
import {
  count,
  EVENT_FIELDS,
  eventField,
  type EventSource,
  firstFields,
  FORMATTED_FIELDS,
  FUNDING_FIELDS,
  responseField,
  type ReviewedBatch,
  reviewOf,
} from './schemas-fields.js';

/** The words in which the descriptions of the kinds differ. */
interface BatchWords {
  readonly name: string;
  readonly payment: BatchKindName;
  readonly payments: string;
  readonly earlier: Readonly<Record<'account' | 'by' | 'batch', string>>;
  readonly ends: Parameters<typeof firstFields>[0];
  /** The name of the rows that became payments, and its meaning. */
  readonly progress: Readonly<Record<'done' | 'meaning', string>>;
}

function payerField({ payments }: BatchWords) {
  return eventField(
    `The account that pays the ${payments} and their fees.`,
    uuidSchema,
    EXAMPLE.source,
    ({ batch }) => batch.sourceAccountId,
  );
}

function earlierPaymentsField({ payment, earlier }: BatchWords) {
  return responseField(
    `While ready, when one batch is read: the rows whose reference the tenant paid to the same ${earlier.account} within the last 90 days, by ${earlier.by}, and those that another batch, ready or executing, will pay. A warning.`,
    z
      .object({
        count: count.describe('Rows of the file.'),
        rows: z
          .array(
            z.object({
              row: count.describe('The row of the file.'),
              batch_id: uuidSchema.nullable().describe(earlier.batch),
              [`${payment}_id`]: uuidSchema
                .nullable()
                .describe(
                  `The newest ${payment} that paid; null if the other batch has yet to pay.`,
                ),
            }),
          )
          .describe('The first 100 of them.'),
      })
      .nullable(),
    { count: 0, rows: [] },
    (source) => {
      const found = reviewOf(source)?.earlier ?? null;
      if (found === null) return null;
      const rows = found.rows.map(({ number, batchId, paymentId }) => ({
        row: number,
        batch_id: batchId,
        [`${payment}_id`]: paymentId,
      }));
      return { count: found.count, rows };
    },
  );
}

function progressField({ progress }: BatchWords) {
  return responseField(
    'Rows, once executed.',
    z
      .object({
        [progress.done]: count.describe(progress.meaning),
        failed: count.describe('Rows that could not be paid.'),
        pending: count.describe('Rows that have yet to be paid.'),
      })
      .nullable(),
    null,
    ({ batch }) =>
      isExecuted(batch)
        ? {
            [progress.done]: batch.rowsPaid,
            failed: batch.rowsFailed,
            pending: pendingRows(batch),
          }
        : null,
  );
}

const PAYOUTS = responseField(
  'How many payouts of the batch are in each state now; null until a member executes it.',
  z
    .object(forEachPayoutStatus((status) => count.describe(`Payouts that are \`${status}\`.`)))
    .nullable(),
  null,
  ({ batch, payouts }) => (isExecuted(batch) ? payouts : null),
);

function eventFields(words: BatchWords) {
  return { ...firstFields(words.ends), source_account: payerField(words), ...EVENT_FIELDS };
}

function responseFields(words: BatchWords) {
  return {
    ...eventFields(words),
    ...FUNDING_FIELDS,
    earlier_payments: earlierPaymentsField(words),
    ...FORMATTED_FIELDS,
    progress: progressField(words),
  };
}

function meaningOf({ payments }: BatchWords): string {
  return `A file of ${payments}, which are validated together and paid once the batch is executed.`;
}

function eventResource(words: BatchWords) {
  const meaning =
    'The batch in events, without the fields that are only valid at the time of a response.';
  return defineResource(`${words.name}OfEvent`, meaning, eventFields(words));
}

const BONUS: BatchWords = {
  name: 'BonusBatch',
  payment: 'bonus',
  payments: 'bonuses',
  earlier: {
    account: 'account',
    by: 'another batch or a single bonus',
    batch: 'The batch that paid or will pay; null for a single bonus.',
  },
  ends: {
    completed: 'every row was paid. Final',
    partially_failed: 'at least one row was not paid. Final',
  },
  progress: { done: 'paid', meaning: 'Rows that were paid.' },
};

const PAYOUT: BatchWords = {
  name: 'PayoutBatch',
  payment: 'payout',
  payments: 'payouts',
  earlier: {
    account: 'bank account',
    by: 'another batch',
    batch: 'The batch that paid or will pay.',
  },
  ends: {
    completed: 'every row has become a payout, which can still fail. Final',
    partially_failed: 'a rule refused at least one row, which has not become a payout. Final',
  },
  progress: { done: 'created', meaning: 'Rows whose payout was created.' },
};

const BONUS_BATCH = defineResource(BONUS.name, meaningOf(BONUS), responseFields(BONUS));
const PAYOUT_BATCH = defineResource(PAYOUT.name, meaningOf(PAYOUT), {
  ...responseFields(PAYOUT),
  payouts: PAYOUTS,
});

export interface BatchResources {
  readonly response: {
    readonly schema: z.ZodObject;
    readonly example: (typeof BONUS_BATCH)['example'];
    readonly present: (source: EventSource & ReviewedBatch) => object;
  };
  readonly event: ReturnType<typeof eventResource>;
}

export const BATCH_RESOURCES: Readonly<Record<BatchKindName, BatchResources>> = {
  bonus: { response: BONUS_BATCH, event: eventResource(BONUS) },
  payout: { response: PAYOUT_BATCH, event: eventResource(PAYOUT) },
};

export function batchEvent(
  outcome: 'ready' | 'rejected' | 'completed' | 'partially_failed',
  batch: Batch,
  baseUrl: string,
): EventDraft {
  const { tenantId, id: resourceId } = batch;
  const object = () => BATCH_RESOURCES[batch.kind].event.present({ batch, baseUrl });
  return { tenantId, type: `${batchType(batch)}.${outcome}`, resourceId, object };
}
