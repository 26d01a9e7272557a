import assert from 'node:assert/strict';
import { type Operation, type Role, ROLES, type Scope } from '../../src/core/permissions.js';
import type { Account } from '../../src/db/entities/parties.js';
import type { RequestOptions, TestApi } from '../support/api.js';
import { paidBatch } from '../batches/support.js';
import { answered, type Bank, type Json, LEAST, list, object, text, transferBody } from '../support/bank.js';

/** What a request names: all of one tenant. */
export interface Target {
  readonly account: Pick<Account, 'id'>;
  /** Where a transfer goes. */
  readonly other: Pick<Account, 'id'>;
  readonly transferId: string;
  readonly bonusId: string;
  /** A batch of `account` that is completed. */
  readonly batchId: string;
  readonly eventId: string;
  /** Of `account`. */
  readonly alias: string;
}

/** An endpoint as decisions.md has it (Tenants, tokens, members, roles, scopes): written out, so that a changed right is seen. */
export interface Endpoint {
  /** As in the OpenAPI document. */
  readonly route: string;
  readonly operation: Operation;
  /** Any of these. */
  readonly scopes: readonly Scope[];
  /** In `Target.account`; null where no role is asked for. */
  readonly roles: readonly Role[] | null;
  /** What it answers to who may. It may be asked again and again. */
  readonly status: number;
  /** The error's code, where it is one: what cannot be done twice is refused after every right was looked at. */
  readonly code?: string;
  /** A collection shows nothing to a member without a role, where a single thing is 403. */
  readonly isList?: true;
  readonly ask: (target: Target) => { readonly path: string } & Pick<RequestOptions, 'body'>;
}

const EVERY = ROLES;
const MANAGERS = ['admin', 'owner'] as const;

function read(path: string, ask: (target: Target) => string): Pick<Endpoint, 'route' | 'status' | 'ask'> {
  return { route: `GET ${path}`, status: 200, ask: (target) => ({ path: ask(target) }) };
}

const ofAccount = { operation: 'readAccount', scopes: ['read'], roles: EVERY } as const;
const ofTransfers = { operation: 'readTransfers', scopes: ['read', 'transfers'], roles: EVERY } as const;
const ofBonuses = { operation: 'readBonuses', scopes: ['read', 'bonuses'], roles: EVERY } as const;
const ofBatches = { operation: 'readBatches', scopes: ['read', 'bonuses'], roles: EVERY } as const;
const ofEvents = { operation: 'readEvents', scopes: ['read', 'webhooks'], roles: null } as const;
const ofManagers = { operation: 'manageAccount', scopes: ['transfers'], roles: MANAGERS } as const;

export const VERIFICATION = {
  type: 'business',
  legal_name: 'Of a test',
  document_type: 'NIT',
  document_number: '900123456',
  country: 'CO',
} as const;

/** Every endpoint that there is. */
export const ENDPOINTS: readonly Endpoint[] = [
  { ...read('/v1/accounts', () => '/v1/accounts'), ...ofAccount, isList: true },
  { ...read('/v1/accounts/{account_id}', ({ account }) => `/v1/accounts/${account.id}`), ...ofAccount },
  {
    ...read('/v1/accounts/{account_id}/balances', ({ account }) => `/v1/accounts/${account.id}/balances`),
    ...ofAccount,
  },
  {
    ...read('/v1/accounts/{account_id}/movements', ({ account }) => `/v1/accounts/${account.id}/movements`),
    ...ofAccount,
  },
  {
    ...read('/v1/accounts/{account_id}/limits', ({ account }) => `/v1/accounts/${account.id}/limits`),
    operation: 'readLimits',
    scopes: ['read', 'transfers'],
    roles: EVERY,
  },
  {
    ...read('/v1/accounts/lookup', ({ alias }) => `/v1/accounts/lookup?alias=${encodeURIComponent(alias)}`),
    operation: 'lookUp',
    scopes: ['lookup'],
    roles: null,
  },
  {
    route: 'PUT /v1/accounts/{account_id}/alias',
    status: 200,
    ask: ({ account, alias }) => ({ path: `/v1/accounts/${account.id}/alias`, body: { alias } }),
    ...ofManagers,
  },
  {
    route: 'DELETE /v1/accounts/{account_id}/alias',
    status: 204,
    // Of another account, so that the alias stays where it is.
    ask: ({ other }) => ({ path: `/v1/accounts/${other.id}/alias` }),
    ...ofManagers,
  },
  {
    route: 'PUT /v1/accounts/{account_id}/verification',
    status: 200,
    ask: ({ account }) => ({ path: `/v1/accounts/${account.id}/verification`, body: VERIFICATION }),
    ...ofManagers,
  },
  {
    route: 'POST /v1/transfers',
    operation: 'createTransfer',
    scopes: ['transfers'],
    roles: ['operator', 'admin', 'owner'],
    status: 201,
    ask: ({ account, other }) => ({
      path: '/v1/transfers',
      body: transferBody({ from: account, to: other, raw: LEAST }),
    }),
  },
  { ...read('/v1/transfers', () => '/v1/transfers'), ...ofTransfers, isList: true },
  { ...read('/v1/transfers/{id}', ({ transferId }) => `/v1/transfers/${transferId}`), ...ofTransfers },
  {
    route: 'POST /v1/bonuses',
    operation: 'createBonus',
    scopes: ['bonuses'],
    roles: ['operator', 'admin', 'owner'],
    status: 201,
    ask: ({ account, other }) => ({
      path: '/v1/bonuses',
      body: {
        source_account: account.id,
        recipient: { account_id: other.id },
        amount: { raw: LEAST.toString(), asset: 'COPM' },
      },
    }),
  },
  { ...read('/v1/bonuses', () => '/v1/bonuses'), ...ofBonuses, isList: true },
  { ...read('/v1/bonuses/{id}', ({ bonusId }) => `/v1/bonuses/${bonusId}`), ...ofBonuses },
  { ...read('/v1/bonus_batches', () => '/v1/bonus_batches'), ...ofBatches, isList: true },
  { ...read('/v1/bonus_batches/{batch_id}', ({ batchId }) => `/v1/bonus_batches/${batchId}`), ...ofBatches },
  { ...read('/v1/bonus_batches/{batch_id}/rows', ({ batchId }) => `/v1/bonus_batches/${batchId}/rows`), ...ofBatches },
  {
    route: 'POST /v1/bonus_batches/{batch_id}/execute',
    operation: 'executeBatch',
    scopes: ['bonuses'],
    roles: ['approver', 'admin', 'owner'],
    status: 409,
    code: 'invalid_state',
    ask: ({ batchId }) => ({ path: `/v1/bonus_batches/${batchId}/execute` }),
  },
  { ...read('/v1/events', () => '/v1/events'), ...ofEvents },
  { ...read('/v1/events/{id}', ({ eventId }) => `/v1/events/${eventId}`), ...ofEvents },
];

export function methodOf({ route }: Pick<Endpoint, 'route'>): string {
  return route.split(' ')[0]!;
}

/** A tenant's accounts with money, an alias, a transfer, a bonus that a batch paid, and an event. */
export async function makeTarget(bank: Bank, wanted: Parameters<Bank['account']>[0] = {}): Promise<Target> {
  const alias = `$a${bank.tenant.tenant.id.slice(-12)}`;
  const account = await bank.account({ alias, funds: { COPM: 1_000n * LEAST }, ...wanted });
  const other = await bank.account(wanted.roles === undefined ? {} : { roles: wanted.roles });
  const transfer = await bank.sent({ from: account, to: other, raw: LEAST });
  const batchId = (await paidBatch(bank, account, other)).id;
  const bonus = list((await bank.get('/v1/bonuses?limit=1')).json.items)[0];
  const [event] = list((await bank.get('/v1/events?limit=1')).json.items);
  return {
    account,
    other,
    transferId: text(transfer.id),
    bonusId: text(bonus?.id),
    batchId,
    eventId: text(event?.id),
    alias,
  };
}

/** The operations of the service's own OpenAPI document: `GET /v1/transfers`, with the scopes that it tells. */
export async function documentedRoutes(api: TestApi): Promise<Map<string, readonly string[]>> {
  const { json } = answered(await api.request('GET', '/openapi.json'), 200);
  const routes = new Map<string, readonly string[]>();
  for (const [path, methods] of Object.entries(object(json.paths)))
    for (const [method, described] of Object.entries(object(methods)))
      if (path.startsWith('/v1/'))
        routes.set(
          `${method.toUpperCase()} ${path}`,
          list(object(described).security).flatMap((one) => scopesOf(one)),
        );
  return routes;
}

function scopesOf({ token }: Json): string[] {
  assert(Array.isArray(token));
  return token.map(text);
}
