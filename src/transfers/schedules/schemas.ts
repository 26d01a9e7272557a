import { amountJson } from '../../core/amount.js';
import { toRfc3339 } from '../../core/instant.js';
import {
  type Schedule,
  SCHEDULE_STATUSES,
  SCHEDULE_UNITS,
  type ScheduleStatus,
} from '../../db/entities/schedules.js';
import { defineResource, fieldsOf, withValues } from '../../http/resource.js';
import {
  instantField,
  instantSchema,
  KEYED_QUERY,
  METADATA,
  optional,
  pageSchema,
  paymentRequest,
  uuidSchema,
  wholeNumber,
} from '../../http/schemas.js';
import { EXAMPLE, exampled, z } from '../../http/zod.js';
import { ScheduledTransferBody, transferResource } from '../schemas.js';
import { MAX_EVERY, MAX_RUNS } from './rules.js';
import type { ScheduleRequest } from './service.js';

const everySchema = z.strictObject({
  unit: z.enum(SCHEDULE_UNITS).describe('The unit of `count`.'),
  count: wholeNumber(1, MAX_EVERY).describe('The number of units from one run to the next.'),
});

const fault = (field: string, error: string) => ({ path: [field], error });

/** (docs/contract.md, Schedules) */
export const CreateScheduleBody = z
  .strictObject({
    transfer: ScheduledTransferBody.describe('The transfer that each run creates.'),
    starts_at: instantField().describe('The first run: in the future, at most 366 days ahead.'),
    every: optional(everySchema).openapi({
      description: 'The time from one run to the next; without it, it runs once.',
    }),
    ends_at: optional(instantField()).openapi({
      description: 'No run is due after this moment. Only with `every`.',
    }),
    max_runs: optional(wholeNumber(1, MAX_RUNS)).openapi({
      description:
        'The number of runs, refused ones included. Only with `every`, without `ends_at`.',
    }),
  })
  .refine((body) => body.every ?? body.ends_at === undefined, fault('ends_at', 'needs_every'))
  .refine((body) => body.every ?? body.max_runs === undefined, fault('max_runs', 'needs_every'))
  .refine(
    (body) => body.ends_at === undefined || body.max_runs === undefined,
    fault('max_runs', 'not_with_ends_at'),
  )
  .refine(
    (body) => body.ends_at === undefined || body.ends_at >= body.starts_at,
    fault('ends_at', 'before_from'),
  )
  .openapi('CreateSchedule');

const TRANSFER = {
  source_account: EXAMPLE.source,
  destination: { type: 'account' as const, account_id: EXAMPLE.destination },
  amount: EXAMPLE.amount,
  description: 'Rent',
  metadata: EXAMPLE.metadata,
};
const EVERY = { unit: 'month' as const, count: 1 };
const STARTS_AT = '2026-12-01T14:00:00.000Z';

exampled(CreateScheduleBody, {
  transfer: TRANSFER,
  starts_at: STARTS_AT,
  every: EVERY,
  ends_at: undefined,
  max_runs: 12,
});

export function scheduleRequest(body: z.output<typeof CreateScheduleBody>): ScheduleRequest {
  const { transfer, starts_at: startsAt, every, ends_at: endsAt, max_runs: maxRuns } = body;
  return {
    transfer: {
      destinationAccountId: transfer.destination.account_id,
      ...paymentRequest(transfer),
    },
    startsAt,
    everyUnit: every?.unit ?? null,
    everyCount: every?.count ?? null,
    endsAt: endsAt ?? null,
    maxRuns: maxRuns ?? null,
  };
}

const field = fieldsOf<Schedule>();

export const scheduleResource = defineResource(
  'Schedule',
  'A transfer that is created once at a later time, or again and again.',
  {
    id: field('The id of the schedule.', uuidSchema, EXAMPLE.id, ({ id }) => id, { ops: true }),
    status: field(
      withValues<ScheduleStatus>('The state.', {
        active: 'runs at `next_run_at`. Becomes `paused`, `canceled` or `completed`',
        paused: 'does not run. Becomes `active`, `canceled`, or `completed` if no run is left',
        canceled: 'does not run any more. Final',
        completed: 'its last run is over. Final',
      }),
      z.enum(SCHEDULE_STATUSES),
      'active',
      ({ status }) => status,
      { ops: true },
    ),
    transfer: field(
      'The transfer that each run creates.',
      transferResource.schema
        .pick({
          ...({ source_account: true, destination: true, amount: true } as const),
          ...({ description: true, metadata: true } as const),
        })
        .openapi('ScheduledTransfer'),
      TRANSFER,
      (schedule) => ({
        source_account: schedule.sourceAccountId,
        destination: { type: 'account' as const, account_id: schedule.destinationAccountId },
        amount: amountJson(schedule),
        description: schedule.description,
        metadata: METADATA.read(schedule),
      }),
    ),
    starts_at: field(
      'When the first run is due.',
      instantSchema,
      STARTS_AT,
      ({ startsAt }) => toRfc3339(startsAt),
      { ops: true },
    ),
    every: field(
      "The time from one run to the next, by the clocks of the tenant's time zone; null if it runs once.",
      z.object(everySchema.shape).nullable(),
      EVERY,
      ({ everyUnit: unit, everyCount: count }) =>
        unit === null || count === null ? null : { unit, count },
    ),
    ends_at: field(
      'No run is due after this moment; null without such an end.',
      instantSchema.nullable(),
      null,
      ({ endsAt }) => toRfc3339(endsAt),
      { ops: true },
    ),
    max_runs: field(
      'The number of runs after which it ends; null without such an end.',
      z.int().nullable(),
      12,
      ({ maxRuns }) => maxRuns,
      { desk: 'Most runs', ops: true },
    ),
    next_run_at: field(
      'When the next run is due; null unless it is `active`.',
      instantSchema.nullable(),
      STARTS_AT,
      ({ nextRunAt }) => toRfc3339(nextRunAt),
      { ops: true },
    ),
    runs: field(
      'How many runs there were, refused ones included.',
      z.int(),
      0,
      ({ runs }) => runs,
      { desk: 'Runs', ops: true },
    ),
    created_at: field(
      'When the request was accepted.',
      instantSchema,
      EXAMPLE.at,
      ({ createdAt }) => toRfc3339(createdAt),
      { ops: true },
    ),
  },
);
export const ScheduleSchema = scheduleResource.schema;
const { example } = scheduleResource;

export const SCHEDULE_EXAMPLES = {
  pause: { ...example, status: 'paused', next_run_at: null },
  resume: example,
  cancel: { ...example, status: 'canceled', next_run_at: null },
} satisfies Record<string, z.input<typeof ScheduleSchema>>;

export const SchedulePageSchema = pageSchema('SchedulePage', ScheduleSchema);

export const ScheduleQuery = z.strictObject({
  ...KEYED_QUERY,
  status: z.enum(SCHEDULE_STATUSES).optional().describe('Only schedules in this state.'),
});
