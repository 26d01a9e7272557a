import { MOVEMENT_KINDS, RESOURCE_TYPES } from '../db/entities/ledger.js';
import {
  AmountSchema,
  assetField,
  CREATED_AT_QUERY,
  instantSchema,
  PAGE_QUERY,
  pageSchema,
  uuidSchema,
} from '../http/schemas.js';
import { z } from '../http/zod.js';

const raw = z.string().openapi({ pattern: '^-?(0|[1-9][0-9]{0,18})$' });

export const BalancesSchema = z
  .object({
    account_id: uuidSchema,
    balances: z.array(
      z.object({
        asset: assetField,
        available: raw.openapi({ description: 'What can be spent.' }),
        held: raw.openapi({ description: 'Set aside for what is pending.' }),
        total: raw.openapi({ description: 'available + held' }),
      }),
    ),
    as_of: instantSchema,
  })
  .openapi('Balances');

export const MovementSchema = z
  .object({
    id: uuidSchema,
    kind: z.enum(MOVEMENT_KINDS),
    amount: AmountSchema,
    counterparty: z.object({
      account_id: uuidSchema.nullable(),
      tenant: uuidSchema.nullable(),
      alias: z.string().nullable(),
      display_name: z.string(),
      type: z.enum(['person', 'business', 'bank_account', 'system']),
    }),
    description: z.string().nullable(),
    related: z.object({ type: z.enum(RESOURCE_TYPES), id: uuidSchema }),
    created_at: instantSchema,
  })
  .openapi('Movement');

export const MovementPageSchema = pageSchema('MovementPage', MovementSchema);

export const MovementQuery = z.strictObject({
  ...PAGE_QUERY,
  ...CREATED_AT_QUERY,
  asset: assetField.optional(),
  kind: z.enum(MOVEMENT_KINDS).optional(),
});
