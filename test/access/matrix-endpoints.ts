import assert from 'node:assert/strict';
import { addMember } from '../../src/access/members.js';
import { systemClock } from '../../src/core/instant.js';
import {
  type Operation,
  type Role,
  ROLES,
  type Scope,
  SCOPES,
} from '../../src/core/permissions.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import { generatedFilePieces } from '../../src/db/entities/generated-files.js';
import { statements } from '../../src/db/entities/statements.js';
import { insertSql } from '../../src/db/statements.js';
import type { RequestOptions, TestApi } from '../support/api.js';
import { formOf, paidBatch, readyBatch, rejectedBatch } from '../batches/support.js';
import { payoutBody } from '../payouts/support.js';
import {
  answered,
  type Bank,
  type Json,
  LEAST,
  list,
  object,
  text,
  transferBody,
} from '../support/bank.js';
import { TEST_ACTOR } from '../support/world.js';

/** What a request names: all of one tenant. */
export interface Target {
  readonly account: Pick<Account, 'id'>;
  /** Where a transfer goes. */
  readonly other: Pick<Account, 'id'>;
  readonly transferId: string;
  /** A transfer of `account` that waits for approval, and that nobody who is asked for here created. */
  readonly pendingId: string;
  readonly bonusId: string;
  /** A batch of `account` that is completed, and one that was rejected. */
  readonly batchId: string;
  /** A payout of `account` that was canceled. */
  readonly payoutId: string;
  readonly rejectedBatchId: string;
  /** A batch of `account` that is ready, and that nobody who is asked for here uploaded. */
  readonly readyBatchId: string;
  readonly eventId: string;
  /** Of `account`. */
  readonly alias: string;
  /** Makes what an endpoint uses up, for its next request; nothing where the target is not there. */
  readonly renew?: (what: NonNullable<Endpoint['usesUp']>) => Promise<Partial<Target>>;
  readonly webhookId: string;
  /** One that may be deleted. */
  readonly spareWebhookId: string;
  /** Of `account`, with its files. */
  readonly statementId: string;
  /** Of a request by somebody who is not asked for here. */
  readonly requestId: string;
}

/** An endpoint as docs/contract.md has it (Roles and scopes): written out, so that a changed right is seen. */
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
  /** What a request that is answered so takes away: `renewed` makes another. */
  readonly usesUp?: 'pending transfer' | 'policy' | 'ready batch';
  /** It names nothing that could be another tenant's. */
  readonly namesNothing?: true;
  readonly ask: (
    target: Target,
  ) => { readonly path: string } & Pick<RequestOptions, 'body' | 'form'>;
}

const EVERY = ROLES;
const MANAGERS = ['admin', 'owner'] as const;

function read(
  path: string,
  ask: (target: Target) => string,
): Pick<Endpoint, 'route' | 'status' | 'ask'> {
  return { route: `GET ${path}`, status: 200, ask: (target) => ({ path: ask(target) }) };
}

const ofAccount = { operation: 'readAccount', scopes: ['read'], roles: EVERY } as const;
const ofTransfers = {
  operation: 'readTransfers',
  scopes: ['read', 'transfers'],
  roles: EVERY,
} as const;
const ofBonuses = { operation: 'readBonuses', scopes: ['read', 'bonuses'], roles: EVERY } as const;
const ofBatches = { operation: 'readBatches', scopes: ['read', 'bonuses'], roles: EVERY } as const;
const ofPayouts = { operation: 'readPayouts', scopes: ['read', 'payouts'], roles: EVERY } as const;
const ofEvents = { operation: 'readEvents', scopes: ['read', 'webhooks'], roles: null } as const;
const ofLimits = { operation: 'readLimits', scopes: ['read', 'transfers'], roles: EVERY } as const;
const ofManagers = { operation: 'manageAccount', scopes: ['transfers'], roles: MANAGERS } as const;

const ofApprovers = {
  operation: 'approveTransfer',
  scopes: ['transfers'],
  roles: ['approver', 'admin', 'owner'],
} as const;

const POLICY_PATH = '/v1/accounts/{account_id}/approval_policies/{asset}';
/** In DUSD, so that transfers of COPM go through at once. */
const POLICY = { threshold: '0', approvals: 1 } as const;
const ofWebhooks = { operation: 'manageWebhooks', scopes: ['webhooks'], roles: MANAGERS } as const;

const WEBHOOK = { url: 'https://example.com/hook', events: ['transfer.completed'] } as const;

function webhook(
  method: string,
  path: string,
  status: number,
  body?: unknown,
): Pick<Endpoint, 'route' | 'status' | 'ask'> {
  return {
    route: `${method} /v1/webhook_endpoints/{id}${path}`,
    status,
    ask: ({ webhookId }) => ({ path: `/v1/webhook_endpoints/${webhookId}${path}`, body }),
  };
}

/** Nobody validates it here. */
const PAYROLL = Buffer.from('recipient,amount,asset\n');

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
  {
    ...read('/v1/accounts/{account_id}', ({ account }) => `/v1/accounts/${account.id}`),
    ...ofAccount,
  },
  {
    ...read(
      '/v1/accounts/{account_id}/balances',
      ({ account }) => `/v1/accounts/${account.id}/balances`,
    ),
    ...ofAccount,
  },
  {
    ...read(
      '/v1/accounts/{account_id}/movements',
      ({ account }) => `/v1/accounts/${account.id}/movements`,
    ),
    ...ofAccount,
  },
  {
    ...read(
      '/v1/accounts/{account_id}/limits',
      ({ account }) => `/v1/accounts/${account.id}/limits`,
    ),
    ...ofLimits,
  },
  {
    ...read(POLICY_PATH, ({ account }) => `/v1/accounts/${account.id}/approval_policies/DUSD`),
    ...ofLimits,
  },
  {
    route: `PUT ${POLICY_PATH}`,
    status: 200,
    ask: ({ account }) => ({
      path: `/v1/accounts/${account.id}/approval_policies/DUSD`,
      body: POLICY,
    }),
    ...ofManagers,
  },
  {
    route: `DELETE ${POLICY_PATH}`,
    status: 204,
    usesUp: 'policy',
    // Of another account, so that the policy of `account` stays.
    ask: ({ other }) => ({ path: `/v1/accounts/${other.id}/approval_policies/DUSD` }),
    ...ofManagers,
  },
  {
    ...read(
      '/v1/accounts/lookup',
      ({ alias }) => `/v1/accounts/lookup?alias=${encodeURIComponent(alias)}`,
    ),
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
  {
    ...read('/v1/transfers/{id}', ({ transferId }) => `/v1/transfers/${transferId}`),
    ...ofTransfers,
  },
  {
    route: 'POST /v1/transfers/{id}/approve',
    usesUp: 'pending transfer',
    status: 200,
    ask: ({ pendingId }) => ({ path: `/v1/transfers/${pendingId}/approve` }),
    ...ofApprovers,
  },
  {
    route: 'POST /v1/transfers/{id}/reject',
    usesUp: 'pending transfer',
    status: 200,
    ask: ({ pendingId }) => ({
      path: `/v1/transfers/${pendingId}/reject`,
      body: { reason: 'not agreed' },
    }),
    ...ofApprovers,
  },
  {
    route: 'POST /v1/transfers/{id}/cancel',
    usesUp: 'pending transfer',
    operation: 'cancelTransfer',
    scopes: ['transfers'],
    // And the creator, who is asked for in the tests of approvals.
    roles: MANAGERS,
    status: 200,
    ask: ({ pendingId }) => ({ path: `/v1/transfers/${pendingId}/cancel` }),
  },
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
  {
    ...read('/v1/bonus_batches/{batch_id}', ({ batchId }) => `/v1/bonus_batches/${batchId}`),
    ...ofBatches,
  },
  {
    ...read(
      '/v1/bonus_batches/{batch_id}/rows',
      ({ batchId }) => `/v1/bonus_batches/${batchId}/rows`,
    ),
    ...ofBatches,
  },
  {
    route: 'POST /v1/bonus_batches',
    operation: 'createBonus',
    scopes: ['bonuses'],
    roles: ['operator', 'admin', 'owner'],
    status: 201,
    ask: ({ account }) => ({
      path: '/v1/bonus_batches',
      form: formOf(PAYROLL, { source_account: account.id }),
    }),
  },
  {
    ...read('/v1/bonus_batches/template', () => '/v1/bonus_batches/template'),
    operation: 'readTemplate',
    scopes: ['read', 'bonuses'],
    roles: null,
  },
  {
    ...read(
      '/v1/bonus_batches/{batch_id}/files/errors',
      ({ rejectedBatchId: id }) => `/v1/bonus_batches/${id}/files/errors`,
    ),
    ...ofBatches,
  },
  {
    ...read(
      '/v1/bonus_batches/{batch_id}/files/result',
      ({ batchId: id }) => `/v1/bonus_batches/${id}/files/result`,
    ),
    ...ofBatches,
  },
  {
    route: 'POST /v1/bonus_batches/{batch_id}/execute',
    operation: 'executeBatch',
    scopes: ['bonuses'],
    roles: ['approver', 'admin', 'owner'],
    status: 409,
    code: 'invalid_state',
    ask: ({ batchId }) => ({ path: `/v1/bonus_batches/${batchId}/execute` }),
  },
  {
    route: 'POST /v1/bonus_batches/{batch_id}/cancel',
    usesUp: 'ready batch',
    operation: 'withdrawBatch',
    scopes: ['bonuses'],
    // And the uploader, who is asked for in the tests of withdrawals.
    roles: MANAGERS,
    status: 200,
    ask: ({ readyBatchId }) => ({ path: `/v1/bonus_batches/${readyBatchId}/cancel` }),
  },
  {
    route: 'POST /v1/payouts',
    operation: 'createPayout',
    scopes: ['payouts'],
    roles: ['operator', 'admin', 'owner'],
    status: 201,
    ask: ({ account }) => ({ path: '/v1/payouts', body: payoutBody({ from: account }) }),
  },
  { ...read('/v1/payouts', () => '/v1/payouts'), ...ofPayouts, isList: true },
  { ...read('/v1/payouts/{id}', ({ payoutId }) => `/v1/payouts/${payoutId}`), ...ofPayouts },
  ...(['approve', 'reject'] as const).map((action): Endpoint => ({
    route: `POST /v1/payouts/{id}/${action}`,
    operation: 'approvePayout',
    scopes: ['payouts'],
    roles: ['approver', 'admin', 'owner'],
    status: 409,
    code: 'invalid_state',
    ask: ({ payoutId }) => ({
      path: `/v1/payouts/${payoutId}/${action}`,
      ...(action === 'reject' ? { body: { reason: 'no' } } : {}),
    }),
  })),
  {
    route: 'POST /v1/payouts/{id}/cancel',
    operation: 'cancelPayout',
    scopes: ['payouts'],
    roles: MANAGERS,
    status: 409,
    code: 'invalid_state',
    ask: ({ payoutId }) => ({ path: `/v1/payouts/${payoutId}/cancel` }),
  },
  {
    route: 'POST /v1/statements',
    // Nobody's account is old enough; that is said to those who may know of it.
    status: 400,
    code: 'invalid_field',
    ask: ({ account }) => ({
      path: '/v1/statements',
      body: {
        account_id: account.id,
        asset: 'COPM',
        from: '2020-01-01T00:00:00Z',
        to: '2020-02-01T00:00:00Z',
      },
    }),
    ...ofAccount,
  },
  { ...read('/v1/statements', () => '/v1/statements'), ...ofAccount, isList: true },
  {
    ...read('/v1/statements/{statement_id}', ({ statementId }) => `/v1/statements/${statementId}`),
    ...ofAccount,
  },
  {
    ...read(
      '/v1/statements/{statement_id}/file',
      ({ statementId }) => `/v1/statements/${statementId}/file`,
    ),
    ...ofAccount,
  },
  {
    ...read('/v1/requests/{request_id}', ({ requestId }) => `/v1/requests/${requestId}`),
    operation: 'readRequests',
    scopes: SCOPES,
    roles: null,
    // Of the own member alone, which the tests of requests ask for.
    status: 404,
    code: 'not_found',
  },
  { ...read('/v1/events', () => '/v1/events'), ...ofEvents },
  { ...read('/v1/events/{id}', ({ eventId }) => `/v1/events/${eventId}`), ...ofEvents },
  {
    route: 'POST /v1/events/{id}/redeliver',
    status: 200,
    ask: ({ eventId }) => ({ path: `/v1/events/${eventId}/redeliver` }),
    ...ofWebhooks,
  },
  {
    route: 'POST /v1/webhook_endpoints',
    status: 201,
    ask: () => ({ path: '/v1/webhook_endpoints', body: WEBHOOK }),
    namesNothing: true,
    ...ofWebhooks,
  },
  { ...read('/v1/webhook_endpoints', () => '/v1/webhook_endpoints'), ...ofWebhooks },
  { ...webhook('GET', '', 200), ...ofWebhooks },
  { ...webhook('PATCH', '', 200, WEBHOOK), ...ofWebhooks },
  { ...webhook('POST', '/rotate_secret', 200), ...ofWebhooks },
  { ...webhook('POST', '/test', 202), ...ofWebhooks },
  { ...webhook('GET', '/deliveries', 200), ...ofWebhooks },
  {
    route: 'POST /v1/webhook_endpoints/{id}/recover',
    status: 202,
    ask: ({ webhookId }) => ({
      path: `/v1/webhook_endpoints/${webhookId}/recover`,
      // A little ago by any clock of a test.
      body: { since: new Date(Date.now() - 1_000).toISOString() },
    }),
    ...ofWebhooks,
  },
  {
    route: 'DELETE /v1/webhook_endpoints/{id}',
    status: 204,
    ask: ({ spareWebhookId }) => ({ path: `/v1/webhook_endpoints/${spareWebhookId}` }),
    ...ofWebhooks,
  },
];

export function methodOf({ route }: Pick<Endpoint, 'route'>): string {
  return route.split(' ')[0]!;
}

/** A tenant's accounts with all that an endpoint may name: each made as the service makes it. */
export async function makeTarget(
  bank: Bank,
  wanted: Parameters<Bank['account']>[0] = {},
): Promise<Target> {
  const { database } = bank.api.core;
  const { id: tenantId } = bank.tenant.tenant;
  const alias = `$a${tenantId.slice(-12)}`;
  const maker = await addMember(
    database,
    systemClock,
    tenantId,
    'who makes what waits',
    TEST_ACTOR,
  );
  const token = await bank.issue(maker);
  const roles = [{ memberId: maker.id, role: 'operator' as const }, ...(wanted.roles ?? [])];
  const funds = { COPM: 1_000n * LEAST, DUSD: 1_000n * LEAST };
  const account = await bank.account({ alias, funds, ...wanted, roles });
  const other = await bank.account({ roles });
  const guard = async ({ id }: Pick<Account, 'id'>): Promise<unknown> =>
    answered(
      await bank.request('PUT', `/v1/accounts/${id}/approval_policies/DUSD`, { body: POLICY }),
      200,
    );
  await guard(account);
  const renew: NonNullable<Target['renew']> = async (what) => {
    if (what === 'policy') return guard(other).then(() => ({}));
    if (what === 'ready batch')
      return { readyBatchId: (await readyBatch(bank, account, other)).id };
    const pending = await bank.send(
      { from: account, to: other, raw: LEAST, asset: 'DUSD' },
      { token },
    );
    return { pendingId: text(answered(pending, 202).json.id) };
  };
  const transfer = await bank.sent({ from: account, to: other, raw: LEAST });
  const paying = { body: payoutBody({ from: account }), token };
  const payout = answered(await bank.request('POST', '/v1/payouts', paying), 201).json;
  answered(await bank.request('POST', `/v1/payouts/${text(payout.id)}/cancel`), 200);
  const batchId = (await paidBatch(bank, account, other)).id;
  const rejectedBatchId = (await rejectedBatch(bank, account)).id;
  const bonus = list((await bank.get('/v1/bonuses?limit=1')).json.items)[0];
  const [event] = list((await bank.get('/v1/events?limit=1')).json.items);
  const { pendingId = '' } = await renew('pending transfer');
  const { readyBatchId = '' } = await renew('ready batch');
  const register = async (): Promise<string> =>
    text(
      answered(await bank.request('POST', '/v1/webhook_endpoints', { body: WEBHOOK }), 201).json.id,
    );
  const [webhookId, spareWebhookId] = [await register(), await register()];
  const named = {
    transferId: text(transfer.id),
    pendingId,
    eventId: text(event?.id),
    webhookId,
    spareWebhookId,
  };
  const bonusId = text(bonus?.id);
  const statementId = await storedStatement(bank, account);
  const batches = { batchId, rejectedBatchId, readyBatchId };
  const made = { bonusId, payoutId: text(payout.id), statementId, requestId: pendingId };
  return { account, other, alias, ...made, ...batches, ...named, renew };
}

/** As a worker leaves it: the account is too young to have one made. */
async function storedStatement(bank: Bank, { id: accountId, tenantId }: Account): Promise<Uuid> {
  const id = newId();
  const now = systemClock();
  const content = Buffer.from('created_at\r\n');
  const counts = {
    entryCount: 0,
    movementCount: 0,
    filesRun: 1,
    csvBytes: content.length,
    xlsxBytes: content.length,
  };
  const figures = { openingRaw: 0n, closingRaw: 0n, ...counts } as const;
  const times = { fromAt: now, toAt: now, createdAt: now, madeAt: now, leaseUntil: null };
  const owned = {
    id,
    tenantId,
    accountId,
    asset: 'COPM',
    status: 'ready',
    createdBy: bank.tenant.owner.id,
  } as const;
  await bank.api.core.database.withTransaction(async (transaction) => {
    await transaction.execute(insertSql(statements, [{ ...owned, ...figures, ...times }]));
    const files = (['csv', 'xlsx'] as const).map((format) => ({
      ownerId: id,
      format,
      number: 0,
      content,
    }));
    await transaction.execute(insertSql(generatedFilePieces, files));
  });
  return id;
}

/** The target with what a request to the endpoint needs anew. */
export async function renewed({ usesUp }: Endpoint, target: Target): Promise<Target> {
  return usesUp === undefined ? target : { ...target, ...(await target.renew?.(usesUp)) };
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
