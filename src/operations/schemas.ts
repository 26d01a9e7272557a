import { assetField, instantSchema, rawSchema, uuidSchema } from '../http/schemas.js';
import { EXAMPLE, exampled, z } from '../http/zod.js';

export const LimitsSchema = z
  .object({
    account_id: uuidSchema.describe('The id of the account.'),
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
