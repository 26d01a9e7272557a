import assert from 'node:assert/strict';
import { newId, type Uuid } from '../../src/core/ids.js';
import { EndpointSlots } from '../../src/webhooks/endpoint-slots.js';
import { PROMPT_MS } from '../../src/webhooks/rules.js';
import type { EndpointCandidate } from '../../src/webhooks/endpoint-claims.js';

describe('the slots for endpoints', () => {
  const [large, small] = [newId(), newId()];
  const endpoint = (tenantId: Uuid, isFailing = true): EndpointCandidate => ({
    id: newId(),
    tenantId,
    isFailing,
  });
  const enterSlow = (slots: EndpointSlots, tenantId: Uuid): Uuid => {
    const [taken] = slots.take([endpoint(tenantId)]);
    assert(taken !== undefined);
    return taken.id;
  };

  it('the slots for endpoints give slow slots to the tenant with the fewest first, and those it holds count', () => {
    const many = Array.from({ length: 6 }, () => endpoint(large));
    const few = [endpoint(small), endpoint(small)];
    const taken = new EndpointSlots(4).take([...many, ...few]);
    assert.deepEqual(
      taken.filter(({ tenantId }) => tenantId === small),
      few,
    );
    const slots = new EndpointSlots(4);
    const held = [enterSlow(slots, large), enterSlow(slots, large)];
    assert.deepEqual(slots.take([...many, ...few]), few);
    for (const id of [...held, ...few.map(({ id }) => id)]) slots.leave(id);
    assert.equal(slots.take(many).length, 4);
  });

  it('the slots for endpoints count an endpoint as slow by its last attempt, whatever its result, and no longer once it is quick', () => {
    const slots = new EndpointSlots(1);
    const slow = endpoint(small, false);
    slots.attempted(slow.id, PROMPT_MS);
    enterSlow(slots, large);
    assert.deepEqual(slots.take([slow]), []);
    slots.attempted(slow.id, PROMPT_MS - 1);
    assert.deepEqual(slots.take([slow]), [slow]);
    assert.deepEqual(slots.take([slow]), []);
  });

  it('the slots for endpoints leave an endpoint where it is while every slow slot is taken', () => {
    const slots = new EndpointSlots(1);
    const [fast] = slots.take([endpoint(small, false)]);
    assert(fast !== undefined);
    const slow = enterSlow(slots, large);
    slots.becomesSlow(fast.id);
    assert.deepEqual(slots.taken, [1, 1]);
    slots.leave(slow);
    slots.becomesSlow(fast.id);
    assert.deepEqual(slots.taken, [0, 1]);
  });
});
