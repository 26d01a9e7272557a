import { isCountry } from '../core/countries.js';
import { DOCUMENT_TYPES } from '../db/entities/identity.js';
import { MOVEMENT_KINDS, RESOURCE_TYPES } from '../db/entities/ledger.js';
import { ACCOUNT_STATUSES } from '../db/entities/parties.js';
import {
  AmountSchema,
  assetField,
  CREATED_AT_QUERY,
  instantField,
  instantSchema,
  optional,
  PAGE_QUERY,
  pageSchema,
  textField,
  uuidSchema,
} from '../http/schemas.js';
import { z } from '../http/zod.js';
import { DOCUMENT_NUMBER, MAX_LEGAL_NAME } from './verification.js';

const raw = z.string().openapi({ pattern: '^-?(0|[1-9][0-9]{0,18})$' });

const BalancesSchema = z
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

/** (docs/contract.md, Balances) */
export const BalancesQuery = z.strictObject({
  at: instantField()
    .optional()
    .openapi({ description: 'A moment from the opening of the account on, at least 15 seconds ago; left out: now.' }),
});

/** Of a past moment: what was held then is not kept. */
const PastBalancesSchema = z
  .object({
    account_id: uuidSchema,
    balances: z.array(
      z.object({
        asset: assetField,
        total: raw.openapi({ description: 'Of all that was posted up to and at `as_of`.' }),
      }),
    ),
    as_of: instantSchema,
  })
  .openapi('PastBalances');

export const BalancesAnswer = z.union([BalancesSchema, PastBalancesSchema]);

export const MovementSchema = z
  .object({
    id: uuidSchema,
    kind: z.enum(MOVEMENT_KINDS),
    amount: AmountSchema,
    total_after: AmountSchema.openapi({
      description: "The account's total of the asset after it: available and held.",
    }),
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

export const AccountSchema = z
  .object({
    id: uuidSchema,
    type: z.enum(['person', 'business']),
    status: z.enum(ACCOUNT_STATUSES),
    name: z.string().openapi({ description: 'The name given at opening.' }),
    display_name: z.string().openapi({ description: 'What others see of it.' }),
    alias: z.string().nullable(),
    phone: z.string().nullable().openapi({ description: 'E.164' }),
    can_send: z.boolean().openapi({ description: 'Active and verified.' }),
    verified_at: instantSchema.nullable(),
    created_at: instantSchema,
  })
  .openapi('Account');

export const AccountPageSchema = pageSchema('AccountPage', AccountSchema);

export const AccountQuery = z.strictObject({
  ...PAGE_QUERY,
  type: z.enum(['person', 'business']).optional(),
  status: z.enum(ACCOUNT_STATUSES).optional(),
});

export const LimitsSchema = z
  .object({
    account_id: uuidSchema,
    limits: z.array(
      z.object({
        asset: assetField,
        minimum: raw.openapi({ description: 'Of one operation.' }),
        maximum: raw.openapi({ description: 'Of one operation.' }),
        month: z.object({
          used: raw.openapi({ description: 'What has left the account or is pending, fees not counted.' }),
          limit: raw,
          resets_at: instantSchema.openapi({ description: "The start of the next month in the tenant's time zone." }),
        }),
      }),
    ),
  })
  .openapi('Limits');

/** Exactly one of the two is the handler's to check: it has a code of its own. */
export const LookupQuery = z.strictObject({
  alias: z.string().optional().openapi({ description: 'Begins with $, URL-encoded.', example: '$ana' }),
  phone: z.string().optional().openapi({ description: 'Any format; Colombian when it names no country.' }),
});

export const LookupSchema = z
  .object({
    account_id: uuidSchema,
    alias: z.string().nullable(),
    display_name: z.string().openapi({ example: 'Ana M. P.' }),
    type: z.enum(['person', 'business']),
  })
  .openapi('AccountLookup');

export const AliasBody = z.strictObject({ alias: z.string() }).openapi('SetAlias');

export const AliasSchema = z.object({ account_id: uuidSchema, alias: z.string() }).openapi('Alias');

export const VerificationBody = z
  .strictObject({
    type: z.enum(['person', 'business']).openapi({ description: "The account's own type." }),
    legal_name: textField({ min: 1, max: MAX_LEGAL_NAME }).refine((text) => text.trim() !== '', 'too_short'),
    document_type: z.enum(DOCUMENT_TYPES),
    document_number: z.string().regex(DOCUMENT_NUMBER, 'malformed'),
    country: z.string().refine(isCountry, 'not_a_country').openapi({ description: 'ISO 3166 alpha-2', example: 'CO' }),
    declared_at: optional(instantField()),
  })
  .openapi('DeclareVerification');

export const VerificationSchema = z
  .object({
    account_id: uuidSchema,
    status: z.literal('verified'),
    can_send: z.boolean(),
    verified_at: instantSchema,
    document_last4: z.string(),
  })
  .openapi('Verification');
