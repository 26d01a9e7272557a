import assert from 'node:assert/strict';
import { Pace, PAUSES } from '../../src/webhooks/senders/pace.js';

describe('the pace of the senders', () => {
  const { busyMs, idleMs } = PAUSES;

  it('has no longer pause after a single slow look, which somebody else held up', () => {
    const pace = new Pace(PAUSES);
    for (const lookedMs of [2, 90, 2, 90])
      assert.deepEqual(pace.after(true, lookedMs), { atLeastMs: busyMs, atMostMs: busyMs });
  });

  it('leaves looking a quarter of the time when it takes long, up to 100 ms', () => {
    const pace = new Pace(PAUSES);
    pace.after(true, 20);
    assert.equal(pace.after(true, 20).atLeastMs, 60);
    pace.after(true, 1_000);
    assert.equal(pace.after(true, 1_000).atLeastMs, 100);
  });

  it('has a longer pause after a round that found nothing, which may be ended early', () => {
    assert.deepEqual(new Pace(PAUSES).after(false, 2), { atLeastMs: busyMs, atMostMs: idleMs });
  });
});
