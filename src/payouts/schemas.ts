import { toRfc3339 } from '../core/instant.js';
import {
  BANK_ACCOUNT_TYPES,
  KEY_TYPES,
  type Payout,
  PAYOUT_STATUSES,
  type PayoutStatus,
} from '../db/entities/payouts.js';
import {
  approvableFields,
  APPROVAL,
  rejectBody,
  REJECTION,
  PAYOUT_REJECTIONS,
  rejectionField,
} from '../approvals/schemas.js';
import { EXAMPLE, exampled, z } from '../http/zod.js';
import {
  boundedOfAsset,
  codeSchema,
  countryField,
  instantSchema,
  OPERATION_QUERY,
  optional,
  pageSchema,
  paymentBody,
  SOURCE_ACCOUNT,
  sourceField,
  textField,
  uuidField,
  uuidSchema,
} from '../http/schemas.js';
import { defineResource, fieldsOf } from '../http/resource.js';
import { BANK_ACCOUNT_FORMS, destinationColumns, MAX_HOLDER_NAME, transitionsOf } from './rules.js';
import { PAYOUT_FAILURES, STATUS_MEANING } from './schemas-status.js';

const BANK_CODE = 'The code of the bank in its country.';
const HOLDER_NAME = 'The name of the person or business that holds the account.';

const DESTINATION_TYPE = 'The kind of destination, which decides about the other fields.';

const bankAccount = {
  type: z.literal('bank_account').describe(DESTINATION_TYPE),
  country: countryField.describe(
    'The country of the bank, in ISO 3166 alpha-2. Your operator tells you the countries that a rail reaches; any other gets `400 invalid_field` with the reason `not_supported`.',
  ),
  bank_code: z
    .string()
    .regex(BANK_ACCOUNT_FORMS.bankCode, 'malformed')
    .openapi({
      description: `${BANK_CODE} Your operator has the list; the service checks only the form.`,
      example: '0007',
    }),
  account_type: z.enum(BANK_ACCOUNT_TYPES).describe('The kind of account.'),
};

const bankAccountBody = z.strictObject({
  ...bankAccount,
  account_number: z
    .string()
    .regex(BANK_ACCOUNT_FORMS.accountNumber, 'malformed')
    .describe('Stored encrypted; only its end is shown.'),
  holder_name: textField({ min: 1, max: MAX_HOLDER_NAME })
    .refine((text) => text.trim() !== '', 'too_short')
    .describe(HOLDER_NAME),
  holder_document: z
    .string()
    .regex(BANK_ACCOUNT_FORMS.holderDocument, 'malformed')
    .describe('Stored encrypted; never shown again.'),
});

const KEY_TYPE = z.literal('bre_b_key').describe(DESTINATION_TYPE);
/** No rail's format is wider. The rail's own formats are checked when the rail is known. */
const KEY_TEXT = /^[!-~]{5,100}$/;

const keyBody = z.strictObject({
  type: KEY_TYPE,
  key: z.string().regex(KEY_TEXT, 'malformed').openapi({
    description:
      'A document, phone, e-mail address, alias that begins with `@`, or merchant code. Stored encrypted; only its end is shown.',
    example: '3001112233',
  }),
  holder_check: optional(z.string().min(1).max(1_024)).openapi({
    description:
      'From `GET /v1/payout_recipients`: the payout fails with `recipient_changed` if the key belongs to somebody else by then.',
  }),
});

/** (docs/contract.md, Payouts) */
export const CreatePayoutBody = z
  .strictObject({
    source_account: sourceField,
    destination: z
      .discriminatedUnion('type', [bankAccountBody, keyBody])
      .describe('The bank account, or the Bre-B key, that receives the amount.'),
    ...paymentBody(
      'recipient',
      'A text that goes to the rail with the payment. Whether the recipient sees it depends on the rail.',
    ),
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
  metadata: EXAMPLE.metadata,
});

const shownBankAccount = z.object({
  ...bankAccount,
  country: z.string().describe('The country of the bank, in ISO 3166 alpha-2.'),
  bank_code: z.string().describe(BANK_CODE),
  account_number: z.string().openapi({
    description: 'Masked: at most its last four characters, and never more than half of it.',
    example: '****6789',
  }),
  holder_name: z.string().describe(HOLDER_NAME),
});

const keyTypeField = z.enum(KEY_TYPES).describe('The kind of key.');
const shownKey = z.object({
  type: KEY_TYPE,
  key: z
    .string()
    .openapi({ description: 'Masked: its last four characters.', example: '****2233' }),
  key_type: keyTypeField,
});

const shownDestination = z.discriminatedUnion('type', [shownBankAccount, shownKey]);

function presentDestination(payout: Payout): z.output<typeof shownDestination> {
  const to = destinationColumns(payout);
  if ('keyType' in to) return { type: 'bre_b_key', key: `****${to.keyEnd}`, key_type: to.keyType };
  return {
    type: 'bank_account',
    country: to.country,
    bank_code: to.bankCode,
    account_type: to.accountType,
    account_number: `****${to.accountEnd}`,
    holder_name: to.holderName,
  };
}

export const RecipientQuery = z.strictObject({
  key: z
    .string()
    .optional()
    .openapi({ description: 'The key, URL-encoded. Required.', example: '3001112233' }),
});
exampled(RecipientQuery, { key: '3001112233' });

export function isKeyText(text: string): boolean {
  return KEY_TEXT.test(text);
}

/** Returns no full name: the tenant must only recognise whom it pays. */
export const RecipientSchema = z
  .object({
    key_type: keyTypeField,
    holder_name: z
      .string()
      .describe('The masked name of the person or business that holds the key.'),
    bank_code: z.string().describe(BANK_CODE),
    account_type: bankAccount.account_type,
    holder_check: z
      .string()
      .describe('For `destination.holder_check` of a payout to this key, within an hour.'),
  })
  .openapi('PayoutRecipient');
exampled(RecipientSchema, {
  key_type: 'phone',
  holder_name: 'Ana M*** P***',
  bank_code: '0007',
  account_type: 'savings',
  holder_check: 'BGsxOmFi',
});

const field = fieldsOf<Payout>();

/** Shows only the end of the account number. (docs/contract.md, Payouts) */
export const payoutResource = defineResource(
  'Payout',
  'An amount that leaves the service for a bank account or a Bre-B key, through a rail.',
  {
    id: field('The id of the payout.', uuidSchema, EXAMPLE.id, ({ id }) => id, { ops: true }),
    scope: field(
      'Always `external`: the money leaves the service.',
      z.literal('external'),
      'external',
      () => 'external' as const,
    ),
    status: field(STATUS_MEANING, z.enum(PAYOUT_STATUSES), 'approved', ({ status }) => status, {
      ops: true,
    }),
    source_account: SOURCE_ACCOUNT,
    destination: field(
      'The bank account, or the Bre-B key, that receives the amount.',
      shownDestination,
      {
        type: 'bank_account',
        country: 'CO',
        bank_code: '0007',
        account_type: 'savings',
        account_number: '****6789',
        holder_name: 'Ana María Pérez',
      },
      presentDestination,
    ),
    batch: field(
      'The batch and row of the file that the payout comes from; null for a single payout.',
      z
        .object({
          id: uuidSchema.describe('The id of the payout batch.'),
          row: z.int().describe('The row of its file.'),
        })
        .nullable(),
      null,
      ({ batchId: id, batchRow: row }) => (id === null || row === null ? null : { id, row }),
    ),
    reference: field(
      'Your own reference, from the row of the file; null for a single payout.',
      z.string().nullable(),
      null,
      ({ reference }) => reference,
    ),
    ...approvableFields('Invoice 2041'),
    rejection: rejectionField(
      'Why it is `rejected`: a person rejected it, or a rule refused its last approval.',
      PAYOUT_REJECTIONS,
    ),
    failure: field(
      'Why it failed or was returned, or was not approved in time.',
      z
        .object({
          code: codeSchema(PAYOUT_FAILURES),
          message: z.string().describe('The cause, for people.'),
        })
        .nullable(),
      null,
      ({ failureCode: code, failureMessage: message }) =>
        code === null ? null : { code, message: message ?? '' },
    ),
    rail_reference: field(
      "The rail's own reference, once the rail has taken it.",
      z.string().nullable(),
      null,
      ({ railReference }) => railReference,
      { ops: true },
    ),
    status_transitions: field(
      'Every status it has had, oldest first; the last is the current one.',
      z.array(
        z.object({
          status: z.enum(PAYOUT_STATUSES).describe('The state.'),
          at: instantSchema.describe('When it began.'),
        }),
      ),
      [{ status: 'approved', at: EXAMPLE.at }],
      (payout) => transitionsOf(payout).map(({ status, at }) => ({ status, at: toRfc3339(at) })),
    ),
  },
);
export const PayoutSchema = payoutResource.schema;
const APPROVED = payoutResource.example;

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
  toKey: example(['approved'], {
    destination: { type: 'bre_b_key', key: '****2233', key_type: 'phone' },
  }),
  returned: example(['approved', 'in_progress', 'completed', 'returned'], RETURNED),
};

export const RejectPayoutBody = rejectBody('RejectPayout');

export const PayoutPageSchema = pageSchema('PayoutPage', PayoutSchema);

export const PayoutQuery = boundedOfAsset(
  z.strictObject({
    ...OPERATION_QUERY,
    status: z.enum(PAYOUT_STATUSES).optional().describe('Only payouts in this state.'),
    batch: uuidField.optional().describe('Created by the payout batch with this id.'),
    bank_code: bankAccount.bank_code.optional().describe('Paid to the bank with this code.'),
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
