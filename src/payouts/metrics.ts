import type { Registry } from 'prom-client';
import type { Clock } from '../core/instant.js';
import { metersOf, registerGauges } from '../core/meters.js';
import { integer, nullable, string, time } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { railBreakers } from '../db/entities/rails.js';
import type { CallbackEffect } from './callbacks.js';
import type { OutcomeObserver } from './outcomes.js';
import type { RailObserver } from './rail-calls.js';
import type { RailCall, RailCallObserver } from './resolve.js';

const CALLS: readonly RailCall[] = ['submission', 'inquiry', 'void', 'resolve'];

export function railMetrics(...calls: Parameters<typeof callMetrics>): RailObserver {
  return { ...outcomeMetrics(calls[0]), ...callMetrics(...calls) };
}

/** Returns the metrics of calls. `onUnresponsive` logs a call without a response. */
export function callMetrics(
  registry: Registry,
  onUnresponsive: RailCallObserver['unresponsive'],
  rails: Iterable<string> = [],
): RailCallObserver {
  const help = 'Calls to rails, by their answer; no_answer: what the rail did is unknown';
  const labels = ['rail', 'kind', 'result'];
  const calls = metersOf(registry).counter('payout_rail_calls_total', help, labels);
  for (const rail of rails)
    for (const kind of CALLS) calls.inc({ rail, kind, result: 'no_answer' }, 0);
  return {
    called: (rail, kind, result) => calls.inc({ rail, kind, result }),
    unresponsive: onUnresponsive,
  };
}

const END_BUCKETS_S = [
  1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200, 86_400, 259_200, 604_800, 2_592_000,
];

export function outcomeMetrics(registry: Registry): OutcomeObserver {
  const { counter, histogram } = metersOf(registry);
  const contradictions = counter(
    'payout_contradictions_total',
    'Reports by rails that contradict what is known of a payout; each flags the payout for operators',
    ['rail'],
  );
  const ends = histogram(
    'payout_end_seconds',
    "Time from a payout's creation to the end its rail reported, by rail and status",
    END_BUCKETS_S,
    ['rail', 'status'],
  );
  return {
    contradicted: (rail) => contradictions.inc({ rail }),
    ended: ({ rail, status, createdAt, endedAt }) => {
      if (endedAt !== null)
        ends.observe({ rail, status }, Math.max(0, endedAt - createdAt) / 1_000);
    },
  };
}

const SAMPLE_MS = 60_000;

/** Returns the metric of callbacks. Forged and late ones are logged once in SAMPLE_MS. */
export function callbackMetrics(
  registry: Registry,
  clock: Clock,
  onRejected: (rail: string, effect: CallbackEffect, count: number) => void,
): (rail: string, effect: CallbackEffect) => void {
  const help = 'Callbacks from rails, by effect';
  const labels = ['rail', 'effect'];
  const callbacks = metersOf(registry).counter('payout_rail_callbacks_total', help, labels);
  const samples = new Map<string, { readonly loggedAt: number; readonly count: number }>();
  return (rail, effect) => {
    callbacks.inc({ rail, effect });
    if (effect !== 'forged' && effect !== 'late') return;
    const key = `${rail} ${effect}`;
    const { loggedAt, count } = samples.get(key) ?? { loggedAt: 0, count: 0 };
    const isDue = clock() - loggedAt >= SAMPLE_MS;
    if (isDue) onRejected(rail, effect, count + 1);
    samples.set(key, isDue ? { loggedAt: clock(), count: 0 } : { loggedAt, count: count + 1 });
  };
}

export function stuckMetrics(registry: Registry, reader: Reader, clock: Clock): void {
  registerGauges(
    registry,
    {
      payouts_stuck: {
        help: 'Payouts whose fate is unknown, or about which the rail contradicts itself',
      },
      payouts_stuck_oldest_seconds: {
        help: 'How long ago the oldest stuck payout was flagged; 0 if there is none',
      },
    },
    async () => {
      const [row] = await reader.query(
        'SELECT COUNT(*) AS stuck, MIN(stuck_since) AS oldest FROM payouts WHERE stuck_since IS NOT NULL',
      );
      const oldest = nullable(time).parse(row?.oldest ?? null);
      const age = oldest === null ? 0 : Math.max(0, clock() - oldest) / 1_000;
      return { payouts_stuck: integer.parse(row?.stuck ?? 0), payouts_stuck_oldest_seconds: age };
    },
  );
}

export function breakerMetrics(registry: Registry, reader: Reader): void {
  const labelNames = ['rail'];
  registerGauges(
    registry,
    {
      payout_rail_open: {
        help: '1 while a rail does not answer, so that its payouts wait; otherwise 0',
        labelNames,
      },
      payouts_approved: { help: 'Payouts approved but not yet handed to their rail', labelNames },
    },
    async () => {
      const [breakers, waiting] = await Promise.all([
        reader.select(railBreakers, {}),
        reader.query(
          `SELECT rail, COUNT(*) AS waiting FROM payouts FORCE INDEX (expiring) WHERE status='approved' GROUP BY rail`,
        ),
      ]);
      return {
        payout_rail_open: breakers.map(({ rail, state }) => ({
          labels: { rail },
          value: state === 'closed' ? 0 : 1,
        })),
        payouts_approved: waiting.map((row) => ({
          labels: { rail: string.parse(row.rail) },
          value: integer.parse(row.waiting),
        })),
      };
    },
  );
}
