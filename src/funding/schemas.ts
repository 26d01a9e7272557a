import { amountJson } from '../core/amount.js';
import { toRfc3339 } from '../core/instant.js';
import {
  type Adjustment,
  ADJUSTMENT_DIRECTIONS,
  ADJUSTMENT_STATUSES,
} from '../db/entities/operations.js';
import { EXAMPLE, z } from '../http/zod.js';
import { defineResource, fieldsOf } from '../http/resource.js';
import { AmountSchema, instantSchema, uuidSchema } from '../http/schemas.js';

const ops = { ops: true } as const;
const field = fieldsOf<Adjustment>();

export const adjustmentResource = defineResource(
  'Adjustment',
  'A correction of a balance by two members of the staff.',
  {
    id: field('The id of the adjustment.', uuidSchema, EXAMPLE.id, ({ id }) => id, ops),
    reference: field(
      'The unique reference that was given with the proposal.',
      z.string(),
      'ADJ-0001',
      ({ reference }) => reference,
      { ops: true, desk: 'Reference' },
    ),
    account_id: field(
      'The account that is adjusted.',
      uuidSchema,
      EXAMPLE.source,
      ({ accountId }) => accountId,
      ops,
    ),
    direction: field(
      'Whether the amount goes into the account or out of it.',
      z.enum(ADJUSTMENT_DIRECTIONS),
      'in',
      ({ direction }) => direction,
      ops,
    ),
    amount: field(
      'The amount, which is never negative.',
      AmountSchema,
      EXAMPLE.amount,
      ({ raw, asset }) => amountJson({ raw, asset }),
      ops,
    ),
    reason: field(
      'Why it is needed.',
      z.string(),
      'Pay-in recorded twice',
      ({ reason }) => reason,
      { ops: true, desk: 'Reason' },
    ),
    status: field(
      'The state: only `posted` has moved money.',
      z.enum(ADJUSTMENT_STATUSES),
      'proposed',
      ({ status }) => status,
      ops,
    ),
    proposed_by: field(
      'Who proposed it.',
      z.string(),
      'maria',
      ({ proposedBy }) => proposedBy,
      ops,
    ),
    decided_by: field(
      'Who approved or rejected it; null until then.',
      z.string().nullable(),
      null,
      ({ decidedBy }) => decidedBy,
      ops,
    ),
    created_at: field(
      'When it was proposed.',
      instantSchema,
      EXAMPLE.at,
      ({ createdAt }) => toRfc3339(createdAt),
      ops,
    ),
    decided_at: field(
      'When it was approved or rejected; null until then.',
      instantSchema.nullable(),
      null,
      ({ decidedAt }) => toRfc3339(decidedAt),
      ops,
    ),
  },
);
