import assert from 'node:assert/strict';
import { freezeAccount, unfreezeAccount } from '../../src/accounts/status.js';
import type { Uuid } from '../../src/core/ids.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { outbox } from '../../src/db/entities/outbox.js';
import { railBreakers } from '../../src/db/entities/rails.js';
import { insertSql } from '../../src/db/statements.js';
import { newBreaker } from '../../src/payouts/breaker.js';
import { startTestApi } from '../support/api.js';
import { answered, LEAST } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { balanceOf, TEST_ACTOR } from '../support/world.js';
import { ScriptedRail, say } from './scripted-rail.js';
import {
  assertSameStory,
  forgetRails,
  openPayoutBank,
  type PayoutBank,
  railsOf,
  rowOf,
} from './support.js';

const DECIDED = { actor: TEST_ACTOR, reason: null };

const db = await testDatabase();
const api = await startTestApi(db);

describe('a payout of a frozen account', () => {
  let own: PayoutBank;
  let id: Uuid;

  beforeEach(async () => {
    await forgetRails(db);
    own = await openPayoutBank(api);
    id = await own.pay();
  });

  const freeze = () => freezeAccount(db.deps, own.source.id, DECIDED);
  const unfreeze = () => unfreezeAccount(db.deps, own.source.id, DECIDED);
  const told = () => db.database.reader.select(outbox, { resourceType: 'payout', resourceId: id });
  const over = (...words: ConstructorParameters<typeof ScriptedRail>) => {
    const rail = new ScriptedRail(...words);
    return { rail, ...railsOf(db, { rail }) };
  };

  it('a payout of a frozen account that was approved before is not handed to its rail, and can be canceled', async () => {
    const { rail, queue } = over(say('completed'));
    await freeze();
    for (let times = 0; times < 2; times += 1) {
      const { payout, isHeld, isFrozen } = await queue.submit(id);
      assert.deepEqual(
        [payout.status, payout.attempts, isHeld, isFrozen],
        ['approved', 0, true, true],
      );
    }
    assert.equal(rail.given.length, 0);
    assert.equal((await balanceOf(db.database, own.source.id)).held, LEAST);
    answered(await own.act('cancel', id, own.bank.token), 200);
    assert.equal((await balanceOf(db.database, own.source.id)).held, 0n);
    await assertSameStory(own, id);
  });

  it('a payout of a frozen account is handed over when the account may send again, and its workflow is told at once', async () => {
    const { rail, queue } = over(say('completed'));
    await freeze();
    await queue.submit(id);
    const before = (await told()).length;
    await unfreeze();
    assert.equal((await told()).length, before + 1);
    const { payout, isHeld } = await queue.submit(id);
    assert.deepEqual([payout.status, isHeld, rail.given.length], ['completed', false, 1]);
    await assertSameStory(own, id);
  });

  it('a payout of a frozen account that was handed over before is asked about, and not given again before the account may send', async () => {
    const { rail, queue } = over('silent', null, null, say('completed'));
    await queue.submit(id);
    await freeze();
    const { payout, isHeld, isFrozen } = await queue.poll(id);
    assert.deepEqual([payout.status, isHeld, isFrozen], ['in_progress', true, true]);
    assert.deepEqual([rail.given.length, rail.asked.length], [1, 1]);
    const before = (await told()).length;
    await unfreeze();
    assert.equal((await told()).length, before + 1);
    assert.equal((await queue.poll(id)).payout.status, 'completed');
    assert.deepEqual([rail.given.length, rail.asked.length], [2, 2]);
    await assertSameStory(own, id);
  });

  it('a payout of a frozen account that its rail has taken is asked about as usual, and not told of when it is unfrozen', async () => {
    const { queue } = over(say('accepted'), say('accepted'));
    await queue.submit(id);
    await freeze();
    assert.equal((await queue.poll(id)).isHeld, false);
    const before = (await told()).length;
    await unfreeze();
    assert.equal((await told()).length, before);
  });

  it('a payout of a frozen account is not what a silent rail is tried with', async () => {
    const { rail, recovery } = over(say('completed'));
    await freeze();
    const another = await openPayoutBank(api);
    const next = await another.pay();
    const long = instant(systemClock() - 3_600_000);
    const open = { ...newBreaker('simulated', long), state: 'open', probeAt: long } as const;
    await db.change(insertSql(railBreakers, [open]));
    await recovery.probeDue('simulated');
    assert.deepEqual(
      rail.given.map(({ key }) => key),
      [next],
    );
    assert.equal((await rowOf(db, id)).status, 'approved');
  });
});
