import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addMember } from '../../src/members/members.js';
import { type PolicyChange, setPolicy } from '../../src/approvals/policies.js';
import type { Amount, Asset } from '../../src/core/amount.js';
import { systemClock } from '../../src/core/instant.js';
import type { Scope } from '../../src/core/permissions.js';
import type { Account, Member, Tenant } from '../../src/db/entities/parties.js';
import type { CREATE_TRANSFER_EXAMPLE } from '../../src/transfers/schemas.js';
import type { RequestOptions, TestAnswer, TestApi } from './api.js';
import type { TestDatabase } from './database.js';
import {
  fund,
  makeAccount,
  makeTenant,
  makeToken,
  TEST_ACTOR,
  type TestTenant,
  type WantedAccount,
} from './world.js';

export type Json = Readonly<Record<string, unknown>>;

type SentAsWanted = Omit<
  typeof CREATE_TRANSFER_EXAMPLE,
  'source_account' | 'destination' | 'amount'
>;

export interface WantedTransfer extends Partial<Record<keyof SentAsWanted, unknown>> {
  readonly from: Pick<Account, 'id'>;
  readonly to: Pick<Account, 'id'>;
  readonly raw: bigint | string;
  /** COPM unless said. */
  readonly asset?: Asset;
}

/** The least that one transfer may move, in either asset. */
export const LEAST = 100_000n;

/** A tenant as its own program sees it: over HTTP, with a token of the member who owns its accounts. */
export interface Bank {
  readonly api: TestApi;
  readonly tenant: TestTenant;
  readonly token: string;
  account(wanted?: WantedAccount): Promise<Account>;
  fund(account: Account, amount: Amount): Promise<void>;
  /** A new member without a role. */
  member(name?: string): Promise<Member>;
  issue(member: Member, scopes?: readonly Scope[]): Promise<string>;
  /** One approval from LEAST of COPM on, within an hour, unless something else is given. */
  guard(account: Pick<Account, 'id'>, change?: Partial<PolicyChange>): Promise<unknown>;
  request(method: string, path: string, options?: RequestOptions): Promise<TestAnswer>;
  get(path: string): Promise<TestAnswer>;
  /** Sends POST /v1/transfers, and returns any response. */
  send(transfer: WantedTransfer, options?: RequestOptions): Promise<TestAnswer>;
  /** Sends POST /v1/transfers, which must answer 201. Returns the Transfer. */
  sent(transfer: WantedTransfer, options?: RequestOptions): Promise<Json>;
  available(account: Pick<Account, 'id'>, asset?: Asset): Promise<bigint>;
}

/** A new tenant behind the API. Pay-ins and everything else of it go by the API's own clock and connections. */
export async function openBank(api: TestApi, wanted: Partial<Tenant> = {}): Promise<Bank> {
  const { database, writer } = api.core;
  const deps = { database, writer };
  const tenant = await makeTenant(database, wanted);
  const issue = async (member: Member, scopes?: readonly Scope[]): Promise<string> =>
    (await makeToken(database, member, scopes)).text;
  const token = await issue(tenant.owner);
  const request: Bank['request'] = (method, path, options) =>
    api.request(method, path, { token, ...options });
  const send: Bank['send'] = (transfer, options) =>
    request('POST', '/v1/transfers', { body: transferBody(transfer), ...options });
  return {
    api,
    tenant,
    token,
    account: (account) => makeAccount(deps, tenant, account),
    fund: (account, amount) => fund(deps, account, amount),
    member: (name = randomUUID()) =>
      addMember(database, systemClock, tenant.tenant.id, name, TEST_ACTOR),
    issue,
    guard: ({ id: accountId }, change) => {
      const usual = { asset: 'COPM', threshold: LEAST, approvals: 1 } as const;
      const policy = { accountId, ...usual, expiresInS: 3_600, refusesBatches: false, ...change };
      return setPolicy(database, systemClock, policy, TEST_ACTOR);
    },
    request,
    get: (path) => request('GET', path),
    send,
    sent: async (transfer, options) => answered(await send(transfer, options), 201).json,
    available: async (account, asset = 'COPM') => {
      const { balances } = answered(
        await request('GET', `/v1/accounts/${account.id}/balances`),
        200,
      ).json;
      const own = list(balances).find((one) => one.asset === asset);
      return BigInt(text(own?.available));
    },
  };
}

export function transferBody(wanted: WantedTransfer): Json {
  const { from, to, raw, asset = 'COPM', ...more } = wanted;
  return {
    source_account: from.id,
    destination: { type: 'account', account_id: to.id },
    amount: { raw: raw.toString(), asset },
    ...more,
  };
}

/** The answer, when it has this status and, for an error, this code. */
export function answered(answer: TestAnswer, status: number, code?: string): TestAnswer {
  assert.deepEqual([answer.status, answer.code], [status, code], answer.text);
  return answer;
}

/** An answer has no field of which it is not known what it is; these say what it must be. */
export function text(value: unknown): string {
  if (typeof value !== 'string') isNo('text', value);
  return value;
}

export function list(value: unknown): Json[] {
  if (!Array.isArray(value)) isNo('list', value);
  return value as Json[];
}

export function object(value: unknown): Json {
  if (typeof value !== 'object' || value === null) isNo('object', value);
  return value as Json;
}

/** The value is printed only if it is wrong, because it may be a whole document. */
function isNo(what: string, value: unknown): never {
  assert.fail(`${JSON.stringify(value)} is no ${what}`);
}

/** Decisions of operators, without their command: an account may be closed here with money in it. */
export async function setStatus(
  db: TestDatabase,
  account: Pick<Account, 'id'>,
  status: Account['status'],
): Promise<void> {
  const { id } = account;
  assert.equal(
    await db.change(`UPDATE accounts SET status='${status}' WHERE id=${idLiteral(id)}`),
    1,
  );
}

/** An id in SQL. */
export function idLiteral(id: string): string {
  return `X'${id.replaceAll('-', '')}'`;
}

/** Looks again and again for as long as the work goes on. Fails with whichever fails. */
export async function during<T>(work: Promise<T>, look: () => Promise<void>): Promise<T> {
  const state = { isOver: false };
  const looking = async (): Promise<void> => {
    while (!state.isOver) await look();
  };
  const [result] = await Promise.all([work.finally(() => (state.isOver = true)), looking()]);
  return result;
}

/** Every item of a collection, page after page. `path` has its filters and limit. */
export async function walk(bank: Pick<Bank, 'get'>, path: string): Promise<Json[]> {
  const found: Json[] = [];
  let cursor: unknown = null;
  do {
    const { json } = answered(
      await bank.get(cursor === null ? path : withQuery(path, `cursor=${text(cursor)}`)),
      200,
    );
    found.push(...list(json.items));
    cursor = json.next_cursor;
  } while (cursor !== null);
  return found;
}

export function withQuery(path: string, parameter: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${parameter}`;
}
