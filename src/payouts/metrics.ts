import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../core/instant.js';
import { integer, nullable, time } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import type { CallbackEffect } from './callbacks.js';
import type { RailObserver } from './conversation.js';

/** What operators see of the rails. `onSilent` gets a line for the log. */
export function railMetrics(registry: Registry, onSilent: RailObserver['silent']): RailObserver {
  const calls = new Counter({
    name: 'payout_rail_calls_total',
    help: 'Calls of rails, by what they answered; no_answer: what the rail did is not known',
    labelNames: ['rail', 'kind', 'result'] as const,
    registers: [registry],
  });
  return {
    called: (rail, kind, result) => calls.inc({ rail, kind, result }),
    silent: onSilent,
    contradicted: contradictionMetrics(registry),
  };
}

const CONTRADICTIONS = 'payout_contradictions_total';

/** Counts what rails say against what we know, by whichever way it comes: one counter for each process. */
export function contradictionMetrics(registry: Registry): RailObserver['contradicted'] {
  const known = registry.getSingleMetric(CONTRADICTIONS);
  const contradictions =
    known instanceof Counter
      ? known
      : new Counter({
          name: CONTRADICTIONS,
          help: 'Words of rails against what is known of a payout; each raises it to operators',
          labelNames: ['rail'] as const,
          registers: [registry],
        });
  return (rail) => contradictions.inc({ rail });
}

/** What came of callbacks. */
export function callbackMetrics(registry: Registry): (rail: string, effect: CallbackEffect) => void {
  const callbacks = new Counter({
    name: 'payout_rail_callbacks_total',
    help: 'Callbacks of rails, by what came of them',
    labelNames: ['rail', 'effect'] as const,
    registers: [registry],
  });
  return (rail, effect) => callbacks.inc({ rail, effect });
}

/** Payouts that operators have to look at, read when they are asked for: an alert belongs on it. */
export function stuckMetrics(registry: Registry, reader: Reader, clock: Clock): void {
  const age = new Gauge({
    name: 'payouts_stuck_oldest_seconds',
    help: 'For how long the oldest of them has been raised; 0 when there is none',
    registers: [registry],
  });
  new Gauge({
    name: 'payouts_stuck',
    help: 'Payouts of which nobody knows what became, or of which the rail contradicts itself',
    registers: [registry],
    async collect() {
      const [row] = await reader.query(
        'SELECT COUNT(*) AS stuck, MIN(stuck_since) AS oldest FROM payouts WHERE stuck_since IS NOT NULL',
      );
      this.set(integer.parse(row?.stuck ?? 0));
      const oldest = nullable(time).parse(row?.oldest ?? null);
      age.set(oldest === null ? 0 : Math.max(0, clock() - oldest) / 1_000);
    },
  });
}
