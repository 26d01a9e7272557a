import {
  MOVEMENT_KINDS,
  type MovementKind,
  POSTED_TYPES,
  type PostedType,
} from '../db/entities/ledger.js';
import { withValues } from '../http/resource.js';
import {
  AmountSchema,
  assetField,
  CREATED_AT_QUERY,
  instantSchema,
  PAGE_QUERY,
  pageSchema,
  uuidSchema,
} from '../http/schemas.js';
import { EXAMPLE, exampled, z } from '../http/zod.js';

const MovementSchema = z
  .object({
    id: uuidSchema.describe('The id of the movement.'),
    kind: z.enum(MOVEMENT_KINDS).describe(
      withValues<MovementKind>('What it is part of, and whether the amount came in or went out.', {
        transfer_in: 'the account received a transfer, or a refund',
        transfer_out: 'the account sent a transfer, or a refund',
        bonus_in: 'the account received a bonus',
        bonus_out: 'the account paid a bonus, alone or in a batch',
        payin_in: 'money came in from a bank, as operators recorded it',
        payout_out: 'a payout was paid to a bank',
        fee_out: 'the account paid the fee of `related`',
        adjustment_in: 'a payout was returned, operators corrected the balance, or a fee arrived',
        adjustment_out: 'operators corrected the balance',
      }),
    ),
    amount: AmountSchema.describe('The amount, which is never negative.'),
    total_after: AmountSchema.describe(
      "The account's total in the asset after it: available plus held.",
    ),
    counterparty: z
      .object({
        account_id: uuidSchema.nullable().describe('The account; null if no tenant owns it.'),
        tenant: uuidSchema.nullable().describe('The tenant that owns it; null if none does.'),
        alias: z.string().nullable().describe('The alias of the account; null without one.'),
        display_name: z.string().describe('The name that others see.'),
        type: z
          .enum(['person', 'business', 'bank_account', 'system'])
          .describe('What kind of account it is.'),
      })
      .describe('The other side of the movement.'),
    description: z.string().nullable().describe('The description of what it is part of.'),
    related: z
      .object({
        type: z.enum(POSTED_TYPES).describe(
          withValues<PostedType>(
            'The kind of operation. A fee names the operation that it was paid for.',
            {
              transfer: 'a transfer, a refund or a run of a schedule',
              bonus: 'a bonus, alone or of a row of a batch',
              payout: 'a payout, or its return',
              payin: 'money from a bank, of which the API shows only the movement',
              adjustment: 'a correction by two operators, of which the API shows only the movement',
            },
          ),
        ),
        id: uuidSchema.describe('The id of the operation.'),
      })
      .describe('The operation that it is part of.'),
    created_at: instantSchema.describe('When it was posted.'),
  })
  .openapi('Movement');
exampled(MovementSchema, {
  id: '0198f2c4-6a50-7f19-a3c8-6e0b2d94f755',
  kind: 'transfer_out',
  amount: EXAMPLE.amount,
  counterparty: {
    account_id: EXAMPLE.destination,
    tenant: EXAMPLE.tenant,
    alias: '$ana',
    display_name: 'Ana M. P.',
    type: 'person',
  },
  total_after: { raw: '49850000', asset: EXAMPLE.asset },
  description: 'Lunch',
  related: { type: 'transfer', id: EXAMPLE.id },
  created_at: EXAMPLE.at,
});

export const MovementPageSchema = pageSchema('MovementPage', MovementSchema);

export const MovementQuery = z.strictObject({
  ...PAGE_QUERY,
  ...CREATED_AT_QUERY,
  asset: assetField.optional().describe('Only movements in this asset.'),
  kind: z.enum(MOVEMENT_KINDS).optional().describe('Only movements of this kind.'),
  // Without a default, so that cursors from before this filter stay valid.
  order: z
    .enum(['asc', 'desc'])
    .optional()
    .describe('`asc` is oldest first; otherwise newest first.'),
});
