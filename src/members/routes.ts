import { createMember, listOwnMembers, removeMember } from './members.js';
import { grantRole, removeRole } from './roles.js';
import { createToken, listOwnTokens, revokeToken } from './tokens.js';
import { notFound } from '../core/errors.js';
import { type Cursors, respondWithPage } from '../http/cursor.js';
import { type Api, pathId, creationResponse } from '../http/route.js';
import {
  createdTokenResource,
  MemberBody,
  MemberPageSchema,
  memberResource,
  MemberSchema,
  OwnPageQuery,
  presentRole,
  RevokeQuery,
  RoleBody,
  RoleSchema,
  TokenBody,
  TokenPageSchema,
  tokenResource,
} from './schemas.js';

type AccessDeps = Parameters<typeof createMember>[0];

/** How a tenant manages its own members, roles and tokens. (docs/contract.md, Own access) */
export function accessRoutes(api: Api, deps: AccessDeps, cursors: Cursors): void {
  memberRoutes(api, deps, cursors);
  roleRoutes(api, deps);
  tokenRoutes(api, deps, cursors);
}

function memberRoutes(api: Api, deps: AccessDeps, cursors: Cursors): void {
  const { database, clock } = deps;
  api.post('/v1/members', {
    operationId: 'createMember',
    permits: 'manageAccess',
    idempotent: 'tenant',
    body: MemberBody,
    responses: { 201: MemberSchema, 200: MemberSchema },
    refusals: ['quota_exceeded'],
    summary: 'Add a member',
    description: 'Without a role or token at first.',
    handler: async ({ caller, body, idempotency }) => {
      const result = await createMember(deps, caller, body.name, idempotency);
      return creationResponse(result, memberResource.present);
    },
  });

  api.get('/v1/members', {
    operationId: 'listMembers',
    permits: 'manageAccess',
    query: OwnPageQuery,
    responses: { 200: MemberPageSchema },
    summary: 'List the members',
    description: 'Newest first.',
    handler: (request) => {
      const reader = database.readerFor(request.caller);
      return respondWithPage(
        cursors,
        request,
        (before, limit) => listOwnMembers(reader, request.caller, before, limit),
        memberResource.present,
      );
    },
  });

  api.delete('/v1/members/{member_id}', {
    operationId: 'deleteMember',
    permits: 'manageAccess',
    responses: { 204: null },
    refusals: ['invalid_state', 'last_owner'],
    summary: 'Remove a member',
    description: 'Revokes all roles and tokens of the member. Another member must remove you.',
    handler: async (request) => {
      const { caller } = request;
      const member = { id: pathId(request, 'member_id'), tenantId: caller.tenantId };
      await removeMember(database, clock, member, caller);
      return { status: 204 };
    },
  });
}

function roleRoutes(api: Api, { database, clock }: AccessDeps): void {
  api.put('/v1/accounts/{account_id}/roles/{member_id}', {
    operationId: 'setRole',
    permits: 'shareAccount',
    body: RoleBody,
    responses: { 200: RoleSchema },
    refusals: ['last_owner'],
    summary: 'Give a member a role in an account',
    description:
      'Replaces any other role there. If the tenant has a delay, a role that permits more than the previous one waits for it. Setting the role in force withdraws a waiting one.',
    handler: async (request) => {
      const { caller, body } = request;
      const accountId = pathId(request, 'account_id');
      const member = { id: pathId(request, 'member_id'), tenantId: caller.tenantId };
      const at = await grantRole(database, clock, member, accountId, body.role, caller);
      return { status: 200, body: presentRole(accountId, member.id, body.role, at) };
    },
  });

  api.delete('/v1/accounts/{account_id}/roles/{member_id}', {
    operationId: 'deleteRole',
    permits: 'shareAccount',
    responses: { 204: null },
    refusals: ['last_owner'],
    summary: 'Take a role away from a member',
    description: 'At once, and with it a role that waits. Without a role, nothing changes.',
    handler: async (request) => {
      const { caller } = request;
      const accountId = pathId(request, 'account_id');
      const member = { id: pathId(request, 'member_id'), tenantId: caller.tenantId };
      await removeRole(database, clock, member, accountId, caller);
      return { status: 204 };
    },
  });
}

function tokenRoutes(api: Api, deps: AccessDeps, cursors: Cursors): void {
  const { database, clock } = deps;
  createTokenRoute(api, deps);
  api.get('/v1/tokens', {
    operationId: 'listTokens',
    permits: 'manageAccess',
    query: OwnPageQuery,
    responses: { 200: TokenPageSchema },
    summary: 'List the tokens',
    description: 'Those that are neither revoked nor expired, newest first, without their secrets.',
    handler: (request) => {
      const reader = database.readerFor(request.caller);
      return respondWithPage(
        cursors,
        request,
        (before, limit) => listOwnTokens(reader, request.caller, clock(), before, limit),
        tokenResource.present,
      );
    },
  });

  api.delete('/v1/tokens/{key_id}', {
    operationId: 'deleteToken',
    permits: 'manageAccess',
    query: RevokeQuery,
    responses: { 204: null },
    summary: 'Revoke a token',
    description:
      'Within 5 seconds, for ever. With `cascade=true` also every token that it created, and those that they created. Revoking it again is not an error.',
    handler: async ({ caller, params, query }) => {
      if (!KEY_ID.test(params.key_id)) throw notFound();
      await revokeToken(database, clock, params.key_id, caller, query.cascade === 'true');
      return { status: 204 };
    },
  });
}

const KEY_ID = /^[a-z2-7]{16}$/;

function createTokenRoute(api: Api, deps: AccessDeps): void {
  api.post('/v1/tokens', {
    operationId: 'createToken',
    permits: 'manageAccess',
    idempotent: 'tenant',
    body: TokenBody,
    responses: { 201: createdTokenResource.schema, 200: createdTokenResource.schema },
    examples: { 200: { ...createdTokenResource.example, token: null } },
    refusals: ['not_found', 'quota_exceeded'],
    summary: 'Create a token',
    description:
      'Only this response shows `token`: a replay has null. If you lose it, revoke the token and create another. The scopes must be among those of your own token. If the tenant has a delay, the token takes effect after it.',
    handler: async ({ caller, body, idempotency }) => {
      const { member_id: memberId, name, scopes } = body;
      const { expires_at: expiresAt = null, address_ranges: cidrs = [] } = body;
      const request = { name: name ?? null, scopes, expiresAt, cidrs };
      const result = await createToken(deps, caller, memberId, request, idempotency);
      return creationResponse(result, ({ token, text }) =>
        createdTokenResource.present({ ...token, text }),
      );
    },
  });
}
