import assert from 'node:assert/strict';
import { newId, type Uuid } from '../../src/core/ids.js';
import { EndpointChoice, EndpointSlots } from '../../src/webhooks/dispatcher.js';
import { SLOW_AFTER_MS } from '../../src/webhooks/rules.js';
import type { EndpointCandidate } from '../../src/webhooks/endpoint-search.js';

describe('the slots for endpoints', () => {
  const [large, small] = [newId(), newId()];
  const endpoint = (tenantId: Uuid, isFailing = true): EndpointCandidate => ({
    id: newId(),
    tenantId,
    isFailing,
    isClaimed: false,
    waitsForProbe: false,
  });
  const chosen = (
    slots: EndpointSlots,
    candidates: readonly EndpointCandidate[],
  ): readonly EndpointCandidate[] => {
    const choice = new EndpointChoice(slots);
    choice.add(candidates);
    return choice.all;
  };
  const enterSlow = (slots: EndpointSlots, tenantId: Uuid) => {
    const slot = slots.take(tenantId);
    slot.moveToSlow();
    return slot;
  };

  it('give slow slots to the tenant with the fewest first, and those it holds count', () => {
    const slots = new EndpointSlots(4);
    const many = Array.from({ length: 6 }, () => endpoint(large));
    const few = [endpoint(small), endpoint(small)];
    assert.deepEqual(
      chosen(slots, [...many, ...few]).filter(({ tenantId }) => tenantId === small),
      few,
    );
    const held = [enterSlow(slots, large), enterSlow(slots, large)];
    assert.deepEqual(chosen(slots, [...many, ...few]), few);
    for (const slot of held) slot.leave();
    assert.equal(chosen(slots, many).length, 4);
  });

  it('count an endpoint as slow by the duration of its last attempt', () => {
    const slots = new EndpointSlots(1);
    const slow = endpoint(small, false);
    slots.recordDuration(slow.id, SLOW_AFTER_MS);
    enterSlow(slots, large);
    assert.deepEqual(chosen(slots, [slow]), []);
    slots.recordDuration(slow.id, SLOW_AFTER_MS - 1);
    assert.deepEqual(chosen(slots, [slow]), [slow]);
  });
});
