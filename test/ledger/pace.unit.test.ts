import assert from 'node:assert/strict';
import { Pace } from '../../src/ledger/desk/pace.js';

describe('the pace of a desk', () => {
  let now: number;
  let pace: Pace;
  beforeEach(() => {
    now = 0;
    pace = new Pace(() => now);
  });

  /** Sent so long ago, it waited for its locks and had them until now. */
  function group(ms: { waited: number; had: number }, commands = 1): void {
    const sentAt = now;
    now += ms.waited;
    const lockedAt = pace.locked(sentAt, ms.waited);
    now += ms.had;
    pace.committed(lockedAt, commands);
  }

  it('is its own while it waits for nobody else', () => {
    for (let count = 0; count < 20; count += 1) group({ waited: 0, had: 10 });
    assert(!pace.isShared);
    assert.equal(pace.gatheringMs(), 0);
  });

  it('is its own while its groups wait for one another alone', () => {
    for (let count = 0; count < 20; count += 1) {
      const first = pace.locked(now, 0);
      const sentAt = now;
      now += 30;
      pace.committed(first);
      const second = pace.locked(sentAt, 30);
      now += 10;
      pace.committed(second);
    }
    assert(!pace.isShared);
  });

  it('is shared once others keep its groups waiting, and a part of that is for gathering after a commit', () => {
    group({ waited: 40, had: 10 });
    group({ waited: 40, had: 10 });
    assert(pace.isShared);
    const gathering = pace.gatheringMs();
    assert(gathering > 0 && gathering < 40, `${gathering}`);
    now += gathering;
    assert.equal(pace.gatheringMs(), 0);
  });

  it('counts a wait from the last commit of its own', () => {
    group({ waited: 0, had: 10 });
    // Sent long before that commit, and had right after it.
    pace.locked(now - 1_000, 1_001);
    assert(!pace.isShared);
  });

  it('gathers for no more than a moment, whatever it waited', () => {
    for (let count = 0; count < 20; count += 1) group({ waited: 900, had: 10 });
    assert(pace.gatheringMs() <= 50);
  });

  it('is its own again when the others are gone, and when a lock was not had at all', () => {
    group({ waited: 40, had: 10 });
    for (let count = 0; count < 20; count += 1) group({ waited: 0, had: 10 });
    assert(!pace.isShared);
    group({ waited: 400, had: 10 });
    assert(pace.isShared);
    pace.forget();
    assert(!pace.isShared);
  });

  it('tells how many commands hold their locks for so long, all if it has seen none', () => {
    assert.equal(pace.commandsWithin(20), Infinity);
    for (let count = 0; count < 20; count += 1) group({ waited: 5, had: 40 }, 100);
    assert.equal(Math.round(pace.commandsWithin(20)), 50);
    // A few small groups among them say little of the large ones.
    group({ waited: 0, had: 3 }, 1);
    assert(pace.commandsWithin(20) > 45);
    for (let count = 0; count < 40; count += 1) group({ waited: 0, had: 10 }, 100);
    assert.equal(Math.round(pace.commandsWithin(20)), 200);
  });
});
