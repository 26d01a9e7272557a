import type { CommandResult } from '../../src/core/errors.js';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addMember } from '../../src/members/members.js';
import { type PolicyChange, setPolicy } from '../../src/approvals/policies.js';
import { systemClock } from '../../src/core/instant.js';
import { asUuid } from '../../src/core/ids.js';
import type { Role } from '../../src/core/permissions.js';
import { type Transfer, transfers } from '../../src/db/entities/operations.js';
import type { Account, Member, Tenant } from '../../src/db/entities/parties.js';
import { payouts } from '../../src/db/entities/payouts.js';
import type { Table } from '../../src/db/table.js';
import type { Approvable } from '../../src/approvals/decide.js';
import { Approvals } from '../../src/approvals/service.js';
import type { StaffIdentity } from '../../src/staff/rules.js';
import type { RequestOptions, TestAnswer, TestApi } from './api.js';
import { payoutBody } from '../payouts/support.js';
import {
  answered,
  type Bank,
  type Json,
  LEAST,
  object,
  openBank,
  text,
  transferBody,
  walk,
} from './bank.js';
import { balanceOf, NOBODY, TEST_ACTOR, type WantedAccount } from './world.js';
import { payoutApproval } from '../../src/payouts/decide.js';
import { type TransferApprovals, transferApproval } from '../../src/transfers/approval-outcomes.js';

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

/** The kinds of resources that wait for approval, by the same rules. */
export const KINDS = ['transfer', 'payout'] as const;
type Kind = (typeof KINDS)[number];

/** The status that each end leads to. */
export const ENDS = {
  transfer: { approve: 'completed', reject: 'rejected', cancel: 'rejected', expire: 'expired' },
  payout: { approve: 'approved', reject: 'rejected', cancel: 'canceled', expire: 'canceled' },
} as const satisfies Record<Kind, Record<Verb | 'expire', string>>;

/** The statuses in which each action is possible. */
export const POSSIBLE_IN = {
  transfer: {
    approve: ['pending_approval'],
    reject: ['pending_approval'],
    cancel: ['pending_approval', 'held'],
  },
  payout: {
    approve: ['pending_approval'],
    reject: ['pending_approval'],
    cancel: ['pending_approval', 'approved'],
  },
} as const satisfies Record<Kind, Record<Verb, readonly string[]>>;

/** A tenant with an account whose payments of COPM need approval from `THRESHOLD` on, and a member of each role in it. */
export interface GuardedBank {
  /** The kind of its pending resources: by default transfers. */
  readonly kind: Kind;
  readonly bank: Bank;
  readonly guarded: Account;
  readonly receiver: Account;
  readonly members: Readonly<Record<Person, Member>>;
  readonly tokens: Readonly<Record<Person, string>>;
  /** Another account with everybody in the same role. */
  account(wanted?: WantedAccount): Promise<Account>;
  setPolicy(change?: Partial<PolicyChange>): Promise<void>;
  /** Asks for a payment of the guarded account by its creator, and returns any response. */
  send(
    wanted?: Partial<Parameters<Bank['send']>[0]>,
    options?: RequestOptions,
  ): Promise<TestAnswer>;
  /** One that waits: the body of the 202. */
  createPending(
    wanted?: Partial<Parameters<Bank['send']>[0]>,
    options?: RequestOptions,
  ): Promise<Json>;
  act(verb: Verb, id: unknown, by: Person, options?: RequestOptions): Promise<TestAnswer>;
  /** As GET shows it. */
  read(id: unknown): Promise<Json>;
  row(id: unknown): Promise<Transfer>;
  /** The types of its events, and what they showed. */
  events(id: unknown): Promise<{ readonly type: unknown; readonly object: Json }[]>;
  /** Reads the events of the tenant. */
  allEvents(): ReturnType<GuardedBank['events']>;
  /** Of the guarded account, in COPM. */
  money(): Promise<{ readonly available: bigint; readonly held: bigint }>;
  /** The amount that the guarded account has used of this month. */
  used(account?: Pick<Account, 'id'>): Promise<bigint>;
}

export type Verb = 'approve' | 'reject' | 'cancel';
export const REASON = 'not agreed';

export async function openGuarded(
  api: TestApi,
  policy: Partial<PolicyChange> = {},
  wanted: {
    readonly tenant?: Partial<Tenant>;
    readonly account?: WantedAccount;
    readonly kind?: Kind;
  } = {},
): Promise<GuardedBank> {
  const { database } = api.core;
  const { kind = 'transfer' } = wanted;
  const path = `/v1/${kind}s`;
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
    const usual = {
      asset: 'COPM',
      threshold: THRESHOLD,
      approvals: 1,
      expiresInS: EXPIRES_IN_S,
      refusesBatches: false,
    } as const;
    await setPolicy(
      database,
      systemClock,
      { accountId: guarded.id, ...usual, ...change },
      TEST_ACTOR,
    );
  };
  await setOwnPolicy(policy);
  const token = tokens.creator!;
  const request: GuardedBank['act'] = (verb, id, by, options) =>
    bank.request('POST', `${path}/${text(id)}/${verb}`, {
      token: tokens[by]!,
      key: verb === 'approve' ? randomUUID() : null,
      ...(verb === 'reject' ? { body: { reason: REASON } } : {}),
      ...options,
    });
  const allEvents: GuardedBank['allEvents'] = async () =>
    (await walk(bank, '/v1/events?limit=100')).map(({ type, data }) => ({
      type,
      object: object(object(data).object),
    }));
  const send: GuardedBank['send'] = (one, options) => {
    const all = { from: guarded, to: receiver, raw: THRESHOLD, ...one };
    const { description, ...rest } = all;
    const body =
      kind === 'transfer'
        ? transferBody(all)
        : payoutBody({ ...rest, ...(typeof description === 'string' ? { description } : {}) });
    return bank.request('POST', path, { body, token, ...options });
  };
  return {
    kind,
    bank,
    guarded,
    receiver,
    members: members as GuardedBank['members'],
    tokens: tokens as GuardedBank['tokens'],
    account,
    setPolicy: setOwnPolicy,
    send,
    createPending: async (one, options) => answered(await send(one, options), 202).json,
    act: request,
    read: async (id) => answered(await bank.get(`${path}/${text(id)}`), 200).json,
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

/** Acts as the sweeper and operators do, by the API's own service and clock. No workflow is notified. */
export function approvalsOf({ core }: TestApi): TransferApprovals {
  return new Approvals(transferApproval, { ...core, notifier: NOBODY });
}

/** The row of either kind, found by its id. */
export type KindApprovals = Pick<
  Approvals<Approvable>,
  'performSignal' | 'expire' | 'expireDue' | 'state'
> & {
  actByStaff(
    id: unknown,
    verb: Verb,
    staff: StaffIdentity,
    reason: string,
  ): Promise<CommandResult<Approvable>>;
};

export function approvalsOfKind(api: TestApi, kind: Kind): KindApprovals {
  if (kind === 'transfer') return byId(approvalsOf(api), transfers, api);
  return byId(new Approvals(payoutApproval, { ...api.core, notifier: NOBODY }), payouts, api);
}

function byId<Row extends Approvable>(
  approvals: Approvals<Row>,
  table: Table<Row>,
  { core }: TestApi,
): KindApprovals {
  return {
    performSignal: (signal, signals) => approvals.performSignal(signal, signals),
    expire: (id) => approvals.expire(id),
    expireDue: (limit) => approvals.expireDue(limit),
    state: (id) => approvals.state(id),
    actByStaff: async (id, verb, staff, reason) => {
      // Every Row has an id: the type parameter alone hides it.
      const row = await core.database.reader.find(table, { id: asUuid(text(id)) } as Partial<Row>);
      assert(row !== undefined);
      return approvals.performByStaff(row, verb, staff, reason);
    },
  };
}

/** Asserts that it ended so, with one event that shows what GET shows. */
export async function assertEnded(
  own: GuardedBank,
  id: unknown,
  status: string,
  rejection: Json | null = null,
) {
  const shown = await own.read(id);
  assert.deepEqual([shown.status, shown.rejection], [status, rejection]);
  assert.deepEqual(await own.events(id), [{ type: `${own.kind}.${status}`, object: shown }]);
  return shown;
}

/** The shown rejection of a resource that ended so: a canceled payout has none. */
export function rejectionOf(kind: Kind, verb: Verb, reason: string | null): Json | null {
  if (verb === 'approve' || (verb === 'cancel' && kind === 'payout')) return null;
  return { code: verb === 'reject' ? 'rejected' : 'canceled', reason };
}
