import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import { instant, toRfc3339 } from '../../src/core/instant.js';
import type { PayoutRailEvent } from '../../src/db/entities/payouts.js';
import { messageFields } from '../../src/ops/commands/payout-fields.js';

const [FIRST, SECOND, THIRD, FOURTH] = [1, 2, 3, 4].map((second) => instant(second * 1_000));

function message(at = FIRST, reported: PayoutRailEvent['reported'] = null): PayoutRailEvent {
  return {
    ...{ id: newId(), payoutId: newId(), rail: 'bank', kind: 'inquiry', effect: 'noted' },
    ...{ callbackId: null, railReference: null, listedAmount: null, failureCode: null },
    ...{ attempt: null, reported, at: at ?? instant(0) },
  };
}

describe('the messages of a payout', () => {
  it('are one line for the same inquiry in a row, with their number, the first and the last time', () => {
    const all = [message(FIRST), message(SECOND), message(THIRD), message(FOURTH, 'completed')];
    const { lines } = messageFields(all);
    assert.equal(lines.length, 2);
    assert.ok(lines[0]?.startsWith(toRfc3339(FIRST ?? null) ?? ''), lines[0]);
    assert.match(lines[0] ?? '', /, 3 times, the last at 1970-01-01T00:00:03\.000Z$/);
    assert.doesNotMatch(lines[1] ?? '', /times/);
  });
});
