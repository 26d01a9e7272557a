import assert from 'node:assert/strict';
import { createConnection } from 'mysql2/promise';
import type { Uuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { HttpRail } from '../../src/payouts/rails/http.js';
import { run } from '../ops/ops.js';
import { SignedInPeople } from '../ops/signed-in.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { LEAST } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { until } from '../support/temporal.js';
import { balanceOf } from '../support/world.js';
import { MisbehavingGateway } from './misbehaving-gateway.js';
import {
  assertSameStory,
  openPayoutBank,
  type PayoutBank,
  railsOf,
  resolve,
  rowOf,
  TEST_KEYRING,
} from './support.js';

const [KEY] = TEST_KEYRING;
const RAIL = 'http:bank-a';
const KEYS = `bank-a=${KEY.id}:${KEY.secret.toString('base64')}`;

const db = await testDatabase();

describe('a payout whose money was given back', () => {
  let api: TestApi;
  let own: PayoutBank;
  let gateway: MisbehavingGateway;
  let people: SignedInPeople;
  let rails: ReturnType<typeof railsOf>;
  let id: Uuid;
  let elapsedMs = 0;

  before(async () => {
    people = new SignedInPeople(db);
    await people.signIn('leo', ['resolve']);
    gateway = await MisbehavingGateway.start();
    const environment = {
      PAYOUT_RAILS: `*=${RAIL}`,
      PAYOUT_RAIL_URLS: `bank-a=${gateway.url}`,
      PAYOUT_RAIL_KEYS: KEYS,
    };
    api = await startTestApi(db, environment);
  });

  beforeEach(async () => {
    own = await openPayoutBank(api);
    id = await own.pay();
    const rail = new HttpRail('bank-a', gateway.url, TEST_KEYRING, systemClock);
    elapsedMs = 0;
    rails = railsOf(db, { rails: new Map([[RAIL, rail]]), monotonic: () => elapsedMs });
  });

  after(async () => {
    people.remove();
    gateway.stop();
  });

  const givenBack = async (): Promise<void> => {
    await resolve(rails, db, id, 'failed');
    assert.equal((await rowOf(db, id)).status, 'failed');
    assert.deepEqual(await balanceOf(db.database, own.source.id), {
      available: 10_000n * LEAST,
      held: 0n,
    });
  };
  const neverPaid = async (): Promise<void> => {
    assert(!gateway.paid.includes(id), 'it was paid');
    const { status, stuckSince } = await rowOf(db, id);
    assert.deepEqual([status, stuckSince], ['failed', null]);
    await assertSameStory(own, id);
  };
  const times = (): number => gateway.given.filter((key) => key === id).length;
  const lostOnce = async (): Promise<void> => {
    gateway.loseNext('submission');
    await rails.submissions.submit(id);
    assert.equal(times(), 1);
  };

  it('a payout whose money was given back is not handed over again by an inquiry that hung meanwhile', async () => {
    await lostOnce();
    const gate = gateway.hold('inquiry');
    const asking = rails.submissions.poll(id);
    await gate.arrived;
    await givenBack();
    gate.open();
    await asking;
    assert.equal(times(), 1);
    await neverPaid();
  });

  it('a payout whose money was given back is not handed over again by an operator whose retry hung meanwhile', async () => {
    await lostOnce();
    const gate = gateway.hold('inquiry');
    const retrying = run('src/ops/main.js', ['payouts', 'retry', id, '--json'], {
      ...people.env,
      PAYOUT_RAIL_URLS: `bank-a=${gateway.url}`,
      PAYOUT_RAIL_ALLOWED_HOSTS: 'http://127.0.0.1:*',
      PAYOUT_RAIL_KEYS: KEYS,
    });
    await gate.arrived;
    await givenBack();
    gate.open();
    const { code, stderr } = await retrying;
    assert.equal(code, 0, stderr);
    assert.equal(times(), 1);
    await neverPaid();
  });

  it('a payout whose money was given back is refused by the rail when an abandoned activity still had an order on its way', async () => {
    const gate = gateway.hold('submission');
    const abandoned = rails.submissions.submit(id);
    await gate.arrived;
    await givenBack();
    gate.open();
    await abandoned;
    await neverPaid();
  });

  for (const [how, stoppedMs, orders] of [
    ['is refused by the rail to a worker that stopped between its begin and the call', 0, 1],
    ['is not handed over by a worker that stopped there for long', 60_000, 0],
  ] as const)
    it(how, async () => {
      const connection = await createConnection({ uri: db.adminUrl });
      try {
        // What the order is made of is read between the two.
        await connection.query(`LOCK TABLES ${db.name}.payout_secrets WRITE`);
        const submitting = rails.submissions.submit(id);
        await until('it has begun', async () => (await rowOf(db, id)).status === 'in_progress');
        await givenBack();
        elapsedMs = stoppedMs;
        await connection.query('UNLOCK TABLES');
        await submitting;
      } finally {
        await connection.end();
      }
      assert.equal(times(), orders);
      await neverPaid();
    });
});
