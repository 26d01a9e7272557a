import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setFeeAccount } from '../../src/operations/fees.js';
import { addMember } from '../../src/members/members.js';
import { setPolicy } from '../../src/approvals/policies.js';
import type { Keyring } from '../../src/core/fingerprint.js';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import { type Clock, systemClock } from '../../src/core/instant.js';
import {
  type Payout,
  type PayoutRailEvent,
  payoutRailEvents,
  type PayoutResolution,
  payouts,
} from '../../src/db/entities/payouts.js';
import type { Account } from '../../src/db/entities/parties.js';
import { type BreakerOptions, RailBreakers } from '../../src/payouts/breaker.js';
import { flagStuck, pollDue } from '../../src/payouts/sweeps.js';
import { RailRecovery } from '../../src/payouts/recovery.js';
import { RailCallbacks } from '../../src/payouts/callbacks.js';
import { type Rail, type Rails, SIMULATED } from '../../src/payouts/rails/rail.js';
import { SimulatedRail } from '../../src/payouts/rails/simulated.js';
import { RailCalls, PayoutSubmitter } from '../../src/payouts/rail-calls.js';
import { approveResolution } from '../../src/payouts/resolution/approve.js';
import {
  proposeResolution,
  readSeen,
  type SeenPayout,
} from '../../src/payouts/resolution/resolutions.js';
import { DEFAULT_RETURN_WINDOW_MS } from '../../src/payouts/rules.js';
import { Outbox } from '../../src/temporal/outbox.js';
import {
  type RequestOptions,
  startTestApi,
  TEST_KEYRING,
  type TestAnswer,
  type TestApi,
} from '../helpers/api.js';
import {
  answered,
  type Bank,
  idLiteral,
  type Json,
  LEAST,
  list,
  object,
  openBank,
  text,
  walk,
} from '../helpers/bank.js';
import { type TestDatabase, testDatabase } from '../helpers/database.js';
import { until } from '../helpers/temporal.js';
import {
  assertLedgerSound,
  NOBODY,
  openWriter,
  setFee,
  someone,
  TEST_ACTOR,
} from '../helpers/world.js';
import { Approvals } from '../../src/approvals/service.js';
import { payoutApproval } from '../../src/payouts/decide.js';
import { type Answer, say, ScriptedRail } from './scripted-rail.js';

/** A tenant with an account that pays out. Account numbers differ in their ends alone. */

export const HOLDER = 'María Holder Núñez';
export const DOCUMENT = 'CC-79456123';

export function accountNumber(ending = '99'): string {
  return `45678912340${ending}`;
}

interface WantedPayout {
  readonly from: Pick<Account, 'id'>;
  readonly ending?: string;
  readonly raw?: bigint | string;
  readonly destination?: Json;
  readonly description?: string;
}

export function payoutBody({
  from,
  ending,
  raw = LEAST,
  destination = {},
  description,
}: WantedPayout): Json {
  return {
    source_account: from.id,
    destination: {
      type: 'bank_account',
      country: 'CO',
      bank_code: '0007',
      account_type: 'savings',
      account_number: accountNumber(ending),
      holder_name: HOLDER,
      holder_document: DOCUMENT,
      ...destination,
    },
    amount: { raw: raw.toString(), asset: 'COPM' },
    ...(description === undefined ? {} : { description }),
  };
}

interface PayoutEvent {
  readonly type: string;
  readonly object: Json;
}

export interface PayoutBank {
  readonly bank: Bank;
  readonly source: Account;
  /** Tokens of two members who may approve, and of one who may create. */
  readonly approvers: readonly [string, string];
  readonly creator: string;
  /** Sends POST /v1/payouts, and returns any response. */
  ask(wanted?: Partial<WantedPayout>, options?: RequestOptions): Promise<TestAnswer>;
  /** Sends POST /v1/payouts, which must answer 201. */
  pay(ending?: string, wanted?: Partial<WantedPayout>): Promise<Uuid>;
  /** From now on everything needs `approvals` approvals. */
  guard(approvals?: number, expiresInS?: number): Promise<void>;
  /** A payout that waits for approval. */
  createPending(wanted?: Partial<WantedPayout>): Promise<Uuid>;
  act(action: 'approve' | 'reject' | 'cancel', id: string, token?: string): Promise<TestAnswer>;
  get(id: string): Promise<Json>;
  /** All, oldest first, or those of one payout. */
  events(id?: string): Promise<PayoutEvent[]>;
  movements(): Promise<Json[]>;
}

export async function openPayoutBank(api: TestApi, funds = 10_000n * LEAST): Promise<PayoutBank> {
  const { database } = api.core;
  const bank = await openBank(api);
  const member = (name: string) =>
    addMember(database, systemClock, bank.tenant.tenant.id, name, TEST_ACTOR);
  const [first, second, creating] = [
    await member('first'),
    await member('second'),
    await member('creator'),
  ];
  const source = await bank.account({
    funds: { COPM: funds },
    roles: [
      { memberId: first.id, role: 'approver' },
      { memberId: second.id, role: 'approver' },
      { memberId: creating.id, role: 'operator' },
    ],
  });
  const approvers = [await bank.issue(first), await bank.issue(second)] as const;
  const creator = await bank.issue(creating);
  const ask: PayoutBank['ask'] = (wanted, options) =>
    bank.request('POST', '/v1/payouts', {
      body: payoutBody({ from: source, ...wanted }),
      ...options,
    });
  return {
    bank,
    source,
    approvers,
    creator,
    ask,
    pay: async (ending, wanted) =>
      asUuid(
        text(
          answered(await ask({ ...wanted, ...(ending === undefined ? {} : { ending }) }), 201).json
            .id,
        ),
      ),
    guard: async (approvals = 1, expiresInS = 604_800) => {
      const settings = { threshold: LEAST, approvals, expiresInS, refusesBatches: false };
      const policy = { accountId: source.id, asset: 'COPM' as const, ...settings };
      await setPolicy(database, systemClock, policy, TEST_ACTOR);
    },
    createPending: async (wanted) =>
      asUuid(text(answered(await ask(wanted, { token: creator }), 202).json.id)),
    act: (action, id, token = action === 'cancel' ? creator : approvers[0]) =>
      bank.request('POST', `/v1/payouts/${id}/${action}`, {
        token,
        ...(action === 'reject' ? { body: { reason: 'not agreed' } } : {}),
      }),
    get: async (id) => answered(await bank.get(`/v1/payouts/${id}`), 200).json,
    events: async (id) =>
      (await walk(bank, '/v1/events?limit=100'))
        .map(({ type, data }) => ({ type: text(type), object: object(object(data).object) }))
        .filter((event) => id === undefined || event.object.id === id)
        .reverse(),
    movements: () => walk(bank, `/v1/accounts/${source.id}/movements?limit=100`),
  };
}

/** Sets the fee of each payout from now on. Returns the account that gets it. */
export async function charge({ bank }: PayoutBank, flatRaw: bigint): Promise<Account> {
  const { database } = bank.api.core;
  const tenantId = bank.tenant.tenant.id;
  const fees = await bank.account();
  await setFeeAccount({ database, clock: systemClock }, tenantId, fees.id, TEST_ACTOR);
  await setFee(database, { tenantId, operation: 'payout', flatRaw });
  return fees;
}

export function statusesOf(shown: Json): string[] {
  return list(shown.status_transitions).map(({ status }) => text(status));
}

/**
 * The log has one event for each transition that has one, each shows what GET showed at that moment, and what GET shows now
 * tells the same story.
 */
export async function assertSameStory(
  own: PayoutBank,
  id: string,
  known?: readonly PayoutEvent[],
): Promise<void> {
  const shown = await own.get(id);
  const events = known?.filter(({ object: seen }) => seen.id === id) ?? (await own.events(id));
  const told = statusesOf(shown).filter(
    (status) => status !== 'pending_approval' && status !== 'in_progress',
  );
  assert.deepEqual(
    events.map(({ type }) => type),
    told.map((status) => `payout.${status}`),
  );
  for (const { type, object: seen } of events) {
    assert.equal(`payout.${text(seen.status)}`, type);
    const all = list(shown.status_transitions);
    const until = all.findIndex(({ status }) => status === seen.status) + 1;
    assert.deepEqual(seen.status_transitions, all.slice(0, until), 'the transitions up to then');
  }
  assert.equal(statusesOf(shown).at(-1), shown.status);
  if (told.at(-1) === shown.status) assert.deepEqual(events.at(-1)?.object, shown);
}

export async function rowOf(
  { database }: Pick<TestDatabase, 'database'>,
  id: Uuid,
): Promise<Payout> {
  const row = await database.reader.find(payouts, { id });
  assert(row !== undefined);
  return row;
}

/** The messages between the service and the rail about the payout, oldest first. */
export function railEventsOf(
  { database }: Pick<TestDatabase, 'database'>,
  payoutId: Uuid,
): Promise<PayoutRailEvent[]> {
  return database.reader.select(payoutRailEvents, { payoutId }, { orderBy: ['id'] });
}

const FORGOTTEN_RAIL = 'http:of-another-test';

/** Every rail is as never asked, and no earlier payout is the simulated one's. */
export async function forgetRails(db: TestDatabase): Promise<void> {
  await db.change('DELETE FROM rail_breakers');
  await db.change(`UPDATE payouts SET rail='${FORGOTTEN_RAIL}' WHERE rail='simulated'`);
}

/** The parts of the worker that reach rails, without worker and Temporal. */
export function railsOf(
  { database }: Pick<TestDatabase, 'database'>,
  given: {
    readonly clock?: Clock;
    readonly monotonic?: () => number;
    readonly rail?: Rail;
    readonly rails?: Rails;
    readonly windowMs?: number;
    readonly encryptionKeys?: Keyring;
    readonly breaker?: BreakerOptions;
  } = {},
) {
  const { clock = systemClock } = given;
  const { writer, faults } = openWriter(database, {}, clock);
  const simulated = new SimulatedRail(database, clock, SIMULATED);
  const silent: string[] = [];
  const contradicted: string[] = [];
  const breakers = new RailBreakers(database, clock, given.breaker);
  const observer = {
    called: () => undefined,
    unresponsive: (_: string, message: string) => silent.push(message),
    contradicted: (rail: string) => contradicted.push(rail),
    ended: () => undefined,
  };
  const rails = given.rails ?? new Map([[SIMULATED, given.rail ?? simulated]]);
  const calls = new RailCalls({ breakers, database, writer, clock, rails, observer });
  const { encryptionKeys = TEST_KEYRING, monotonic = () => performance.now() } = given;
  const submitter = new PayoutSubmitter({ calls, encryptionKeys, monotonic });
  /** Whether or not the rail answers. */
  const submissions = {
    submit: (id: Uuid) => submitter.submit(id, { ignoresBreaker: true }),
    poll: (id: Uuid) => submitter.poll(id, { ignoresBreaker: true }),
  };
  const poller = {
    pollDue: (rail: string, limit: number) =>
      pollDue(calls, rail, given.windowMs ?? DEFAULT_RETURN_WINDOW_MS, limit),
  };
  const notifier = NOBODY;
  const approvals = new Approvals(payoutApproval, { writer, database, clock, notifier });
  const onCallback = () => undefined;
  const keys = new Map();
  const callbacks = new RailCallbacks({
    ...{ database, writer, clock, notifier, keys, onCallback, observer },
  });
  const recovery = new RailRecovery({ calls, submitter, outbox: new Outbox(database, clock) });
  const flagged = (status: Parameters<typeof flagStuck>[1]) => (olderMs: number, limit: number) =>
    flagStuck({ database, writer, clock }, status, olderMs, limit);
  const stuck = { flagSilent: flagged('in_progress'), flagUnsubmitted: flagged('approved') };
  const ours = {
    calls,
    submitter,
    submissions,
    poller,
    approvals,
    callbacks,
    breakers,
    recovery,
    stuck,
  };
  return { ...ours, simulated, writer, faults, silent, contradicted };
}

interface PayoutTests {
  /** The rails of a worker, of which this one answers so. */
  readonly over: (...answers: Answer[]) => ReturnType<typeof railsOf>;
  /** A payout that was submitted to its rail, which answered so. */
  readonly given: (answer?: Answer, wanted?: Partial<WantedPayout>) => Promise<Uuid>;
  /** A callback of the rail, under an id of its own. Answers its effect. */
  readonly tell: (id: Uuid, ...report: Parameters<typeof say>) => Promise<string>;
  readonly standing: (id: Uuid) => Promise<[Payout['status'], Payout['stuckReason']]>;
}

/**
 * A database and an API for the tests of a block, and a new bank for each test. At the end the ledger is sound. `rail`:
 * the one that payouts take, if the settings say so.
 */
export function usePayouts(
  assign: (opened: { db: TestDatabase; api: TestApi; own: PayoutBank }) => void,
  { rail = SIMULATED, settings = {} }: { rail?: string; settings?: Record<string, string> } = {},
): PayoutTests {
  let db: TestDatabase;
  let api: TestApi;
  let own: PayoutBank;
  const open = async () => {
    own = await openPayoutBank(api);
    assign({ db, api, own });
  };
  before(async () => {
    db = await testDatabase();
    api = await startTestApi(db, settings);
    await open();
  });
  beforeEach(open);
  after(async () => {
    await assertLedgerSound(db.database);
    await api.stop();
  });
  const over: PayoutTests['over'] = (...answers) =>
    railsOf(db, { rails: new Map([[rail, new ScriptedRail(...answers)]]) });
  return {
    over,
    given: async (answer = 'silent', wanted = {}) => {
      const id = await own.pay(undefined, wanted);
      await over(answer).submissions.submit(id);
      return id;
    },
    tell: (key, ...report) =>
      over().callbacks.report(rail, { key, ...say(...report), callbackId: randomUUID() }),
    standing: async (id) => {
      const { status, stuckReason } = await rowOf(db, id);
      return [status, stuckReason];
    },
  };
}

/** The payout as a reader sees it now. */
export async function seen(db: TestDatabase, id: Uuid): Promise<SeenPayout> {
  return readSeen(db.database.reader, await rowOf(db, id));
}

/** Hands it to its rail, which says nothing more, and raises it as a worker does in time. */
export async function submitAndRaise(
  db: TestDatabase,
  id: Uuid,
): Promise<ReturnType<typeof railsOf>> {
  const rails = railsOf(db);
  await rails.submissions.submit(id);
  await rails.stuck.flagSilent(-1_000, 1_000);
  return rails;
}

/** Two operators settle it so. */
export async function resolve(
  { writer, calls }: ReturnType<typeof railsOf>,
  db: TestDatabase,
  id: Uuid,
  outcome: PayoutResolution['outcome'],
  quietMs = 86_400_000,
): Promise<Payout> {
  await proposeResolution(writer, await seen(db, id), {
    outcome,
    reason: 'asked at the bank',
    by: someone('maria'),
  });
  return approveResolution({ calls, quietMs: () => quietMs }, await seen(db, id), someone('leo'));
}

/** How often the simulated rail paid each of these. */
export async function paidTimes(db: TestDatabase, ids: readonly string[]): Promise<number[]> {
  const rows = await db.sql(
    `SELECT HEX(payment_key) AS payment_key, COUNT(*) AS times FROM simulated_rail_actions
     WHERE payment_key IN (${ids.map(idLiteral).join(',')}) GROUP BY payment_key`,
  );
  const times = new Map(
    rows.map((row) => [String(row.payment_key).toLowerCase(), Number(row.times)]),
  );
  return ids.map((id) => times.get(id.replaceAll('-', '')) ?? 0);
}

/** Resolves when GET shows one of these. */
export function untilStatus(
  own: PayoutBank,
  id: string,
  statuses: readonly string[],
  limitMs = 120_000,
): Promise<Json> {
  return until(
    `payout ${id} is ${statuses.join(' or ')}`,
    async () => {
      const shown = await own.get(id);
      return statuses.includes(text(shown.status)) ? shown : null;
    },
    { limitMs },
  );
}
