import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { keyIdOf } from '../../src/access/token-text.js';
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
import { generatedFilePieces, statements } from '../../src/db/entities/statements.js';
import { insertSql } from '../../src/db/statements.js';
import type { RequestOptions, TestApi } from '../helpers/api.js';
import { supplierCsv, suppliers } from '../batches/payout-support.js';
import {
  BatchWorld,
  formOf,
  paidBatch,
  readyBatch,
  rejectedBatch,
  resourceOf,
} from '../batches/support.js';
import { payoutBody } from '../payouts/support.js';
import { scheduled } from '../transfers/schedules/support.js';
import {
  answered,
  type Bank,
  type Json,
  LEAST,
  list,
  object,
  text,
  transferBody,
} from '../helpers/bank.js';

/** The pending transfer, the ready batch and the request belong to other members than the callers here. */
export const TARGET_IDS = [
  ...([
    'transferId',
    ...(['pendingId', 'heldId', 'receivedId', 'receivedBonusId'] as const),
    'bonusId',
    'payoutId',
    'eventId',
    'requestId',
  ] as const),
  ...(['batchId', 'rejectedBatchId', 'readyBatchId', 'statementId'] as const),
  ...(['payoutBatchId', 'rejectedPayoutBatchId', 'readyPayoutBatchId'] as const),
  ...(['webhookId', 'spareWebhookId', 'scheduleId', 'pausedScheduleId'] as const),
  ...(['memberId', 'tokenKeyId'] as const),
];
export type TargetIds = Readonly<Record<(typeof TARGET_IDS)[number], string>>;

/** The ids in a request: all of one tenant, and of `account`. */
export interface Target extends TargetIds {
  readonly account: Pick<Account, 'id'>;
  /** Where a transfer goes. */
  readonly other: Pick<Account, 'id'>;
  readonly alias: string;
  /** Makes what an endpoint uses up, for its next request; nothing where the target is not there. */
  readonly renew?: (what: NonNullable<Endpoint['usesUp']>) => Promise<Partial<Target>>;
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
  /** The response to an allowed caller. The request can be repeated. */
  readonly status: number;
  /** The error's code, where it is one: what cannot be done twice is refused after every right was looked at. */
  readonly code?: string;
  /** A collection shows nothing to a member without a role, where a single thing is 403. */
  readonly isList?: true;
  /** The part of the target that this response uses up: `renewed` makes another. */
  readonly usesUp?:
    | 'pending transfer'
    | 'held transfer'
    | 'schedule'
    | 'paused schedule'
    | 'policy'
    | 'ready batch'
    | 'ready payout batch'
    | 'member';
  /** Names nothing that could be another tenant's. */
  readonly namesNothing?: true;
  readonly ask: (
    target: Target,
  ) => { readonly path: string } & Pick<RequestOptions, 'body' | 'form'>;
}

const EVERY = ROLES;
const MANAGERS = ['admin', 'owner'] as const;
const PAYERS = ['operator', 'admin', 'owner'] as const;
const APPROVERS = ['approver', 'admin', 'owner'] as const;

type Right = Pick<Endpoint, 'operation' | 'scopes' | 'roles'>;
const right = (
  operation: Operation,
  scopes: readonly Scope[],
  roles: readonly Role[] | null,
): Right => ({ operation, scopes, roles });

const toShowAccounts = right('showAccounts', ['read', 'access'], EVERY);
const toManageAccess = right('manageAccess', ['access'], ['owner']);
const toShareAccount = right('shareAccount', ['access'], ['owner']);
const ofAccount = right('readAccount', ['read'], EVERY);
const ofTransfers = right('readTransfers', ['read', 'transfers'], EVERY);
const ofSchedules = right('readSchedules', ['read', 'transfers'], EVERY);
const toManageSchedules = right('manageSchedule', ['transfers'], PAYERS);
const ofBonuses = right('readBonuses', ['read', 'bonuses'], EVERY);
const ofBatches = right('readBatches', ['read', 'bonuses'], EVERY);
const ofPayouts = right('readPayouts', ['read', 'payouts'], EVERY);
const ofPayoutBatches = right('readPayoutBatches', ['read', 'payouts'], EVERY);
const ofEvents = right('readEvents', ['read', 'webhooks'], null);
const ofLimits = right('readLimits', ['read', 'transfers'], EVERY);
const ofManagers = right('manageAccount', ['transfers'], MANAGERS);
const ofApprovers = right('approveTransfer', ['transfers'], APPROVERS);
const ofWebhooks = right('manageWebhooks', ['webhooks'], MANAGERS);
const toPayBonuses = right('createBonus', ['bonuses'], PAYERS);
const toApprovePayouts = right('approvePayout', ['payouts'], APPROVERS);

const POLICY_PATH = '/v1/accounts/{account_id}/approval_policies/{asset}';
/** In DUSD, so that transfers of COPM go through at once. */
const POLICY = { threshold: '0', approvals: 1 } as const;
const WEBHOOK = { url: 'https://example.com/hook', events: ['transfer.completed'] } as const;
/** No worker validates the batch here. */
const PAYROLL = Buffer.from('recipient,amount,asset\n');
const LABELLED = { metadata: { invoice: 'A-17' } } as const;
const A_PART = { amount: { raw: '1', asset: 'COPM' } } as const;
const IN_VAIN = { status: 409, code: 'invalid_state' } as const;

export const VERIFICATION = {
  type: 'business',
  legal_name: 'Of a test',
  document_type: 'NIT',
  document_number: '900123456',
  country: 'CO',
} as const;

interface Asking extends Partial<Omit<Endpoint, 'route' | 'ask' | keyof Right>> {
  /** The id that the path names beside an account and an asset. */
  readonly id?: keyof Target;
  /** The object whose id is the account's; by default `account`. */
  readonly in?: 'account' | 'other';
  readonly query?: (target: Target) => string;
  readonly body?: (target: Target) => unknown;
  readonly form?: (target: Target) => FormData;
}

/** A request to the path of its route, with what the target has in place of the parameters. */
function to(route: string, of: Right, asking: Asking = {}): Endpoint {
  const { id, in: account = 'account', query, body, form, ...more } = asking;
  const path = (target: Target): string =>
    route
      .replace(/^\w+ /, '')
      .replace('{account_id}', target[account].id)
      .replace('{asset}', 'DUSD')
      .replace(/\{\w+\}/, id === undefined ? '' : text(target[id]));
  const ask: Endpoint['ask'] = (target) => ({
    path: path(target) + (query?.(target) ?? ''),
    ...(body === undefined ? {} : { body: body(target) }),
    ...(form === undefined ? {} : { form: form(target) }),
  });
  return { route, status: 200, ...of, ...more, ask };
}

const webhook = (route: string, asking: Asking = {}): Endpoint =>
  to(route.replace(' ', ' /v1/webhook_endpoints/{id}'), ofWebhooks, { id: 'webhookId', ...asking });
const ofLeast = { raw: LEAST.toString(), asset: 'COPM' } as const;

/** Every endpoint that there is. */
export const ENDPOINTS: readonly Endpoint[] = [
  to('GET /v1/accounts', toShowAccounts, { isList: true }),
  to('GET /v1/accounts/{account_id}', toShowAccounts),
  to('POST /v1/accounts', toManageAccess, {
    ...{ status: 201, body: () => ({ type: 'business', name: 'New' }), namesNothing: true },
  }),
  to('PATCH /v1/accounts/{account_id}', toShareAccount, { body: () => LABELLED }),
  to('POST /v1/members', toManageAccess, {
    ...{ status: 201, body: () => ({ name: randomUUID() }), namesNothing: true },
  }),
  to('GET /v1/members', toManageAccess),
  to('DELETE /v1/members/{member_id}', toManageAccess, {
    ...{ id: 'memberId', status: 204, usesUp: 'member' },
  }),
  to('PUT /v1/accounts/{account_id}/roles/{member_id}', toShareAccount, {
    ...{ id: 'memberId', body: () => ({ role: 'viewer' }) },
  }),
  to('DELETE /v1/accounts/{account_id}/roles/{member_id}', toShareAccount, {
    ...{ id: 'memberId', status: 204 },
  }),
  to('POST /v1/tokens', toManageAccess, {
    status: 201,
    body: ({ memberId }) => ({ member_id: memberId, scopes: ['access'], name: 'new' }),
  }),
  to('GET /v1/tokens', toManageAccess),
  to('DELETE /v1/tokens/{key_id}', toManageAccess, { id: 'tokenKeyId', status: 204 }),
  to('GET /v1/accounts/{account_id}/balances', ofAccount),
  to('GET /v1/accounts/{account_id}/movements', ofAccount),
  to('GET /v1/accounts/{account_id}/limits', ofLimits),
  to(`GET ${POLICY_PATH}`, ofLimits),
  to(`PUT ${POLICY_PATH}`, ofManagers, { body: () => POLICY }),
  // Of another account, so that the policy of `account` stays.
  to(`DELETE ${POLICY_PATH}`, ofManagers, { in: 'other', status: 204, usesUp: 'policy' }),
  to('GET /v1/accounts/lookup', right('lookUp', ['lookup'], null), {
    query: ({ alias }) => `?alias=${encodeURIComponent(alias)}`,
  }),
  to('PUT /v1/accounts/{account_id}/alias', ofManagers, { body: ({ alias }) => ({ alias }) }),
  // Of another account, so that the alias stays where it is.
  to('DELETE /v1/accounts/{account_id}/alias', ofManagers, { in: 'other', status: 204 }),
  to('PUT /v1/accounts/{account_id}/verification', ofManagers, { body: () => VERIFICATION }),
  to('POST /v1/transfers', right('createTransfer', ['transfers'], PAYERS), {
    status: 201,
    body: ({ account, other }) => transferBody({ from: account, to: other, raw: LEAST }),
  }),
  to('GET /v1/transfers', ofTransfers, { isList: true }),
  to('GET /v1/transfers/{id}', ofTransfers, { id: 'transferId' }),
  to('PATCH /v1/transfers/{id}', right('createTransfer', ['transfers'], PAYERS), {
    ...{ id: 'transferId', body: () => LABELLED },
  }),
  to('POST /v1/transfers/{id}/approve', ofApprovers, {
    ...{ id: 'pendingId', usesUp: 'pending transfer' },
  }),
  to('POST /v1/transfers/{id}/reject', ofApprovers, {
    ...{ id: 'pendingId', usesUp: 'pending transfer', body: () => ({ reason: 'not agreed' }) },
  }),
  // The account has received these; the parts are so small that they are never used up.
  to('POST /v1/transfers/{id}/refunds', right('createTransfer', ['transfers'], PAYERS), {
    ...{ id: 'receivedId', status: 201, body: () => A_PART },
  }),
  to('POST /v1/bonuses/{id}/refunds', right('createTransfer', ['transfers'], PAYERS), {
    ...{ id: 'receivedBonusId', status: 201, body: () => A_PART },
  }),
  to('POST /v1/transfers/{id}/capture', right('createTransfer', ['transfers'], PAYERS), {
    ...{ id: 'heldId', usesUp: 'held transfer', body: () => ({}) },
  }),
  // And the creator, who is asked for in the tests of approvals.
  to('POST /v1/transfers/{id}/cancel', right('cancelTransfer', ['transfers'], MANAGERS), {
    ...{ id: 'pendingId', usesUp: 'pending transfer' },
  }),
  to('POST /v1/schedules', right('createTransfer', ['transfers'], PAYERS), {
    status: 201,
    body: ({ account, other }) => ({
      transfer: transferBody({ from: account, to: other, raw: LEAST }),
      starts_at: new Date(Date.now() + 86_400_000).toISOString(),
    }),
  }),
  to('GET /v1/schedules', ofSchedules, { isList: true }),
  to('GET /v1/schedules/{id}', ofSchedules, { id: 'scheduleId' }),
  // And the creator, who is asked for in the tests of schedules.
  to('POST /v1/schedules/{id}/pause', toManageSchedules, {
    ...{ id: 'scheduleId', usesUp: 'schedule' },
  }),
  to('POST /v1/schedules/{id}/resume', toManageSchedules, {
    ...{ id: 'pausedScheduleId', usesUp: 'paused schedule' },
  }),
  to('POST /v1/schedules/{id}/cancel', toManageSchedules, {
    ...{ id: 'scheduleId', usesUp: 'schedule' },
  }),
  to('POST /v1/bonuses', toPayBonuses, {
    status: 201,
    body: ({ account, other }) => ({
      source_account: account.id,
      recipient: { account_id: other.id },
      amount: ofLeast,
    }),
  }),
  to('GET /v1/bonuses', ofBonuses, { isList: true }),
  to('GET /v1/bonuses/{id}', ofBonuses, { id: 'bonusId' }),
  to('PATCH /v1/bonuses/{id}', toPayBonuses, { id: 'bonusId', body: () => LABELLED }),
  to('GET /v1/bonus_batches', ofBatches, { isList: true }),
  to('GET /v1/bonus_batches/{batch_id}', ofBatches, { id: 'batchId' }),
  to('GET /v1/bonus_batches/{batch_id}/rows', ofBatches, { id: 'batchId' }),
  to('POST /v1/bonus_batches', toPayBonuses, {
    status: 201,
    form: ({ account }) => formOf(PAYROLL, { source_account: account.id }),
  }),
  to('GET /v1/bonus_batches/template', right('readTemplate', ['read', 'bonuses'], null)),
  to('GET /v1/bonus_batches/{batch_id}/files/errors', ofBatches, { id: 'rejectedBatchId' }),
  to('GET /v1/bonus_batches/{batch_id}/files/result', ofBatches, { id: 'batchId' }),
  to('POST /v1/bonus_batches/{batch_id}/execute', right('executeBatch', ['bonuses'], APPROVERS), {
    id: 'batchId',
    ...IN_VAIN,
  }),
  // And the uploader, who is asked for in the tests of withdrawals.
  to('POST /v1/bonus_batches/{batch_id}/cancel', right('withdrawBatch', ['bonuses'], MANAGERS), {
    ...{ id: 'readyBatchId', usesUp: 'ready batch' },
  }),
  to('GET /v1/payout_recipients', right('lookUpPayoutRecipient', ['payouts'], null), {
    query: () => '?key=3001112233',
  }),
  to('GET /v1/payout_batches', ofPayoutBatches, { isList: true }),
  to('GET /v1/payout_batches/{batch_id}', ofPayoutBatches, { id: 'payoutBatchId' }),
  to('GET /v1/payout_batches/{batch_id}/rows', ofPayoutBatches, { id: 'payoutBatchId' }),
  to('POST /v1/payout_batches', right('createPayout', ['payouts'], PAYERS), {
    status: 201,
    form: ({ account }) => formOf(supplierCsv({}), { source_account: account.id }),
  }),
  to('GET /v1/payout_batches/template', right('readPayoutTemplate', ['read', 'payouts'], null)),
  to('GET /v1/payout_batches/{batch_id}/files/errors', ofPayoutBatches, {
    id: 'rejectedPayoutBatchId',
  }),
  to('GET /v1/payout_batches/{batch_id}/files/result', ofPayoutBatches, { id: 'payoutBatchId' }),
  // But for the uploader, who is asked for in the tests of these batches.
  to(
    'POST /v1/payout_batches/{batch_id}/execute',
    right('executePayoutBatch', ['payouts'], APPROVERS),
    { id: 'payoutBatchId', ...IN_VAIN },
  ),
  to(
    'POST /v1/payout_batches/{batch_id}/cancel',
    right('withdrawPayoutBatch', ['payouts'], MANAGERS),
    { id: 'readyPayoutBatchId', usesUp: 'ready payout batch' },
  ),
  to('POST /v1/payouts', right('createPayout', ['payouts'], PAYERS), {
    status: 201,
    body: ({ account }) => payoutBody({ from: account }),
  }),
  to('GET /v1/payouts', ofPayouts, { isList: true }),
  to('GET /v1/payouts/{id}', ofPayouts, { id: 'payoutId' }),
  to('PATCH /v1/payouts/{id}', right('createPayout', ['payouts'], PAYERS), {
    ...{ id: 'payoutId', body: () => LABELLED },
  }),
  to('POST /v1/payouts/{id}/approve', toApprovePayouts, { id: 'payoutId', ...IN_VAIN }),
  to('POST /v1/payouts/{id}/reject', toApprovePayouts, {
    ...{ id: 'payoutId', ...IN_VAIN, body: () => ({ reason: 'no' }) },
  }),
  to('POST /v1/payouts/{id}/cancel', right('cancelPayout', ['payouts'], MANAGERS), {
    ...{ id: 'payoutId', ...IN_VAIN },
  }),
  to('POST /v1/statements', ofAccount, {
    // No account is old enough; only callers who may see the account are told so.
    ...{ status: 400, code: 'invalid_field' },
    body: ({ account }) => ({
      ...{ account_id: account.id, asset: 'COPM' },
      ...{ from: '2020-01-01T00:00:00Z', to: '2020-02-01T00:00:00Z' },
    }),
  }),
  to('GET /v1/statements', ofAccount, { isList: true }),
  to('GET /v1/statements/{statement_id}', ofAccount, { id: 'statementId' }),
  to('GET /v1/statements/{statement_id}/file', ofAccount, { id: 'statementId' }),
  to('GET /v1/requests/{request_id}', right('readRequests', SCOPES, null), {
    // Of the own member alone, which the tests of requests ask for.
    ...{ id: 'requestId', status: 404, code: 'not_found' },
  }),
  to('GET /v1/events', ofEvents),
  to('GET /v1/events/{id}', ofEvents, { id: 'eventId' }),
  to('POST /v1/events/{id}/redeliver', ofWebhooks, { id: 'eventId' }),
  to('POST /v1/webhook_endpoints', ofWebhooks, {
    ...{ status: 201, body: () => WEBHOOK, namesNothing: true },
  }),
  to('GET /v1/webhook_endpoints', ofWebhooks),
  webhook('GET '),
  webhook('PATCH ', { body: () => WEBHOOK }),
  webhook('POST /rotate_secret'),
  webhook('POST /test', { status: 202 }),
  webhook('GET /deliveries'),
  webhook('POST /recover', {
    status: 202,
    // A little ago by any clock of a test.
    body: () => ({ since: new Date(Date.now() - 1_000).toISOString() }),
  }),
  webhook('DELETE ', { id: 'spareWebhookId', status: 204 }),
];

export function methodOf({ route }: Pick<Endpoint, 'route'>): string {
  return route.split(' ')[0]!;
}

/** A tenant's accounts with all that an endpoint may name: each made as the service makes it. */
export async function makeTarget(
  bank: Bank,
  wanted: Parameters<Bank['account']>[0] = {},
): Promise<Target> {
  const { id: tenantId } = bank.tenant.tenant;
  const alias = `$a${tenantId.slice(-12)}`;
  const maker = await bank.member('who makes what waits');
  const token = await bank.issue(maker);
  const executor = await bank.member('who executes batches of payouts');
  const roles = [
    { memberId: maker.id, role: 'operator' as const },
    { memberId: executor.id, role: 'approver' as const },
    ...(wanted.roles ?? []),
  ];
  const funds = { COPM: 1_000n * LEAST, DUSD: 1_000n * LEAST };
  const account = await bank.account({ alias, funds, ...wanted, roles });
  const other = await bank.account({ roles });
  const guard = async ({ id }: Pick<Account, 'id'>): Promise<unknown> =>
    answered(
      await bank.request('PUT', `/v1/accounts/${id}/approval_policies/DUSD`, { body: POLICY }),
      200,
    );
  await guard(account);
  const payoutBatches = BatchWorld.of(bank, 'payout');
  const renew: NonNullable<Target['renew']> = async (what) => {
    if (what === 'member') return { memberId: (await bank.member()).id };
    if (what === 'policy') return guard(other).then(() => ({}));
    if (what === 'ready batch')
      return { readyBatchId: (await readyBatch(bank, account, other)).id };
    if (what === 'ready payout batch')
      return { readyPayoutBatchId: (await payoutBatches.ready(account, suppliers({}))).id };
    if (what === 'schedule' || what === 'paused schedule') {
      const id = text((await scheduled(bank, { from: account, to: other })).id);
      if (what === 'schedule') return { scheduleId: id };
      answered(await bank.request('POST', `/v1/schedules/${id}/pause`), 200);
      return { pausedScheduleId: id };
    }
    if (what === 'held transfer') {
      const held = { from: account, to: other, raw: LEAST, capture: 'manual' };
      return { heldId: text((await bank.sent(held)).id) };
    }
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
  const { id: payoutBatchId } = await payoutBatches.ready(account, suppliers({}));
  resourceOf(await payoutBatches.execute({ id: payoutBatchId }, executor));
  await payoutBatches.payAll(payoutBatchId);
  const wrong = suppliers({ country: 'XX' });
  const { id: rejectedPayoutBatchId } = await payoutBatches.validated(account, wrong);
  const bonus = list((await bank.get('/v1/bonuses?limit=1')).json.items)[0];
  await bank.fund(other, { raw: 2n * LEAST, asset: 'COPM' });
  const received = await bank.sent({ from: other, to: account, raw: LEAST });
  const paid = { source_account: other.id, recipient: { account_id: account.id }, amount: ofLeast };
  const receivedBonus = answered(
    await bank.request('POST', '/v1/bonuses', { body: paid }),
    201,
  ).json;
  const [event] = list((await bank.get('/v1/events?limit=1')).json.items);
  const { pendingId = '' } = await renew('pending transfer');
  const { readyBatchId = '' } = await renew('ready batch');
  const { readyPayoutBatchId = '' } = await renew('ready payout batch');
  const { heldId = '' } = await renew('held transfer');
  const { scheduleId = '' } = await renew('schedule');
  const { pausedScheduleId = '' } = await renew('paused schedule');
  const register = async (): Promise<string> =>
    text(
      answered(await bank.request('POST', '/v1/webhook_endpoints', { body: WEBHOOK }), 201).json.id,
    );
  const [webhookId, spareWebhookId] = [await register(), await register()];
  const named = {
    transferId: text(transfer.id),
    pendingId,
    heldId,
    receivedId: text(received.id),
    receivedBonusId: text(receivedBonus.id),
    eventId: text(event?.id),
    webhookId,
    spareWebhookId,
    scheduleId,
    pausedScheduleId,
  };
  const bonusId = text(bonus?.id);
  const statementId = await storedStatement(bank, account);
  const shared = await bank.member();
  const access = { memberId: shared.id, tokenKeyId: keyIdOf(await bank.issue(shared)) ?? '' };
  const batches = {
    ...{ batchId, rejectedBatchId, readyBatchId },
    ...{ payoutBatchId, rejectedPayoutBatchId, readyPayoutBatchId },
  };
  const made = { bonusId, payoutId: text(payout.id), statementId, requestId: pendingId };
  return { account, other, alias, ...made, ...batches, ...named, ...access, renew };
}

/** As a worker leaves it: the account is too young to have one made. */
async function storedStatement(bank: Bank, { id: accountId, tenantId }: Account): Promise<Uuid> {
  const id = newId();
  const now = systemClock();
  const content = Buffer.from('created_at\r\n');
  const statement = {
    ...({ id, tenantId, accountId, asset: 'COPM', status: 'ready' } as const),
    ...{ openingRaw: 0n, closingRaw: 0n, entryCount: 0, movementCount: 0, generationAttempt: 1 },
    ...{ csvBytes: content.length, xlsxBytes: content.length, createdBy: bank.tenant.owner.id },
    ...{ fromAt: now, toAt: now, createdAt: now, generatedAt: now, leaseUntil: null },
  } as const;
  await bank.api.core.database.withTransaction(async (transaction) => {
    await transaction.execute(insertSql(statements, [statement]));
    const piece = { ownerId: id, number: 0, content };
    const files = (['csv', 'xlsx'] as const).map((format) => ({ ...piece, format }));
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
