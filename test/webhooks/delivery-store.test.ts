import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { uuid } from '../../src/db/columns.js';
import { transact } from '../../src/db/transact.js';
import type { WebhookDeps } from '../../src/webhooks/deps.js';
import { claim } from '../../src/webhooks/endpoint-claims.js';
import type { Claim, RunResults } from '../../src/webhooks/results.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { ownDatabase, type TestDatabase } from '../support/database.js';
import { FakeReceiver } from '../support/receiver.js';
import { hooked, partsOf } from './support.js';

describe('the stored results of runs', () => {
  const receiver = new FakeReceiver();
  let db: TestDatabase;
  let api: TestApi;
  let deps: WebhookDeps;

  before(async () => {
    db = await ownDatabase('delivery_store');
    api = await startTestApi(db, {}, { receiver });
    deps = partsOf(api, receiver);
  });
  after(async () => {
    await db.remove();
  });

  /** A claim on the endpoint, whichever run had it. */
  async function claimed(id: Uuid): Promise<Claim> {
    await db.change(`UPDATE webhook_endpoints SET lease_until=NULL WHERE id=${uuid.literal(id)}`);
    const any = { isFailing: false, isBusy: false, isProbed: false };
    const [one] = await transact(deps.database, (transaction) =>
      claim(transaction, [{ id, tenantId: id, cursor: null, ...any }], deps.clock()),
    );
    assert(one !== undefined);
    return one.state.endpoint;
  }

  const nothing = (own: Claim): RunResults => ({
    claim: own,
    through: null,
    ended: [],
    begun: [],
    then: 'keep',
  });

  it('the stored results of runs are refused if another run has taken the endpoint, even together with its results', async () => {
    const [first, own] = [await hooked(api), await hooked(api)];
    const [leader, stale, fresh] = [
      await claimed(first.id),
      await claimed(own.id),
      await claimed(own.id),
    ];
    const stored = await Promise.all(
      [leader, stale, fresh].map((one) => deps.store.store(nothing(one))),
    );
    assert.deepEqual(
      stored.map((one) => one?.state.endpoint.fence ?? null),
      [leader.fence, null, fresh.fence],
    );
    assert.equal(await deps.store.recover(stale), null);
    assert.notEqual(await deps.store.recover(fresh), null);
  });

  it('the stored results of runs of an endpoint that is being changed wait for that, and delay no others', async () => {
    const [first, changed, other] = [await hooked(api), await hooked(api), await hooked(api)];
    const [leader, locked, free] = [
      await claimed(first.id),
      await claimed(changed.id),
      await claimed(other.id),
    ];
    const ends: string[] = [];
    const store = (name: string, own: Claim): Promise<void> =>
      deps.store
        .store(nothing(own))
        .then((one) => void ends.push(one === null ? 'overtaken' : name));
    let all: Promise<unknown> = Promise.resolve();
    await deps.database.withTransaction(async (transaction) => {
      await transaction.query(
        `SELECT id FROM webhook_endpoints WHERE id=${uuid.literal(changed.id)} FOR UPDATE`,
      );
      const others = [store('leader', leader), store('free', free)];
      all = store('locked', locked);
      await Promise.all(others);
    });
    await all;
    assert.deepEqual(ends, ['leader', 'free', 'locked']);
  });
});
