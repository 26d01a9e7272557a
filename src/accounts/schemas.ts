import { toRfc3339 } from '../core/instant.js';
import { DOCUMENT_TYPES } from '../db/entities/identity.js';
import { type Account, ACCOUNT_STATUSES } from '../db/entities/parties.js';
import { EXAMPLE, exampled, exampledAs, z } from '../http/zod.js';
import { defineResource, fieldsOf } from '../http/resource.js';
import {
  countryField,
  instantField,
  instantSchema,
  optional,
  PAGE_QUERY,
  pageSchema,
  textField,
  uuidSchema,
} from '../http/schemas.js';
import { displayName, parseAlias } from './recipients.js';
import { DOCUMENT_NUMBER, MAX_LEGAL_NAME } from './verification.js';

const accountId = uuidSchema.describe('The id of the account.');

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
    'The state: `frozen` receives but cannot send, and `closed` does neither.',
    z.enum(ACCOUNT_STATUSES),
    'active',
    ({ status }) => status,
  ),
  name: field(
    'The name given at opening.',
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

/** The handler checks that exactly one is given, for which there is an error code. */
export const LookupQuery = z.strictObject({
  alias: z
    .string()
    .optional()
    .openapi({ description: 'Begins with $, URL-encoded.', example: '$ana' }),
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
        pattern: '^\\$[A-Za-z0-9][A-Za-z0-9._-]{1,28}[A-Za-z0-9]$',
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
    legal_name: textField({ min: 1, max: MAX_LEGAL_NAME })
      .refine((text) => text.trim() !== '', 'too_short')
      .describe('The name in the document.'),
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
