import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { instant, systemClock } from '../../src/core/instant.js';
import { ApiError } from '../../src/core/errors.js';
import {
  type RequestOptions,
  startTestApi,
  type TestAnswer,
  type TestApi,
} from '../support/api.js';
import { answered, text } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { describedApi } from '../support/described.js';
import {
  approvalsOf,
  assertEnded,
  EXPIRES_IN_S,
  type GuardedBank,
  openGuarded,
  REASON,
  THRESHOLD,
  type Verb,
} from '../support/guarded.js';
import { type Fate, isCommit, Proxy } from '../support/proxy.js';
import { assertLedgerSound } from '../support/world.js';

const VERBS: readonly Verb[] = ['approve', 'reject', 'cancel'];
const ENDS = {
  approve: { status: 'completed', rejection: null },
  reject: { status: 'rejected', rejection: { code: 'rejected', reason: REASON } },
  cancel: { status: 'rejected', rejection: { code: 'canceled', reason: null } },
} as const;
const EACH = 4;

const db = await testDatabase();

describe('while MySQL goes away in the middle, what ends a transfer that waits', () => {
  let healthy: TestApi;
  /** Behind the proxy. */
  let shaky: TestApi;
  let proxy: Proxy;
  let own: GuardedBank;
  let late: number;

  before(async () => {
    const clock = { clock: () => instant(systemClock() + late) };
    late = 0;
    proxy = await Proxy.open(db.url);
    healthy = await describedApi(await startTestApi(db, {}, clock));
    const behind = { url: proxy.through(db.url) };
    shaky = await describedApi(await startTestApi(behind, { COMMAND_TIMEOUT_MS: '500' }, clock));
  });

  beforeEach(async () => {
    late = 0;
    own = await openGuarded(healthy);
  });

  afterEach(async () => {
    proxy.fateOf = () => 'pass';
    proxy.allow();
    await assertLedgerSound(db.database);
  });

  after(async () => {
    await Promise.all([proxy.close(), healthy.stop()]);
  });

  const token = (verb: Verb): string => own.tokens[verb === 'cancel' ? 'creator' : 'approver'];
  const ask = (api: TestApi, verb: Verb, id: unknown, key: string): Promise<TestAnswer> => {
    const options: RequestOptions = { token: token(verb), key };
    const body = verb === 'reject' ? { body: { reason: REASON } } : {};
    return api.request('POST', `/v1/transfers/${text(id)}/${verb}`, { ...options, ...body });
  };

  for (const fate of ['cut_before', 'cut_after', 'cut_racing'] as const)
    for (const verb of VERBS)
      it(`while MySQL goes away in the middle, what ends a transfer that waits: ${verb}, its COMMIT ${fate.replace('_', ' ')}: 200 is true, 503 is unknown, and asked again it has one end`, async () => {
        const before = await own.money();
        const { status, rejection } = ENDS[verb];
        cut(fate);
        for (let round = 0; round < EACH; round += 1) {
          const [{ id }, key] = [await own.pend(), randomUUID()];
          const first = await ask(shaky, verb, id, key);
          if (first.status !== 200) answered(first, 503, 'ledger_unavailable');
          const again = await ask(healthy, verb, id, key);
          // Reject and cancel have no key: what they did is there to be seen.
          if (again.status === 409)
            assert.equal(answered(again, 409, 'invalid_state').details?.current, status);
          else assert.equal(answered(again, 200).json.status, status);
          if (verb !== 'approve' && first.status === 200) assert.equal(again.status, 409);
          await assertEnded(own, id, status, rejection);
        }
        const left = verb === 'approve' ? BigInt(EACH) * THRESHOLD : 0n;
        assert.deepEqual(await own.money(), { available: before.available - left, held: 0n });
        assert.equal(await own.bank.available(own.receiver), left);
      });

  /** Every second COMMIT, so that what is asked before it goes through. */
  function cut(fate: Fate): void {
    let commits = 0;
    proxy.fateOf = (data) => (isCommit(data) && (commits += 1) % 2 === 1 ? fate : 'pass');
  }

  it('the timer, its COMMIT cut: it is unknown or expired, and asked again expired, once', async () => {
    for (const fate of ['cut_before', 'cut_after', 'cut_racing'] as const) {
      late = 0;
      // Of its own: what is posted to an account is never dated before the last posting to it.
      own = await openGuarded(healthy);
      const { id } = await own.pend();
      late = EXPIRES_IN_S * 1_000;
      cut(fate);
      const first: unknown = await approvalsOf(shaky)
        .expire(text(id))
        .catch((failure: unknown) => failure);
      if (first instanceof ApiError) assert.equal(first.refusal.code, 'ledger_unavailable');
      assert.equal((await approvalsOf(healthy).expire(text(id))).status, 'expired');
      await assertEnded(own, id, 'expired');
    }
  });

  it('while MySQL goes away in the middle, what ends a transfer that waits is 503 ledger_unavailable with nobody to ask, and nothing has happened; then it acts once', async () => {
    const ids = await Promise.all(VERBS.map(async () => (await own.pend()).id));
    const keys = VERBS.map(() => randomUUID());
    const all = (api: TestApi): Promise<TestAnswer[]> =>
      Promise.all(VERBS.map((verb, index) => ask(api, verb, ids[index], keys[index]!)));
    proxy.refuse();
    for (const answer of await all(shaky)) answered(answer, 503, 'ledger_unavailable');
    for (const id of ids) assert.equal((await own.read(id)).status, 'pending_approval');
    proxy.allow();
    for (const answer of await all(healthy)) answered(answer, 200);
    for (const [index, verb] of VERBS.entries())
      await assertEnded(own, ids[index], ENDS[verb].status, ENDS[verb].rejection);
  });

  it('while MySQL goes away in the middle, what ends a transfer that waits and what begins one: 503 is unknown, and the same request with the same key has one hold', async () => {
    const before = await own.money();
    const wanted = { from: own.guarded, to: own.receiver, raw: THRESHOLD };
    for (const fate of ['cut_before', 'cut_after', 'cut_racing'] as const) {
      const key = randomUUID();
      cut(fate);
      const body = {
        source_account: wanted.from.id,
        destination: { type: 'account', account_id: wanted.to.id },
        amount: { raw: wanted.raw.toString(), asset: 'COPM' },
      };
      const first = await shaky.request('POST', '/v1/transfers', {
        token: own.tokens.creator,
        key,
        body,
      });
      if (first.status !== 202) answered(first, 503, 'ledger_unavailable');
      const again = await own.bank.send(wanted, { token: own.tokens.creator, key });
      if (first.status === 202 || again.status === 200) answered(again, 200);
      else answered(again, 202);
    }
    assert.deepEqual(await own.money(), {
      available: before.available - 3n * THRESHOLD,
      held: 3n * THRESHOLD,
    });
  });
});
