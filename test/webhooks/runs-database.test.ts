import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { uuid } from '../../src/db/columns.js';
import { transact } from '../../src/db/transact.js';
import type { Landed, RunOf } from '../../src/webhooks/drain/landed.js';
import { takeLease } from '../../src/webhooks/drain/lease.js';
import type { WebhookDeps } from '../../src/webhooks/deps.js';
import { startTestApi, type TestApi } from '../support/api.js';
import type { TestDatabase } from '../support/database.js';
import { FakeReceiver } from '../support/receiver.js';
import { hooked, ownDatabase, partsOf } from './support.js';

describe('what runs share of the database', () => {
  const receiver = new FakeReceiver();
  let db: TestDatabase;
  let api: TestApi;
  let deps: WebhookDeps;

  before(async () => {
    db = await ownDatabase('runs_database');
    api = await startTestApi(db, {}, { receiver });
    deps = partsOf(api, receiver);
  });
  after(async () => {
    await api.stop();
    await db.remove();
  });

  /** A run of this endpoint, whoever was at it. */
  async function begin(id: Uuid): Promise<RunOf> {
    await db.change(`UPDATE webhook_endpoints SET lease_until=NULL WHERE id=${uuid.literal(id)}`);
    const state = await transact(deps.database, (transaction) =>
      takeLease(transaction, id, deps.clock()),
    );
    assert(typeof state !== 'string');
    return state.endpoint;
  }

  const nothing = (run: RunOf): Landed => ({
    ...{
      run,
      through: null,
      ended: [],
      untried: [],
      goesOn: true,
      isWorkflow: false,
      random: () => 0.5,
    },
  });

  it('tells a run that it was overtaken, even together with the one that overtook it', async () => {
    const [first, own] = [await hooked(api), await hooked(api)];
    const [leader, stale, fresh] = [
      await begin(first.id),
      await begin(own.id),
      await begin(own.id),
    ];
    const { runs } = deps;
    const stored = await Promise.all([leader, stale, fresh].map((run) => runs.store(nothing(run))));
    assert.deepEqual(
      stored.map((one) => one?.state.endpoint.fence ?? null),
      [leader.fence, null, fresh.fence],
    );
    const steps = await Promise.all(
      [leader, stale, fresh].map((run) => runs.step({ run, room: 10 })),
    );
    assert.equal(steps[1], null);
    assert.deepEqual(await Promise.all([stale, fresh].map((run) => runs.renew(run))), [
      false,
      true,
    ]);
  });

  it('delays nobody because of a run whose endpoint is being changed, which waits', async () => {
    const [first, changed, other] = [await hooked(api), await hooked(api), await hooked(api)];
    const [leader, locked, free] = [
      await begin(first.id),
      await begin(changed.id),
      await begin(other.id),
    ];
    const ends: string[] = [];
    const store = (name: string, run: RunOf): Promise<void> =>
      deps.runs
        .store(nothing(run))
        .then((one) => void ends.push(one === null ? 'overtaken' : name));
    let all: Promise<unknown> = Promise.resolve();
    await deps.database.withTransaction(async (transaction) => {
      await transaction.query(
        `SELECT id FROM webhook_endpoints WHERE id=${uuid.literal(changed.id)} FOR UPDATE`,
      );
      const others = [store('leader', leader), store('free', free)];
      all = store('locked', locked);
      await Promise.all(others);
      assert.deepEqual(await deps.runs.step({ run: locked, room: 10 }), 'far');
      assert.equal(await deps.runs.renew(locked), false);
    });
    await all;
    assert.deepEqual(ends, ['leader', 'free', 'locked']);
  });
});
