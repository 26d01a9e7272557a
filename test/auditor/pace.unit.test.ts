import assert from 'node:assert/strict';
import { instant } from '../../src/core/instant.js';
import { aheadMs } from '../../src/auditor/pace.js';

describe('the pace of the scheduled audit', () => {
  const pace = { beganAt: instant(1_000_000), spreadMs: 60_000, rows: 600 };

  it('has a row read for each part of the time that has passed', () => {
    assert.equal(aheadMs(pace, 300, instant(1_000_000)), 30_000);
    assert.equal(aheadMs(pace, 300, instant(1_029_000)), 1_000);
    assert(aheadMs(pace, 300, instant(1_040_000)) < 0);
  });

  it('waits for nothing once more rows were read than were expected', () => {
    assert.equal(aheadMs(pace, 600, instant(1_000_000)), 0);
    assert.equal(aheadMs({ ...pace, rows: 0 }, 0, instant(1_000_000)), 0);
  });
});
