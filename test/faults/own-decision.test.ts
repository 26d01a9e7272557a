import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../../src/db/entities/parties.js';
import { refuse } from '../../src/ledger/writer/types.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, object, text } from '../support/bank.js';
import { openDatabase, testDatabase } from '../support/database.js';
import { openGuarded } from '../support/guarded.js';
import { move, reserve, settle, testKind } from '../support/kinds.js';
import { type Fate, isCommit, Proxy } from '../support/proxy.js';
import {
  assertLedgerSound,
  makeAccount,
  makeTenant,
  openWriter,
  type WatchedWriter,
} from '../support/world.js';

const db = await testDatabase();

describe('a COMMIT that was never answered', () => {
  let proxy: Proxy;

  before(async () => {
    proxy = await Proxy.open(db.url);
  });

  /** The next such COMMIT meets this fate; resolves when it has. */
  const fateOfNextCommit = (
    fate: Fate,
    isSuch: (data: Buffer) => boolean = isCommit,
  ): Promise<void> =>
    new Promise((resolve) => {
      proxy.fateOf = (data) => {
        if (!isSuch(data)) return 'pass';
        proxy.fateOf = () => 'pass';
        resolve();
        return fate;
      };
    });

  afterEach(async () => {
    proxy.fateOf = () => 'pass';
    await assertLedgerSound(db.database);
  });

  after(() => proxy.close());

  describe('of an approval that was rolled back', () => {
    /** The log of requests and the tokens' last uses are committed by themselves now and then; an approval with its events. */
    const withEvents = (data: Buffer): boolean => isCommit(data) && data.includes('INSERT INTO');
    let healthy: TestApi;
    /** Behind the proxy. */
    let shaky: TestApi;
    /** The same, which gives up in seconds. */
    let hasty: TestApi;

    before(async () => {
      healthy = await startTestApi(db);
      shaky = await startTestApi({ url: proxy.through(db.url) });
      hasty = await startTestApi({ url: proxy.through(db.url) }, { COMMAND_TIMEOUT_MS: '2000' });
    });
    after(() => Promise.all([healthy, shaky, hasty].map((api) => api.stop())));

    it('an approval that was rolled back at an unanswered COMMIT never passes off its own answer as what the same key did in another process', async () => {
      const own = await openGuarded(healthy, { approvals: 2 });
      const [{ id }, key] = [await own.pend(), randomUUID()];
      const path = `/v1/transfers/${text(id)}/approve`;
      const cut = fateOfNextCommit('cut_before', withEvents);
      const lost = shaky.request('POST', path, { token: own.tokens.approver, key });
      await cut;
      // The first approval is another member's; the same key then gives the second, elsewhere.
      const first = answered(await own.act('approve', id, 'second'), 200).json;
      assert.deepEqual([first.status, object(first.approval).received], ['pending_approval', 1]);
      const second = answered(await own.act('approve', id, 'approver', { key }), 200);
      assert.equal(second.json.status, 'completed');

      const told = answered(await lost, 200);
      assert.deepEqual(told.json, second.json, 'what was rolled back was told as done');
      assert.equal(told.headers.get('svc-idempotent-replayed'), 'true');
    });

    it('an approval that was rolled back at an unanswered COMMIT has an unknown outcome, not that of another member, if the key did nothing elsewhere', async () => {
      const own = await openGuarded(healthy, { approvals: 1 });
      const [{ id }, key] = [await own.pend(), randomUUID()];
      const cut = fateOfNextCommit('cut_before', withEvents);
      const lost = hasty.request('POST', `/v1/transfers/${text(id)}/approve`, {
        token: own.tokens.approver,
        key,
      });
      await cut;
      assert.equal(answered(await own.act('approve', id, 'second'), 200).json.status, 'completed');
      answered(await own.act('approve', id, 'approver', { key }), 409, 'invalid_state');
      answered(await lost, 503, 'ledger_unavailable');
    });
  });

  describe('of a group', () => {
    let safe: WatchedWriter;
    let payer: Account;
    let receiver: Account;
    let shaky: WatchedWriter;
    let close: () => Promise<void>;

    before(async () => {
      safe = openWriter(db.database);
      const tenant = await makeTenant(db.database);
      const deps = { database: db.database, writer: safe.writer };
      payer = await makeAccount(deps, tenant, { funds: { COPM: 1_000n } });
      receiver = await makeAccount(deps, tenant);
      const database = openDatabase(proxy.through(db.url));
      shaky = openWriter(database, { commandTimeoutMs: 2_000 });
      close = () => database.close();
    });
    after(() => close());

    it('a group that was committed by an unanswered COMMIT gives every answer, even that of a command that bound no key', async () => {
      const cut = fateOfNextCommit('cut_after');
      const unbound = move({
        from: payer,
        to: receiver,
        raw: 1n,
        spoil: () => refuse({ code: 'invalid_state', message: 'not now' }, false),
      });
      const [moved, refused] = await Promise.all([
        shaky.writer.submit(testKind, move({ from: payer, to: receiver, raw: 1n })),
        shaky.writer.submit(testKind, unbound),
        cut,
      ]);
      assert(moved.outcome.done && !moved.replayed);
      assert(!refused.outcome.done);
      assert.equal(refused.outcome.refusal.code, 'invalid_state');
    });

    it('a group that was rolled back at an unanswered COMMIT gives no answer, though the resource is the one that it would have changed', async () => {
      const held = await safe.writer.submit(
        testKind,
        reserve({ from: payer, to: receiver, raw: 5n }),
      );
      assert(held.outcome.done);
      const reject = settle(held.outcome.resource, 'rejected');
      const complete = { ...settle(held.outcome.resource, 'completed'), ...pick(reject) };
      const cut = fateOfNextCommit('cut_before');
      const lost = shaky.writer.submit(testKind, reject);
      await cut;
      await sleep(20);
      const elsewhere = await safe.writer.submit(testKind, complete);
      assert(elsewhere.outcome.done && elsewhere.outcome.resource.status === 'completed');
      const told = await lost;
      assert(told.outcome.done && told.replayed);
      assert.equal(told.outcome.resource.status, 'completed');
    });
  });
});

/** The name and content of a request, which two processes can decide at different times and so differently. */
function pick({
  key,
  fingerprint,
}: ReturnType<typeof settle>): Pick<ReturnType<typeof settle>, 'key' | 'fingerprint'> {
  return { key, fingerprint };
}
