import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { DELIVERY_STATES } from '../../src/db/entities/webhooks.js';
import { deliveryRow } from '../../src/support/pages/history.js';
import { table } from '../../src/support/pages/layout.js';

describe('a delivery at the support desk', () => {
  const endpointId = newId();
  const LINK = `href="/endpoints/${endpointId}#acts"`;
  const NOTE = 'It is not retried.';
  for (const state of DELIVERY_STATES)
    it(`shows how it is sent again: ${state}`, () => {
      const delivery = {
        ...{ endpointId, id: newId(), eventId: newId(), eventType: 'transfer.completed' as const },
        ...{ sequence: 1n, cause: 'event' as const, round: 1, state, steps: 0 },
        ...{ nextAttemptAt: null, createdAt: instant(0), finishedAt: null },
      };
      const url = 'https://a.example/';
      const { text } = table([{ url, delivery, attempts: [], waitsFor: null }], (one) =>
        deliveryRow(one, { timeZone: 'UTC', now: instant(0) }),
      );
      assert.deepEqual(
        [text.includes(LINK), text.includes(NOTE)],
        [state === 'retrying', state === 'failed'],
        text,
      );
      assert(text.includes(`<a href="/endpoints/${endpointId}">${url}</a>`), text);
    });

  for (const [now, shown] of [
    [0, 'in 5 min'],
    [300_000, 'due since'],
    [900_000, 'due since'],
  ] as const)
    it(`shows the time of its next attempt as ${shown}, after ${now} ms`, () => {
      const delivery = {
        ...{ endpointId, id: newId(), eventId: newId(), eventType: 'transfer.completed' as const },
        ...{
          sequence: 1n,
          cause: 'event' as const,
          round: 1,
          state: 'retrying' as const,
          steps: 0,
        },
        ...{ nextAttemptAt: instant(300_000), createdAt: instant(0), finishedAt: null },
      };
      const { text } = table([{ url: '', delivery, attempts: [], waitsFor: null }], (one) =>
        deliveryRow(one, { timeZone: 'UTC', now: instant(now) }),
      );
      assert.match(text, new RegExp(`>${shown}</span>.*>1970-01-01 00:05:00<`));
    });
});
