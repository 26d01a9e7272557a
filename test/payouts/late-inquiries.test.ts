import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { type Clock, type Instant, instant, systemClock } from '../../src/core/instant.js';
import type { Rail } from '../../src/payouts/rails/rail.js';
import { pollingSweeps } from '../../src/payouts/status-polling.js';
import { sweeperOf } from '../support/sweepers.js';
import { startTestApi } from '../support/api.js';
import { idLiteral, LEAST } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { until } from '../support/temporal.js';
import { balanceOf } from '../support/world.js';
import { say, ScriptedRail } from './scripted-rail.js';
import {
  assertSameStory,
  openPayoutBank,
  type PayoutBank,
  railsOf,
  rowOf,
  statusesOf,
} from './support.js';

const HOUR = 3_600_000;

const db = await testDatabase();
const api = await startTestApi(db);

describe('a payout that was completed', () => {
  let own: PayoutBank;
  let now: Clock = systemClock;

  beforeEach(async () => {
    now = systemClock;
    own = await openPayoutBank(api);
    // Those of other tests are none of ours.
    await db.change('UPDATE payouts SET ask_at=NULL WHERE ask_at IS NOT NULL');
  });

  const over = (rail: Rail, windowMs?: number) =>
    railsOf(db, { rail, clock: () => now(), ...(windowMs === undefined ? {} : { windowMs }) });
  const completed = async (rails: ReturnType<typeof over>): Promise<Uuid> => {
    const id = await own.pay();
    assert.equal((await rails.submissions.submit(id)).payout.status, 'completed');
    return id;
  };
  const askAt = async (id: Uuid): Promise<Instant> => {
    const { askAt: at } = await rowOf(db, id);
    assert(at !== null);
    return at;
  };
  /** The next question, when it is due. */
  const askWhenDue = async ({ poller }: ReturnType<typeof over>, id: Uuid): Promise<number> => {
    const at = await askAt(id);
    now = () => instant(at - 1);
    assert.equal(await poller.pollDue('simulated', 10), 0);
    now = () => at;
    return poller.pollDue('simulated', 10);
  };

  it('a payout that was completed and came back is found returned by asking, even without a callback', async () => {
    const words = [say('completed'), say('completed'), say('returned', 'account_closed')];
    const rails = over(new ScriptedRail(...words));
    const id = await completed(rails);
    assert.equal((await askAt(id)) - (await rowOf(db, id)).endedAt!, HOUR);
    assert.equal(await askWhenDue(rails, id), 1);
    assert.equal((await rowOf(db, id)).status, 'completed');
    assert.equal((await askAt(id)) - (await rowOf(db, id)).endedAt!, 2 * HOUR);
    assert.equal(await askWhenDue(rails, id), 1);
    const shown = await own.get(id);
    assert.deepEqual(statusesOf(shown), ['approved', 'in_progress', 'completed', 'returned']);
    assert.equal((await rowOf(db, id)).askAt, null);
    assert.equal((await balanceOf(db.database, own.source.id)).available, 10_000n * LEAST);
    await assertSameStory(own, id);
  });

  it("a payout that was completed is no longer asked about once its rail's window has closed", async () => {
    const rails = over(
      new ScriptedRail(...Array.from({ length: 3 }, () => say('completed'))),
      2 * HOUR,
    );
    const id = await completed(rails);
    await askWhenDue(rails, id);
    assert.equal((await askAt(id)) - (await rowOf(db, id)).endedAt!, 2 * HOUR);
    await askWhenDue(rails, id);
    assert.equal((await rowOf(db, id)).askAt, null);
  });

  it('a payout that was completed is asked about by one of several workers, and again soon if the rail does not answer', async () => {
    const words = Array.from({ length: 8 }, () => say('completed'));
    const rail = new ScriptedRail(...words, 'silent', 'silent', 'silent', 'silent');
    const rails = over(rail);
    const ids: Uuid[] = [];
    for (let made = 0; made < 4; made += 1) ids.push(await completed(rails));
    const at = instant(Math.max(...(await Promise.all(ids.map(askAt)))));
    now = () => at;
    const workers = Array.from({ length: 4 }, () => over(rail));
    await Promise.all(workers.map(({ poller }) => poller.pollDue('simulated', 10)));
    assert.deepEqual(rail.asked.toSorted(), ids.toSorted());
    const next = instant(at + 3 * HOUR);
    now = () => next;
    await rails.poller.pollDue('simulated', 10);
    assert.equal(rail.asked.length, 8);
    for (const id of ids) {
      const { endedAt } = await rowOf(db, id);
      assert.equal(await askAt(id), next + Math.trunc((next - (endedAt ?? 0)) / 8));
    }
  });

  it('a payout that was completed over a rail that does not answer holds up no other', async () => {
    const hanging: Rail = { submit: () => never, status: () => never, void: () => never };
    const answering = new ScriptedRail(...Array.from({ length: 45 }, () => say('completed')));
    const rails = railsOf(db, {
      rails: new Map<string, Rail>([
        ['http:hanging', hanging],
        ['simulated', answering],
      ]),
      clock: () => now(),
    });
    const ids: Uuid[] = [];
    for (let made = 0; made < 3; made += 1) ids.push(await completed(rails));
    const [stuck, ...others] = ids;
    await db.change(
      `UPDATE payouts SET rail='http:hanging', ask_at='2026-01-01' WHERE id=${idLiteral(stuck!)}`,
    );
    await db.change(
      `UPDATE payouts SET ask_at='2026-01-02' WHERE id IN (${others.map(idLiteral).join(',')})`,
    );
    const sweeps = pollingSweeps(rails.poller, ['http:hanging', 'simulated'], rails.breakers);
    const { sweeper } = sweeperOf(db.database, sweeps);
    sweeper.start();
    await until('the others were asked about', () => answering.asked.length === 2);
    assert.deepEqual(answering.asked.toSorted(), others.toSorted());
    await db.change(
      `UPDATE payouts SET rail='simulated', ask_at=NULL WHERE id=${idLiteral(stuck!)}`,
    );
  });
});

const never = new Promise<never>(() => undefined);
