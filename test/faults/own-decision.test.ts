import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { answered, object, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { openGuarded } from '../helpers/guarded.js';
import { type Fate, isCommit, Proxy } from '../helpers/proxy.js';
import { assertLedgerSound } from '../helpers/world.js';

const db = await testDatabase();
const proxy = await Proxy.open(db.url);

describe('a COMMIT that was never answered', () => {
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

  describe('of an approval whose transaction was rolled back', () => {
    /** The log of requests and the tokens' last uses are committed by themselves now and then; an approval with its events. */
    const withEvents = (data: Buffer): boolean => isCommit(data) && data.includes('INSERT INTO');
    let healthy: TestApi;
    /** Behind the proxy. */
    let shaky: TestApi;
    /** A second one, which gives up in seconds. */
    let hasty: TestApi;

    before(async () => {
      healthy = await startTestApi(db);
      shaky = await startTestApi({ url: proxy.through(db.url) });
      hasty = await startTestApi({ url: proxy.through(db.url) }, { COMMAND_TIMEOUT_MS: '2000' });
    });
    after(() => Promise.all([healthy, shaky, hasty].map((api) => api.stop())));

    it("an approval that was rolled back at an unanswered COMMIT never returns its own result in place of another process's result for the key", async () => {
      const own = await openGuarded(healthy, { approvals: 2 });
      const [{ id }, key] = [await own.createPending(), randomUUID()];
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

    it("an approval that was rolled back at an unanswered COMMIT has an unknown outcome, not the outcome of another member's approval", async () => {
      const own = await openGuarded(healthy, { approvals: 1 });
      const [{ id }, key] = [await own.createPending(), randomUUID()];
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
});
