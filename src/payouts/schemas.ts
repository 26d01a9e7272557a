import { MAX_DESCRIPTION } from '../core/checked-text.js';
import { BANK_ACCOUNT_TYPES, PAYOUT_STATUSES, type PayoutStatus } from '../db/entities/payouts.js';
import { REJECTION, rejectBody } from '../approvals/schemas.js';
import { APPROVABLE, APPROVAL, RejectionSchema } from '../approvals/schemas-approvable.js';
import { EXAMPLE, exampled } from '../http/examples.js';
import { OPERATION_QUERY } from '../http/operation-query.js';
import {
  amountField,
  boundedOfAsset,
  countryField,
  instantSchema,
  optional,
  pageSchema,
  textField,
  uuidField,
  uuidSchema,
} from '../http/schemas.js';
import { z } from '../http/zod.js';

const HOLDER_NAME_LENGTH = 80;

const bankAccount = {
  type: z.literal('bank_account'),
  country: countryField,
  bank_code: z
    .string()
    .regex(/^[0-9A-Z]{2,11}$/, 'malformed')
    .openapi({ example: '0007' }),
  account_type: z.enum(BANK_ACCOUNT_TYPES),
};

/** (docs/contract.md, Payouts) */
export const CreatePayoutBody = z
  .strictObject({
    source_account: uuidField,
    destination: z.strictObject({
      ...bankAccount,
      account_number: z
        .string()
        .regex(/^[0-9A-Za-z]{4,34}$/, 'malformed')
        .openapi({ description: 'Stored encrypted; only its end is shown.' }),
      holder_name: textField({ min: 1, max: HOLDER_NAME_LENGTH }).refine(
        (text) => text.trim() !== '',
        'too_short',
      ),
      holder_document: z
        .string()
        .regex(/^[0-9A-Z.-]{4,20}$/, 'malformed')
        .openapi({ description: 'Stored encrypted; never shown again.' }),
    }),
    amount: amountField,
    description: optional(textField({ max: MAX_DESCRIPTION })),
  })
  .openapi('CreatePayout');
exampled(CreatePayoutBody, {
  source_account: EXAMPLE.source,
  destination: {
    type: 'bank_account',
    country: 'CO',
    bank_code: '0007',
    account_type: 'savings',
    account_number: '12345676789',
    holder_name: 'Ana María Pérez',
    holder_document: '1020304050',
  },
  amount: EXAMPLE.amount,
  description: 'Invoice 2041',
});

export const PayoutSchema = z
  .object({
    id: uuidSchema,
    scope: z.literal('external'),
    status: z.enum(PAYOUT_STATUSES),
    source_account: uuidSchema,
    destination: z.object({
      ...bankAccount,
      country: z.string(),
      bank_code: z.string(),
      account_number: z.string().openapi({
        description: 'Masked: at most its last four characters, and never more than half of it.',
        example: '****6789',
      }),
      holder_name: z.string(),
    }),
    ...APPROVABLE,
    rejection: RejectionSchema.openapi({
      description:
        '`rejected` by a person, or the code of the rule that refused it at its last approval.',
    }),
    failure: z.object({ code: z.string(), message: z.string() }).nullable().openapi({
      description:
        'Why it failed or was returned; `approval_expired` if it was not approved in time.',
    }),
    rail_reference: z
      .string()
      .nullable()
      .openapi({ description: "The rail's own reference, once the rail has taken it." }),
    status_transitions: z
      .array(z.object({ status: z.enum(PAYOUT_STATUSES), at: instantSchema }))
      .openapi({
        description: 'Every status it has had, oldest first; the last is the current one.',
      }),
  })
  .openapi('Payout');

const APPROVED: z.input<typeof PayoutSchema> = {
  id: EXAMPLE.id,
  scope: 'external',
  status: 'approved',
  source_account: EXAMPLE.source,
  destination: {
    type: 'bank_account',
    country: 'CO',
    bank_code: '0007',
    account_type: 'savings',
    account_number: '****6789',
    holder_name: 'Ana María Pérez',
  },
  amount: EXAMPLE.amount,
  fee: EXAMPLE.fee,
  description: 'Invoice 2041',
  created_at: EXAMPLE.at,
  approval: null,
  rejection: null,
  failure: null,
  rail_reference: null,
  status_transitions: [{ status: 'approved', at: EXAMPLE.at }],
};
exampled(PayoutSchema, APPROVED);

/** Returns an example that has had these statuses, the current one last. */
function example(
  statuses: readonly [...PayoutStatus[], PayoutStatus],
  more: Partial<z.input<typeof PayoutSchema>> = {},
): z.input<typeof PayoutSchema> {
  const { at: first, later } = EXAMPLE;
  const transitions = statuses.map((status, index) => ({
    status,
    at: index === 0 ? first : later,
  }));
  const status = statuses.at(-1) ?? APPROVED.status;
  return { ...APPROVED, status, status_transitions: transitions, ...more };
}
const FAILURE = { code: 'account_closed', message: 'the account is closed' };
const SENT = { rail_reference: 'R-20261121-000417' };
const RETURNED = { ...SENT, failure: FAILURE };

export const PAYOUT_EXAMPLES = {
  pending: example(['pending_approval'], { approval: APPROVAL }),
  approved: example(['pending_approval', 'approved'], { approval: { ...APPROVAL, received: 1 } }),
  rejected: example(['pending_approval', 'rejected'], { approval: APPROVAL, rejection: REJECTION }),
  canceled: example(['approved', 'canceled']),
  completed: example(['approved', 'in_progress', 'completed'], SENT),
  failed: example(['approved', 'in_progress', 'failed'], RETURNED),
  returned: example(['approved', 'in_progress', 'completed', 'returned'], RETURNED),
};

export const RejectPayoutBody = rejectBody('RejectPayout');

export const PayoutPageSchema = pageSchema('PayoutPage', PayoutSchema);

export const PayoutQuery = boundedOfAsset(
  z.strictObject({
    ...OPERATION_QUERY,
    status: z.enum(PAYOUT_STATUSES).optional(),
    bank_code: bankAccount.bank_code.optional(),
    account_number_end: z
      .string()
      .regex(/^[0-9A-Za-z]{1,4}$/, 'malformed')
      .optional()
      .openapi({
        description: 'The end of the account number, which is the part that is shown.',
        example: '6789',
      }),
  }),
);
