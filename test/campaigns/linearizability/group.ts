import assert from 'node:assert/strict';
import { setPolicy } from '../../../src/approvals/policies.js';
import { systemClock } from '../../../src/core/instant.js';
import type { Account } from '../../../src/db/entities/parties.js';
import { addMember } from '../../../src/members/members.js';
import { request, type RequestOptions, type TestAnswer } from '../../helpers/api.js';
import { type Json, LEAST, transferBody, walk } from '../../helpers/bank.js';
import type { TestDatabase } from '../../helpers/database.js';
import { makeAccount, makeTenant, makeToken, openWriter, TEST_ACTOR } from '../../helpers/world.js';
import {
  type Actor,
  type History,
  isCreation,
  type Operation,
  type Request,
  type Response,
  type Setup,
} from './history.js';

const ACCOUNTS = 3;
const FUNDS = 15n * LEAST;
export const THRESHOLD = 3n * LEAST;
/** The least that the service accepts, for approvals and for captures. */
export const EXPIRES_IN_S = 60;
export const REASON = 'no';

/** Where the requests of a history go. */
export interface Target {
  /** Of API processes, which get the requests by chance. */
  readonly baseUrls: readonly string[];
  /** Milliseconds since 1970, with fractions, by the clock that dates money. */
  readonly now: () => number;
}

/** The recorder of one group of connected accounts: sends its requests and keeps what came of them. */
export class Group {
  readonly operations: Operation[] = [];

  private constructor(
    private readonly target: Target,
    private readonly setup: Setup,
    private readonly accounts: readonly Account[],
    private readonly tokens: Readonly<Record<Actor, string>>,
  ) {}

  /** Opens a tenant of its own. Account 0 needs approvals. */
  static async open({ database }: TestDatabase, target: Target): Promise<Group> {
    const { writer } = openWriter(database);
    const tenant = await makeTenant(database);
    const clerk = await addMember(database, systemClock, tenant.tenant.id, 'clerk', TEST_ACTOR);
    const roles = [{ memberId: clerk.id, role: 'admin' as const }];
    const accounts: Account[] = [];
    for (let index = 0; index < ACCOUNTS; index += 1)
      accounts.push(
        await makeAccount({ database, writer }, tenant, { funds: { COPM: FUNDS }, roles }),
      );
    const policy = { asset: 'COPM', threshold: THRESHOLD, approvals: 1 } as const;
    await setPolicy(
      database,
      systemClock,
      { ...policy, accountId: accounts[0]!.id, expiresInS: EXPIRES_IN_S, refusesBatches: false },
      TEST_ACTOR,
    );
    const tokenOf = async (member: typeof clerk): Promise<string> =>
      (await makeToken(database, member, ['read', 'transfers'])).text;
    const tokens = { owner: await tokenOf(tenant.owner), clerk: await tokenOf(clerk) };
    const setup = {
      tenant: tenant.tenant.id,
      accounts: accounts.map(({ id }) => id),
      funds: FUNDS.toString(),
      threshold: THRESHOLD.toString(),
      expiresInS: EXPIRES_IN_S,
    };
    return new Group(target, setup, accounts, tokens);
  }

  get accountCount(): number {
    return this.accounts.length;
  }

  /** Sends a request once and records it. Returns null if its result is unknown. */
  async send(
    actor: Actor,
    sent: Request,
    baseUrl = this.target.baseUrls[Math.floor(Math.random() * this.target.baseUrls.length)]!,
  ): Promise<Response | null> {
    const { now } = this.target;
    const { method, path, options } = this.httpOf(sent);
    const call = now();
    const all = { token: this.tokens[actor], ...options };
    const answer = await request(baseUrl, method, path, all).catch((failure: unknown) => {
      if (failure instanceof assert.AssertionError) throw failure;
      return isRefused(failure) ? undefined : null;
    });
    // No process had the request.
    if (answer === undefined) return null;
    const response = answer === null || answer.status === 503 ? null : responseOf(answer);
    const returned = response === null ? null : now();
    this.operations.push({ actor, request: sent, call, return: returned, response });
    return response;
  }

  /** Records a request that never reached the service. */
  lose(actor: Actor, sent: Request): void {
    const call = this.target.now();
    this.operations.push({ actor, request: sent, call, return: null, response: null });
  }

  /** Forgets the last response. */
  loseResponse(): void {
    const last = this.operations.pop()!;
    this.operations.push({ ...last, return: null, response: null });
  }

  private httpOf(sent: Request): { method: string; path: string; options: RequestOptions } {
    const get = (path: string) => ({ method: 'GET', path, options: {} });
    const post = (path: string, body?: object) => ({
      method: 'POST',
      path: `/v1/transfers${path}`,
      options: { key: 'key' in sent ? sent.key : null, ...(body && { body }) },
    });
    switch (sent.kind) {
      case 'transfer': {
        const [from, to] = [this.accounts[sent.from]!, this.accounts[sent.to]!];
        const { captureWithinS } = sent;
        const capture = { capture: 'manual', capture_within_s: captureWithinS };
        const body = transferBody({ from, to, raw: sent.raw });
        return post('', captureWithinS === null ? body : { ...body, ...capture });
      }
      case 'refund':
      case 'capture': {
        const amount = sent.raw === null ? {} : { amount: { raw: sent.raw, asset: 'COPM' } };
        return post(`/${sent.of}/${sent.kind === 'refund' ? 'refunds' : 'capture'}`, amount);
      }
      case 'reject':
        return post(`/${sent.of}/reject`, { reason: REASON });
      case 'approve':
      case 'cancel':
        return post(`/${sent.of}/${sent.kind}`);
      case 'read':
        return get(`/v1/transfers/${sent.of}`);
      case 'balances':
        return get(`/v1/accounts/${this.accounts[sent.account]!.id}/balances`);
      case 'find':
        return get(`/v1/transfers?idempotency_key=${sent.key}`);
    }
  }

  /** Reads everything once more, when nothing is under way, and returns the whole history. */
  async finish(): Promise<History> {
    const { accounts, setup, operations } = this;
    for (const account of accounts.keys()) await this.send('owner', { kind: 'balances', account });
    for (const key of unresolvedKeys(operations)) await this.send('owner', { kind: 'find', key });
    const all = (path: string): Promise<Json[]> => {
      const [baseUrl] = this.target.baseUrls;
      const get = (page: string) => request(baseUrl!, 'GET', page, { token: this.tokens.owner });
      return walk({ get }, path);
    };
    const movements: Json[][] = [];
    for (const { id } of accounts)
      movements.push((await all(`/v1/accounts/${id}/movements?limit=100`)).reverse());
    const events = (await all('/v1/events?limit=100')).reverse();
    return { setup, operations, events, movements };
  }
}

/** Keys of transfers of which no client knows whether they were made. */
function unresolvedKeys(operations: readonly Operation[]): readonly string[] {
  const keysOf = (isKnown: boolean): ReadonlySet<string> =>
    new Set(
      operations.flatMap(({ request: sent, response }) =>
        isCreation(sent) && (response !== null) === isKnown ? [sent.key] : [],
      ),
    );
  const known = keysOf(true);
  return [...keysOf(false)].filter((key) => !known.has(key));
}

/** Whether no connection was made. */
function isRefused(failure: unknown): boolean {
  const { cause } = failure as { readonly cause?: { readonly code?: unknown } };
  return cause?.code === 'ECONNREFUSED';
}

function responseOf(answer: TestAnswer): Response {
  assert(answer.status < 500, `${answer.status} ${answer.text}`);
  const { status, code = null, details = null, json } = answer;
  const replayed = answer.headers.get('svc-idempotent-replayed') === 'true';
  return { status, replayed, code, details, body: status < 300 ? json : null };
}
