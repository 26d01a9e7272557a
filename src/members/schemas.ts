import { MAX_MEMBER_NAME, type MemberWithPending } from './members.js';
import { MAX_TOKEN_NAME } from './tokens.js';
import { normaliseRange } from '../core/address-ranges.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import { type Role, ROLES, SCOPES } from '../core/permissions.js';
import type { Member, Token } from '../db/entities/parties.js';
import { defineResource, fieldsOf } from '../http/resource.js';
import {
  instantField,
  instantSchema,
  optional,
  PAGE_QUERY,
  pageSchema,
  nameField,
  uuidField,
  uuidSchema,
} from '../http/schemas.js';
import { EXAMPLE, exampled, exampledAs, z } from '../http/zod.js';

/** (docs/contract.md, Own access) */

const CREATOR = 'b7xw2q5mzk3jdtya';

export const MemberBody = exampled(
  z
    .strictObject({
      name: nameField(MAX_MEMBER_NAME).describe('A person or program, unique in the tenant.'),
    })
    .openapi('CreateMember'),
  { name: 'payroll' },
);

const roleField = z.enum(ROLES).describe('What the member may do in the account.');
const effectiveAt = instantSchema
  .nullable()
  .describe("When it takes effect, after the tenant's delay; null if it is in force.");

const memberField = fieldsOf<Member & Partial<MemberWithPending>>();

export const memberResource = defineResource('Member', 'A person or program of the tenant.', {
  id: memberField('The id of the member.', uuidSchema, EXAMPLE.member, ({ id }) => id),
  name: memberField('Unique in the tenant.', z.string(), 'payroll', ({ name }) => name),
  pending_roles: memberField(
    "Roles that wait for the tenant's delay, the earliest first.",
    z.array(
      z.object({
        account_id: uuidSchema.describe('The account.'),
        role: roleField,
        effective_at: instantSchema.describe('When it takes effect.'),
      }),
    ),
    [],
    ({ pending = [] }) =>
      pending.map((one) => ({
        account_id: one.accountId,
        role: one.role,
        effective_at: toRfc3339(one.effectiveAt),
      })),
  ),
  created_at: memberField('When it was added.', instantSchema, EXAMPLE.at, ({ createdAt }) =>
    toRfc3339(createdAt),
  ),
});
export const MemberSchema = memberResource.schema;
export const MemberPageSchema = pageSchema('MemberPage', MemberSchema);

export const OwnPageQuery = z.strictObject(PAGE_QUERY);

export const RoleBody = exampled(z.strictObject({ role: roleField }).openapi('SetRole'), {
  role: 'operator',
});

export const RoleSchema = exampled(
  z
    .object({
      account_id: uuidSchema.describe('The account.'),
      member_id: uuidSchema.describe('The member.'),
      role: roleField,
      effective_at: effectiveAt,
    })
    .openapi('Role', { description: 'The role of a member in an account.' }),
  {
    account_id: EXAMPLE.source,
    member_id: EXAMPLE.member,
    role: 'operator',
    effective_at: null,
  },
);

export function presentRole(accountId: string, memberId: string, role: Role, at: Instant | null) {
  return { account_id: accountId, member_id: memberId, role, effective_at: toRfc3339(at) };
}

const scopesField = z.array(z.enum(SCOPES));

export const TokenBody = exampledAs(
  z
    .strictObject({
      member_id: uuidField.describe('The member that the token acts for.'),
      scopes: scopesField
        .min(1)
        .max(SCOPES.length)
        .describe('What it may be used for: some of the scopes of your own token.'),
      expires_at: optional(instantField()).describe('When it expires; by default never.'),
      address_ranges: optional(
        z.array(z.string().refine((text) => normaliseRange(text) !== null, 'malformed')).max(20),
      ).describe('The only addresses or ranges that may use it; by default any address.'),
      name: optional(nameField(MAX_TOKEN_NAME)).describe('What the token is for.'),
    })
    .openapi('CreateToken'),
  {
    member_id: EXAMPLE.member,
    scopes: ['read', 'transfers'],
    expires_at: '2027-11-01T00:00:00Z',
    address_ranges: ['203.0.113.0/24'],
    name: 'payroll server',
  },
);

const field = fieldsOf<Token>();

const TOKEN_FIELDS = {
  key_id: field(
    'Identifies the token; not secret.',
    z.string(),
    EXAMPLE.keyId,
    ({ keyId }) => keyId,
  ),
  member_id: field(
    'The member it acts for.',
    uuidSchema,
    EXAMPLE.member,
    ({ memberId }) => memberId,
  ),
  name: field(
    'What it is for; null if not given.',
    z.string().nullable(),
    'payroll server',
    ({ name }) => name,
  ),
  scopes: field('What it may be used for.', scopesField, ['read', 'transfers'], ({ scopes }) => [
    ...scopes,
  ]),
  address_ranges: field(
    'The only addresses that may use it; empty for any address.',
    z.array(z.string()),
    ['203.0.113.0/24'],
    ({ cidrs }) => (cidrs === '' ? [] : cidrs.split(',')),
  ),
  created_at: field('When it was created.', instantSchema, EXAMPLE.at, ({ createdAt }) =>
    toRfc3339(createdAt),
  ),
  effective_at: field(
    "When it takes effect, after the tenant's delay; null if it took effect at once.",
    instantSchema.nullable(),
    null,
    (token) => toRfc3339(token.effectiveAt),
  ),
  expires_at: field(
    'When it expires; null if never.',
    instantSchema.nullable(),
    '2027-11-01T00:00:00.000Z',
    ({ expiresAt }) => toRfc3339(expiresAt),
  ),
  last_used_at: field(
    'When it was last used, up to an hour late; null if never.',
    instantSchema.nullable(),
    null,
    ({ lastUsedAt }) => toRfc3339(lastUsedAt),
  ),
  created_by_key: field(
    'The `key_id` of the token that created it; null if operators did.',
    z.string().nullable(),
    CREATOR,
    ({ createdByKey }) => createdByKey,
  ),
};
export const tokenResource = defineResource('Token', 'A live token of a member.', TOKEN_FIELDS);
export const TokenPageSchema = pageSchema('TokenPage', tokenResource.schema);

const withText = fieldsOf<Token & { readonly text: string | null }>();
export const createdTokenResource = defineResource('CreatedToken', 'A token, shown once.', {
  ...TOKEN_FIELDS,
  token: withText(
    'The Bearer text, shown only in this response; null in a replay.',
    z.string().nullable(),
    `svc_live_${EXAMPLE.keyId}_6xk2mzq7w3jd5tya4bcd6xk2mzq7w3jd5tya4bcd`,
    ({ text }) => text,
  ),
});

export const RevokeQuery = z.strictObject({
  cascade: z
    .enum(['true', 'false'])
    .optional()
    .describe('With `true`, also every token that it created, directly or through others.'),
});
