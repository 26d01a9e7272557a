import assert from 'node:assert/strict';
import { ConcurrencyLimit, LimitReached } from '../../src/core/concurrency-limit.js';
import { FairQueue } from '../../src/core/scheduling.js';

/** Each entrant notes its entry, and leaves when it is told to. */
class Visitors {
  readonly came: string[] = [];
  private readonly leaving = new Map<string, () => void>();
  private readonly queue: FairQueue;

  constructor(places: number) {
    this.queue = new FairQueue(places);
  }

  wants(tenant: string, name = tenant, signal = new AbortController().signal): Promise<void> {
    return this.queue.enter(tenant, signal).then((leave) => {
      this.came.push(name);
      this.leaving.set(name, leave);
    });
  }

  async leaves(name: string): Promise<void> {
    this.leaving.get(name)!();
    await settled();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a fair queue', () => {
  it('admits as many tenants as there are slots, and no tenant twice', async () => {
    const visitors = new Visitors(2);
    for (const [tenant, name] of [
      ['a', 'a1'],
      ['a', 'a2'],
      ['b', 'b'],
      ['c', 'c'],
    ] as const)
      void visitors.wants(tenant, name);
    await settled();
    assert.deepEqual(visitors.came, ['a1', 'b']);
    await visitors.leaves('b');
    assert.deepEqual(visitors.came, ['a1', 'b', 'c'], 'a has a place already');
    await visitors.leaves('a1');
    assert.deepEqual(visitors.came, ['a1', 'b', 'c', 'a2']);
  });

  it('admits next the tenant whose last turn is longest ago, not the one that queued first', async () => {
    const visitors = new Visitors(1);
    await visitors.wants('a', 'a0');
    for (let at = 1; at <= 10; at += 1) void visitors.wants('a', `a${at}`);
    void visitors.wants('b', 'b1');
    void visitors.wants('b', 'b2');
    for (const name of ['a0', 'b1', 'a1']) await visitors.leaves(name);
    assert.deepEqual(visitors.came, ['a0', 'b1', 'a1', 'b2']);
  });

  it('forgets a tenant that gives up waiting, and says why', async () => {
    const visitors = new Visitors(1);
    const [stopping, gone] = [new AbortController(), new AbortController()];
    gone.abort(new Error('gone'));
    await visitors.wants('a');
    const waiting = visitors.wants('b', 'b', stopping.signal);
    stopping.abort(new Error('enough'));
    await assert.rejects(waiting, { message: 'enough' });
    await assert.rejects(visitors.wants('c', 'c', gone.signal), { message: 'gone' });
    void visitors.wants('d');
    await visitors.leaves('a');
    assert.deepEqual(visitors.came, ['a', 'd']);
  });
});

describe('a concurrency limit', () => {
  it('counts per tenant and in all, and frees a slot when it is released', () => {
    const shares = new ConcurrencyLimit(2, 3);
    const first = shares.take('a');
    shares.take('a');
    assert.throws(() => shares.take('a'), LimitReached);
    shares.take('b');
    assert.throws(() => shares.take('c'), LimitReached);
    first();
    shares.take('c');
    assert.throws(() => shares.take('a'), LimitReached);
  });
});
