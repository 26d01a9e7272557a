import { ASSETS } from '../core/amount.js';
import { DOCUMENT_TYPES } from '../db/entities/identity.js';
import { MOVEMENT_KINDS, RESOURCE_TYPES } from '../db/entities/ledger.js';
import { ACCOUNT_STATUSES } from '../db/entities/parties.js';
import { EXAMPLE, exampled, exampledAs, exampleOf } from '../http/examples.js';
import {
  AmountSchema,
  assetField,
  countryField,
  CREATED_AT_QUERY,
  instantField,
  instantSchema,
  optional,
  PAGE_QUERY,
  pageSchema,
  rawSchema,
  textField,
  uuidSchema,
} from '../http/schemas.js';
import { z } from '../http/zod.js';
import { parseAlias } from './identifiers.js';
import { DOCUMENT_NUMBER, MAX_LEGAL_NAME } from './verification.js';

const BalancesSchema = z
  .object({
    account_id: uuidSchema,
    balances: z.array(
      z.object({
        asset: assetField,
        available: rawSchema.openapi({ description: 'What can be spent.' }),
        held: rawSchema.openapi({ description: 'Set aside for pending operations.' }),
        total: rawSchema.openapi({ description: 'available + held' }),
      }),
    ),
    as_of: instantSchema,
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

/** (docs/contract.md, Balances) */
export const BalancesQuery = z.strictObject({
  at: instantField().optional().openapi({
    description: 'A moment since the account was opened, at least 15 seconds ago; by default now.',
  }),
});

/** The balances at a past moment, without the held part, which is not recorded. */
const PastBalancesSchema = z
  .object({
    account_id: uuidSchema,
    balances: z.array(
      z.object({
        asset: assetField,
        total: rawSchema.openapi({
          description: 'Of everything posted up to and including `as_of`.',
        }),
      }),
    ),
    as_of: instantSchema,
  })
  .openapi('PastBalances');
exampled(PastBalancesSchema, {
  account_id: EXAMPLE.source,
  balances: ASSETS.map((asset) => ({ asset, total: asset === EXAMPLE.asset ? '50000000' : '0' })),
  as_of: EXAMPLE.at,
});

export const BalancesAnswer = z.union([BalancesSchema, PastBalancesSchema]);
exampledAs(BalancesAnswer, exampleOf(BalancesSchema));

const MovementSchema = z
  .object({
    id: uuidSchema,
    kind: z.enum(MOVEMENT_KINDS),
    amount: AmountSchema,
    total_after: AmountSchema.openapi({
      description: "The account's total in the asset after it: available plus held.",
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
  asset: assetField.optional(),
  kind: z.enum(MOVEMENT_KINDS).optional(),
});

export const AccountSchema = z
  .object({
    id: uuidSchema,
    type: z.enum(['person', 'business']),
    status: z.enum(ACCOUNT_STATUSES),
    name: z.string().openapi({ description: 'The name given at opening.' }),
    display_name: z.string().openapi({ description: 'The name that others see.' }),
    alias: z.string().nullable(),
    phone: z.string().nullable().openapi({ description: 'E.164' }),
    can_send: z.boolean().openapi({ description: 'Active and verified.' }),
    verified_at: instantSchema.nullable(),
    created_at: instantSchema,
  })
  .openapi('Account');
exampled(AccountSchema, {
  id: EXAMPLE.source,
  type: 'business',
  status: 'active',
  name: 'Panadería La Espiga SAS',
  display_name: 'Panadería La Espiga',
  alias: '$laespiga',
  phone: '+576013456789',
  can_send: true,
  verified_at: '2026-11-02T09:30:00.000Z',
  created_at: '2026-11-01T16:20:45.310Z',
});

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
        minimum: rawSchema.openapi({ description: 'For a single operation.' }),
        maximum: rawSchema.openapi({ description: 'For a single operation.' }),
        month: z.object({
          used: rawSchema.openapi({
            description: 'What has left the account or is pending, fees excluded.',
          }),
          limit: rawSchema,
          resets_at: instantSchema.openapi({
            description: "The start of the next month in the tenant's time zone.",
          }),
        }),
      }),
    ),
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

/**
 * The handler checks that exactly one of the two is given, because that fault has an error code of
 * its own.
 */
export const LookupQuery = z.strictObject({
  alias: z
    .string()
    .optional()
    .openapi({ description: 'Begins with $, URL-encoded.', example: '$ana' }),
  phone: z
    .string()
    .optional()
    .openapi({ description: 'Any format; Colombian if it names no country.' }),
});

export const LookupSchema = z
  .object({
    account_id: uuidSchema,
    alias: z.string().nullable(),
    display_name: z.string().openapi({ example: 'Ana M. P.' }),
    type: z.enum(['person', 'business']),
  })
  .openapi('AccountLookup');
exampled(LookupSchema, {
  account_id: EXAMPLE.destination,
  alias: '$ana',
  display_name: 'Ana M. P.',
  type: 'person',
});

export const AliasBody = z
  .strictObject({
    alias: z
      .string()
      .refine((text) => parseAlias(text) !== null, 'malformed')
      .openapi({ pattern: '^\\$[A-Za-z0-9][A-Za-z0-9._-]{1,28}[A-Za-z0-9]$' }),
  })
  .openapi('SetAlias');
exampled(AliasBody, { alias: '$laespiga' });

export const AliasSchema = z.object({ account_id: uuidSchema, alias: z.string() }).openapi('Alias');
exampled(AliasSchema, { account_id: EXAMPLE.source, alias: '$laespiga' });

export const VerificationBody = z
  .strictObject({
    type: z.enum(['person', 'business']).openapi({ description: "The account's own type." }),
    legal_name: textField({ min: 1, max: MAX_LEGAL_NAME }).refine(
      (text) => text.trim() !== '',
      'too_short',
    ),
    document_type: z.enum(DOCUMENT_TYPES),
    document_number: z.string().regex(DOCUMENT_NUMBER, 'malformed'),
    country: countryField,
    declared_at: optional(instantField()),
  })
  .openapi('DeclareVerification');
exampledAs(VerificationBody, {
  type: 'business',
  legal_name: 'Panadería La Espiga SAS',
  document_type: 'NIT',
  document_number: '901234567',
  country: 'CO',
});

export const VerificationSchema = z
  .object({
    account_id: uuidSchema,
    status: z.literal('verified'),
    can_send: z.boolean(),
    verified_at: instantSchema,
    document_last4: z.string(),
  })
  .openapi('Verification');
exampled(VerificationSchema, {
  account_id: EXAMPLE.source,
  status: 'verified',
  can_send: true,
  verified_at: '2026-11-02T09:30:00.000Z',
  document_last4: '4567',
});
