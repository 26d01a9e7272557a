import { ASSETS } from '../core/amount.js';
import { MOVEMENT_KINDS, RESOURCE_TYPES } from '../db/entities/ledger.js';
import { EXAMPLE, exampled, exampledAs, exampleOf, z } from '../http/zod.js';
import {
  AmountSchema,
  assetField,
  CREATED_AT_QUERY,
  instantField,
  instantSchema,
  PAGE_QUERY,
  pageSchema,
  rawSchema,
  uuidSchema,
} from '../http/schemas.js';

const accountId = uuidSchema.describe('The id of the account.');

const BalancesSchema = z
  .object({
    account_id: accountId,
    balances: z
      .array(
        z.object({
          asset: assetField,
          available: rawSchema.describe('What can be spent.'),
          held: rawSchema.describe('Set aside for pending operations.'),
          total: rawSchema.describe('available + held'),
        }),
      )
      .describe('One balance for each asset.'),
    as_of: instantSchema.describe('The moment at which the balances were read.'),
  })
  .openapi('Balances');
exampled(BalancesSchema, {
  account_id: EXAMPLE.source,
  balances: ASSETS.map((asset) =>
    asset === EXAMPLE.asset
      ? { asset, available: '49850000', held: '150000', total: '50000000' }
      : { asset, available: '0', held: '0', total: '0' },
  ),
  as_of: EXAMPLE.later,
});

export const BalancesQuery = z.strictObject({
  at: instantField()
    .optional()
    .describe('A moment since the account was opened, at least 15 seconds ago; by default now.'),
});

/** The balances at a past moment, without the held part, which is not recorded. */
const PastBalancesSchema = z
  .object({
    account_id: accountId,
    balances: z
      .array(
        z.object({
          asset: assetField,
          total: rawSchema.describe('Of everything posted up to and including `as_of`.'),
        }),
      )
      .describe('One total for each asset.'),
    as_of: instantSchema.describe('The moment that was asked for.'),
  })
  .openapi('PastBalances');
exampled(PastBalancesSchema, {
  account_id: EXAMPLE.source,
  balances: ASSETS.map((asset) => ({ asset, total: asset === EXAMPLE.asset ? '50000000' : '0' })),
  as_of: EXAMPLE.at,
});

export const BalancesResponse = z.union([BalancesSchema, PastBalancesSchema]);
exampledAs(BalancesResponse, exampleOf(BalancesSchema));

const MovementSchema = z
  .object({
    id: uuidSchema.describe('The id of the movement.'),
    kind: z
      .enum(MOVEMENT_KINDS)
      .describe('What it is part of, and whether the amount came in or went out.'),
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
        type: z.enum(RESOURCE_TYPES).describe('The kind of operation.'),
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
});

export const LimitsSchema = z
  .object({
    account_id: accountId,
    limits: z
      .array(
        z.object({
          asset: assetField,
          minimum: rawSchema.describe('For a single operation.'),
          maximum: rawSchema.describe('For a single operation.'),
          month: z
            .object({
              used: rawSchema.describe('What has left the account or is pending, fees excluded.'),
              limit: rawSchema.describe('The most that may leave the account in the month.'),
              resets_at: instantSchema.describe(
                "The start of the next month in the tenant's time zone.",
              ),
            })
            .describe('The limit of the current month.'),
        }),
      )
      .describe('The limits in each asset.'),
  })
  .openapi('Limits');
exampled(LimitsSchema, {
  account_id: EXAMPLE.source,
  limits: [
    {
      asset: EXAMPLE.asset,
      minimum: '100000',
      maximum: '1200000000',
      month: { used: '150000', limit: '5000000000', resets_at: '2026-12-01T05:00:00.000Z' },
    },
  ],
});
