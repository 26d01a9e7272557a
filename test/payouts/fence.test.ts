import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { freezeAccount } from '../../src/accounts/status.js';
import type { Uuid } from '../../src/core/ids.js';
import {
  type Rail,
  type RailOrder,
  type RailReport,
  RailUnresponsive,
} from '../../src/payouts/rails/rail.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { balanceOf, TEST_ACTOR } from '../helpers/world.js';
import { say } from './scripted-rail.js';
import {
  assertSameStory,
  type PayoutBank,
  railsOf,
  resolve,
  rowOf,
  usePayouts,
} from './support.js';

type Kind = 'submit' | 'status';

/** Pays each order that arrives, however often, unless the key was voided. A test may lose its next order or hold up a call. */
class HeldRail implements Rail {
  readonly given: Uuid[] = [];
  readonly paid = new Set<Uuid>();
  losesNext = false;
  private readonly voided = new Set<Uuid>();
  private held: {
    readonly kind: Kind;
    arrive(): unknown;
    readonly opened: Promise<unknown>;
  } | null = null;

  /** The next call of the kind waits until the gate is opened; `arrived` resolves when it does. */
  hold(kind: Kind): { readonly arrived: Promise<unknown>; open(): unknown } {
    const moments = new EventEmitter();
    const [arrived, opened] = ['arrived', 'opened'].map((name) => once(moments, name)) as [
      Promise<unknown>,
      Promise<unknown>,
    ];
    this.held = { kind, arrive: () => moments.emit('arrived'), opened };
    return { arrived, open: () => moments.emit('opened') };
  }

  resolve(): Promise<null> {
    return Promise.resolve(null);
  }

  list(): Promise<null> {
    return Promise.resolve(null);
  }

  async submit({ key }: RailOrder): Promise<RailReport> {
    this.given.push(key);
    if (this.losesNext) {
      this.losesNext = false;
      throw new RailUnresponsive('lost');
    }
    await this.pass('submit');
    if (!this.voided.has(key)) this.paid.add(key);
    return this.voided.has(key) ? say('voided', null, null) : say('completed');
  }

  async status(key: Uuid): Promise<RailReport | null> {
    await this.pass('status');
    if (this.voided.has(key)) return say('voided', null, null);
    return this.paid.has(key) ? say('completed') : null;
  }

  void(key: Uuid): Promise<RailReport> {
    if (!this.paid.has(key)) this.voided.add(key);
    return Promise.resolve(this.paid.has(key) ? say('completed') : say('voided', null, null));
  }

  private async pass(kind: Kind): Promise<void> {
    if (this.held?.kind !== kind) return;
    const { arrive, opened } = this.held;
    this.held = null;
    arrive();
    await opened;
  }
}

describe('a payout whose money was released', () => {
  let db: TestDatabase;
  let own: PayoutBank;
  let rail: HeldRail;
  let rails: ReturnType<typeof railsOf>;
  let id: Uuid;
  let elapsedMs = 0;
  usePayouts((opened) => void ({ db, own } = opened));

  beforeEach(async () => {
    id = await own.pay();
    rail = new HeldRail();
    elapsedMs = 0;
    rails = railsOf(db, { rail, monotonic: () => elapsedMs });
  });

  const giveBack = async (): Promise<void> => {
    await resolve(rails, db, id, 'failed');
    assert.equal((await rowOf(db, id)).status, 'failed');
    const balance = await balanceOf(db.database, own.source.id);
    assert.deepEqual(balance, { available: 10_000n * LEAST, held: 0n });
  };
  const assertNeverPaid = async (orders: number): Promise<void> => {
    assert.deepEqual([rail.given.length, rail.paid.size], [orders, 0]);
    const { status, stuckSince } = await rowOf(db, id);
    assert.deepEqual([status, stuckSince], ['failed', null]);
    await assertSameStory(own, id);
  };

  it('is not submitted again after a poll that hung meanwhile', async () => {
    rail.losesNext = true;
    await rails.submissions.submit(id);
    const gate = rail.hold('status');
    const asking = rails.submissions.poll(id);
    await gate.arrived;
    await giveBack();
    gate.open();
    await asking;
    await assertNeverPaid(1);
  });

  it('the rail refuses a late order of an abandoned activity for a payout whose money was released', async () => {
    const gate = rail.hold('submit');
    const abandoned = rails.submissions.submit(id);
    await gate.arrived;
    await giveBack();
    gate.open();
    await abandoned;
    await assertNeverPaid(1);
  });

  for (const [how, stoppedMs, orders] of [
    ['is refused by the rail if a worker that was paused before the call submits it', 0, 1],
    ['is not submitted by a worker that was paused for long before the call', 60_000, 0],
  ] as const)
    it(`${how}`, async () => {
      const { writer } = rails;
      const submit = writer.submit.bind(writer);
      // Between the commit that permits the order and the order.
      writer.submit = async (...command) => {
        const result = await submit(...command);
        writer.submit = submit;
        await giveBack();
        elapsedMs = stoppedMs;
        return result;
      };
      await rails.submissions.submit(id);
      await assertNeverPaid(orders);
    });

  it('is not sent again by a repeated submission if a restore began it', async () => {
    // As a restore leaves a payout that its rail may have: without an attempt.
    await db.change(
      `UPDATE payouts SET status='in_progress', submitted_at=approved_at WHERE id=${idLiteral(id)}`,
    );
    rail.losesNext = true;
    await rails.submissions.submit(id);
    await freezeAccount(db.deps, own.source.id, { actor: TEST_ACTOR, reason: 'a test' });
    const { isFrozen } = await rails.submissions.submit(id);
    const { attempts } = await rowOf(db, id);
    assert.deepEqual([isFrozen, attempts, rail.given.length], [true, 1, 1]);
    await giveBack();
    await assertNeverPaid(1);
  });
});
