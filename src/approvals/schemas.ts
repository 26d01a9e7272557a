import { EXAMPLE, exampled } from '../http/examples.js';
import { instantSchema, optional, rawField, rawSchema, uuidSchema } from '../http/schemas.js';
import { z } from '../http/zod.js';
import { ASSETS } from '../core/amount.js';
import { DEFAULT_EXPIRY_S, MAX_EXPIRY_S, MAX_APPROVALS, MIN_EXPIRY_S } from './policies.js';

export const PolicyBody = z
  .strictObject({
    threshold: rawField,
    approvals: wholeNumber(1, MAX_APPROVALS),
    expires_in_s: optional(wholeNumber(MIN_EXPIRY_S, MAX_EXPIRY_S)).openapi({
      description: `Seconds; by default ${DEFAULT_EXPIRY_S} (seven days).`,
    }),
  })
  .openapi('SetApprovalPolicy');
exampled(PolicyBody, { threshold: '1000000', approvals: 1, expires_in_s: 86_400 });

const settings = {
  threshold: rawSchema.openapi({ description: 'Amounts that reach it need approval.' }),
  approvals: z.int(),
  expires_in_s: z.int(),
};

export const PolicySchema = z
  .object({
    account_id: uuidSchema,
    asset: z.enum(ASSETS),
    ...settings,
    pending: z
      .object({
        policy: z.object(settings).nullable().openapi({ description: 'Null: the policy is removed.' }),
        effective_at: instantSchema,
      })
      .nullable()
      .openapi({ description: 'The change to come; null if there is none.' }),
  })
  .openapi('ApprovalPolicy');
exampled(PolicySchema, {
  account_id: EXAMPLE.source,
  asset: EXAMPLE.asset,
  threshold: '1000000',
  approvals: 1,
  expires_in_s: 86_400,
  pending: null,
});

/** Reasons: not_an_integer, out_of_range. */
function wholeNumber(least: number, most: number) {
  return z.int({ error: 'not_an_integer' }).min(least, 'out_of_range').max(most, 'out_of_range');
}
