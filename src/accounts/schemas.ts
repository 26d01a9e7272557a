import { ASSETS } from '../core/amount.js';
import { toRfc3339 } from '../core/instant.js';
import { DOCUMENT_TYPES } from '../db/entities/identity.js';
import { type Account, ACCOUNT_STATUSES } from '../db/entities/parties.js';
import { EXAMPLE, exampled, exampledAs, exampleOf, z } from '../http/zod.js';
import { defineResource, fieldsOf } from '../http/resource.js';
import {
  assetField,
  countryField,
  instantField,
  instantSchema,
  METADATA,
  metadataField,
  nameField,
  optional,
  PAGE_QUERY,
  pageSchema,
  rawSchema,
  uuidSchema,
} from '../http/schemas.js';
import { MAX_ACCOUNT_NAME } from './open-accounts.js';
import { displayName, parseAlias, parsePhone } from './recipients.js';
import { DOCUMENT_NUMBER, MAX_LEGAL_NAME } from './verification.js';

const accountId = uuidSchema.describe('The id of the account.');
const ALIAS_PATTERN = '^\\$[A-Za-z0-9][A-Za-z0-9._-]{1,28}[A-Za-z0-9]$';
const field = fieldsOf<Account>();

export const accountResource = defineResource('Account', 'An account of the tenant.', {
  id: field('The id of the account.', uuidSchema, EXAMPLE.source, ({ id }) => id),
  type: field(
    'Whether a person or a business holds it.',
    z.enum(['person', 'business']),
    'business',
    ({ type }) => {
      if (type === 'system') throw new Error('a system account was about to be shown');
      return type;
    },
  ),
  status: field(
    'The state, which only operators change.\n\n- `active`: receives, and sends once it is verified.\n- `frozen`: receives but cannot send.\n- `closed`: does neither.',
    z.enum(ACCOUNT_STATUSES),
    'active',
    ({ status }) => status,
  ),
  name: field(
    'The name given at opening, which cannot be changed.',
    z.string(),
    'Panadería La Espiga SAS',
    ({ name }) => name,
  ),
  display_name: field(
    'The name that others see.',
    z.string(),
    'Panadería La Espiga',
    ({ type, name }) => displayName(type, name),
  ),
  alias: field(
    'The alias by which others find it; null without one.',
    z.string().nullable(),
    '$laespiga',
    ({ alias }) => alias,
  ),
  phone: field('E.164', z.string().nullable(), '+576013456789', ({ phone }) => phone),
  metadata: METADATA,
  can_send: field(
    'Active and verified.',
    z.boolean(),
    true,
    ({ status, verifiedAt }) => status === 'active' && verifiedAt !== null,
  ),
  verified_at: field(
    'When it was first verified; null until then.',
    instantSchema.nullable(),
    '2026-11-02T09:30:00.000Z',
    ({ verifiedAt }) => toRfc3339(verifiedAt),
  ),
  created_at: field('When it was opened.', instantSchema, '2026-11-01T16:20:45.310Z', (account) =>
    toRfc3339(account.createdAt),
  ),
});
export const AccountSchema = accountResource.schema;
export const AccountPageSchema = pageSchema('AccountPage', AccountSchema);

export const AccountQuery = z.strictObject({
  ...PAGE_QUERY,
  type: z.enum(['person', 'business']).optional().describe('Only accounts of this type.'),
  status: z.enum(ACCOUNT_STATUSES).optional().describe('Only accounts in this status.'),
});

export const OpenAccountBody = exampledAs(
  z
    .strictObject({
      type: z.enum(['person', 'business']).describe('Whether a person or a business holds it.'),
      name: nameField(MAX_ACCOUNT_NAME).describe(
        "A person's full name or a business's trade name. Others see it as `display_name`.",
      ),
      alias: optional(z.string().refine((text) => parseAlias(text) !== null, 'malformed')).openapi({
        description: 'An alias by which others find it; by default none.',
        pattern: ALIAS_PATTERN,
      }),
      phone: optional(z.string().refine((text) => parsePhone(text) !== null, 'malformed')).describe(
        'Any format; Colombian if it names no country. By default none.',
      ),
      metadata: metadataField,
    })
    .openapi('OpenAccount'),
  {
    ...{ type: 'business', name: 'Panadería La Espiga SAS', alias: '$laespiga' },
    ...{ phone: '+57 601 345 6789', metadata: { branch: 'norte' } },
  },
);

/** The handler checks that exactly one is given, for which there is an error code. */
export const LookupQuery = z.strictObject({
  alias: z.string().optional().openapi({
    description: 'The alias of an account of your tenant. Begins with $, URL-encoded.',
    example: '$ana',
  }),
  phone: z.string().optional().describe('Any format; Colombian if it names no country.'),
});
exampled(LookupQuery, { alias: '$ana' });

export const LookupSchema = z
  .object({
    account_id: accountId,
    alias: z.string().nullable().describe('The alias of the account; null without one.'),
    display_name: z
      .string()
      .openapi({ description: 'The name that others see.', example: 'Ana M. P.' }),
    type: z.enum(['person', 'business']).describe('Whether a person or a business holds it.'),
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
      .openapi({
        description: 'The alias, which begins with $.',
        pattern: ALIAS_PATTERN,
      }),
  })
  .openapi('SetAlias');
exampled(AliasBody, { alias: '$laespiga' });

export const AliasSchema = z
  .object({ account_id: accountId, alias: z.string().describe('The alias of the account.') })
  .openapi('Alias');
exampled(AliasSchema, { account_id: EXAMPLE.source, alias: '$laespiga' });

export const VerificationBody = z
  .strictObject({
    type: z.enum(['person', 'business']).describe("The account's own type."),
    legal_name: nameField(MAX_LEGAL_NAME).describe('The name in the document.'),
    document_type: z.enum(DOCUMENT_TYPES).describe('The kind of document.'),
    document_number: z
      .string()
      .regex(DOCUMENT_NUMBER, 'malformed')
      .describe('Stored encrypted; only its last four characters are shown.'),
    country: countryField.describe(
      'The country that issued the document: any, in ISO 3166 alpha-2.',
    ),
    declared_at: optional(instantField()).describe('When it was declared to you; by default now.'),
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
    account_id: accountId,
    status: z.literal('verified').describe('Always `verified`.'),
    can_send: z.boolean().describe('Whether the account may send: it is active and verified.'),
    verified_at: instantSchema.describe('When it was first verified.'),
    document_last4: z.string().describe('The last four characters of the document number.'),
  })
  .openapi('Verification', { description: 'The verification of an account.' });
exampled(VerificationSchema, {
  account_id: EXAMPLE.source,
  status: 'verified',
  can_send: true,
  verified_at: '2026-11-02T09:30:00.000Z',
  document_last4: '4567',
});

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
    as_of: instantSchema.describe(
      "The moment of the account's last change. Every later movement has a later `created_at`.",
    ),
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
