import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addMember } from '../../src/access/members.js';
import { type PolicyChange, setPolicy } from '../../src/approvals/policies.js';
import { systemClock } from '../../src/core/instant.js';
import { asUuid } from '../../src/core/ids.js';
import type { Role } from '../../src/core/permissions.js';
import { type Transfer, transfers } from '../../src/db/entities/operations.js';
import type { Account, Member, Tenant } from '../../src/db/entities/parties.js';
import { TransferApprovals } from '../../src/transfers/approvals.js';
import type { RequestOptions, TestAnswer, TestApi } from './api.js';
import { answered, type Bank, type Json, LEAST, object, openBank, text, walk } from './bank.js';
import { balanceOf, TEST_ACTOR, type WantedAccount } from './world.js';

/** Who there is beside the owner, and the role of each in the guarded account. */
const ROLES = {
  creator: 'operator',
  colleague: 'operator',
  approver: 'approver',
  second: 'approver',
  third: 'approver',
  admin: 'admin',
  viewer: 'viewer',
  stranger: null,
} as const satisfies Record<string, Role | null>;
export type Person = keyof typeof ROLES | 'owner';

export const THRESHOLD = 10n * LEAST;
export const EXPIRES_IN_S = 3_600;
const FUNDS = 1_000n * THRESHOLD;

/** A tenant with an account whose transfers of COPM need approval from `THRESHOLD` on, and somebody of each role in it. */
export interface GuardedBank {
  readonly bank: Bank;
  readonly guarded: Account;
  readonly receiver: Account;
  readonly members: Readonly<Record<Person, Member>>;
  readonly tokens: Readonly<Record<Person, string>>;
  /** Another account with everybody in the same role. */
  account(wanted?: WantedAccount): Promise<Account>;
  setPolicy(change?: Partial<PolicyChange>): Promise<void>;
  /** A transfer of the guarded account by its creator that waits: the Transfer of the 202. */
  pend(wanted?: Partial<Parameters<Bank['send']>[0]>, options?: RequestOptions): Promise<Json>;
  act(verb: Verb, id: unknown, by: Person, options?: RequestOptions): Promise<TestAnswer>;
  /** The Transfer, as GET shows it. */
  read(id: unknown): Promise<Json>;
  row(id: unknown): Promise<Transfer>;
  /** The types of the transfer's events, and what they showed. */
  events(id: unknown): Promise<{ readonly type: unknown; readonly object: Json }[]>;
  /** The same of all that the tenant has. */
  allEvents(): ReturnType<GuardedBank['events']>;
  /** Of the guarded account, in COPM. */
  money(): Promise<{ readonly available: bigint; readonly held: bigint }>;
  /** What the guarded account has used of this month. */
  used(account?: Pick<Account, 'id'>): Promise<bigint>;
}

export type Verb = 'approve' | 'reject' | 'cancel';
export const REASON = 'not agreed';

export async function openGuarded(
  api: TestApi,
  policy: Partial<PolicyChange> = {},
  wanted: { readonly tenant?: Partial<Tenant>; readonly account?: WantedAccount } = {},
): Promise<GuardedBank> {
  const { database } = api.core;
  const bank = await openBank(api, wanted.tenant);
  const tenantId = bank.tenant.tenant.id;
  const members: Record<string, Member> = { owner: bank.tenant.owner };
  const tokens: Record<string, string> = { owner: bank.token };
  const roles: { memberId: Member['id']; role: Role }[] = [];
  for (const [name, role] of Object.entries(ROLES)) {
    const member = await addMember(database, systemClock, tenantId, name, TEST_ACTOR);
    members[name] = member;
    tokens[name] = await bank.issue(member);
    if (role !== null) roles.push({ memberId: member.id, role });
  }
  const account: GuardedBank['account'] = (own) => bank.account({ roles, ...own });
  const guarded = await account({ funds: { COPM: FUNDS, DUSD: FUNDS }, ...wanted.account });
  const receiver = await bank.account();
  const setOwnPolicy: GuardedBank['setPolicy'] = async (change) => {
    const usual = { asset: 'COPM', threshold: THRESHOLD, approvals: 1, expiresInS: EXPIRES_IN_S } as const;
    await setPolicy(database, systemClock, { accountId: guarded.id, ...usual, ...change }, TEST_ACTOR);
  };
  await setOwnPolicy(policy);
  const token = tokens.creator!;
  const request: GuardedBank['act'] = (verb, id, by, options) =>
    bank.request('POST', `/v1/transfers/${text(id)}/${verb}`, {
      token: tokens[by]!,
      key: verb === 'approve' ? randomUUID() : null,
      ...(verb === 'reject' ? { body: { reason: REASON } } : {}),
      ...options,
    });
  const allEvents: GuardedBank['allEvents'] = async () =>
    (await walk(bank, '/v1/events?limit=100')).map(({ type, data }) => ({ type, object: object(object(data).object) }));
  return {
    bank,
    guarded,
    receiver,
    members: members as GuardedBank['members'],
    tokens: tokens as GuardedBank['tokens'],
    account,
    setPolicy: setOwnPolicy,
    pend: async (transfer, options) => {
      const all = { from: guarded, to: receiver, raw: THRESHOLD, ...transfer };
      return answered(await bank.send(all, { token, ...options }), 202).json;
    },
    act: request,
    read: async (id) => answered(await bank.get(`/v1/transfers/${text(id)}`), 200).json,
    row: async (id) => {
      const row = await database.reader.find(transfers, { id: asUuid(text(id)) });
      assert(row !== undefined);
      return row;
    },
    events: async (id) => (await allEvents()).filter((event) => event.object.id === id),
    allEvents,
    money: () => balanceOf(database, guarded.id),
    used: async (of = guarded) => {
      const { limits } = answered(await bank.get(`/v1/accounts/${of.id}/limits`), 200).json;
      const own = (limits as Json[]).find(({ asset }) => asset === 'COPM');
      return BigInt(text(object(own?.month).used));
    },
  };
}

/** What sweeper and operators do, by the API's own desk and clock. Nobody is told of it. */
export function approvalsOf({ core }: TestApi): TransferApprovals {
  return new TransferApprovals(core.desk, core.database.reader, core.clock, { tell: () => undefined });
}

/** It ended so, with the one event that says so and shows what GET shows. */
export async function assertEnded(own: GuardedBank, id: unknown, status: string, rejection: Json | null = null) {
  const shown = await own.read(id);
  assert.deepEqual([shown.status, shown.rejection], [status, rejection]);
  assert.deepEqual(await own.events(id), [{ type: `transfer.${status}`, object: shown }]);
  return shown;
}
