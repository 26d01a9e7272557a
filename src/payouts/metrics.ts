import { Counter, Histogram, type Registry } from 'prom-client';
import { metersOf } from '../core/meters.js';
import { readTogether } from '../core/gauges.js';
import type { Clock } from '../core/instant.js';
import { integer, nullable, string, time } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import type { Payout } from '../db/entities/payouts.js';
import { railBreakers } from '../db/entities/rail-breakers.js';
import type { CallbackEffect } from './callbacks.js';
import type { RailCall, RailObserver } from './conversation.js';

const CALLS: readonly RailCall[] = ['submission', 'inquiry', 'void'];

/** Metrics of the rails. `onSilent` gets a line for the log; silence is counted from 0 for `rails`. */
export function railMetrics(
  registry: Registry,
  onSilent: RailObserver['silent'],
  rails: Iterable<string> = [],
): RailObserver {
  const calls = metersOf(registry).counter(
    'payout_rail_calls_total',
    'Calls to rails, by their answer; no_answer: what the rail did is unknown',
    ['rail', 'kind', 'result'],
  );
  for (const rail of rails)
    for (const kind of CALLS) calls.inc({ rail, kind, result: 'no_answer' }, 0);
  return {
    called: (rail, kind, result) => calls.inc({ rail, kind, result }),
    silent: onSilent,
    contradicted: contradictionMetrics(registry),
    ended: endMetrics(registry),
  };
}

const ENDS = 'payout_end_seconds';
/** From seconds, over the next working day, to a month. */
const END_BUCKETS_S = [
  1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200, 86_400, 259_200, 604_800, 2_592_000,
];

/** How long payouts take from creation to the end reported by their rail, by whichever route. */
export function endMetrics(registry: Registry): (payout: Payout) => void {
  const known = registry.getSingleMetric(ENDS);
  const ends =
    known instanceof Histogram
      ? known
      : metersOf(registry).histogram(
          ENDS,
          "Time from a payout's creation to the end its rail reported, by rail and status",
          END_BUCKETS_S,
          ['rail', 'status'],
        );
  return ({ rail, status, createdAt, endedAt }) => {
    if (endedAt !== null) ends.observe({ rail, status }, Math.max(0, endedAt - createdAt) / 1_000);
  };
}

const CONTRADICTIONS = 'payout_contradictions_total';

/** Counts contradictions by rails, by whichever route: one counter per process. */
export function contradictionMetrics(registry: Registry): RailObserver['contradicted'] {
  const known = registry.getSingleMetric(CONTRADICTIONS);
  const contradictions =
    known instanceof Counter
      ? known
      : metersOf(registry).counter(
          CONTRADICTIONS,
          'Reports by rails that contradict what is known of a payout; each raises it to operators',
          ['rail'],
        );
  return (rail) => contradictions.inc({ rail });
}

/** Anybody may send forgeries: one of each kind is logged per interval. */
const SAMPLE_MS = 60_000;

/** Metrics of callbacks. `onDisbelieved` gets a line for the log now and then, with the number since the last. */
export function callbackMetrics(
  registry: Registry,
  clock: Clock,
  onDisbelieved: (rail: string, effect: CallbackEffect, count: number) => void,
): (rail: string, effect: CallbackEffect) => void {
  const callbacks = metersOf(registry).counter(
    'payout_rail_callbacks_total',
    'Callbacks from rails, by effect',
    ['rail', 'effect'],
  );
  const untold = new Map<string, { readonly toldAt: number; readonly count: number }>();
  const sample = (rail: string, effect: CallbackEffect): void => {
    const kind = `${rail} ${effect}`;
    const { toldAt, count } = untold.get(kind) ?? { toldAt: 0, count: 0 };
    const isTime = clock() - toldAt >= SAMPLE_MS;
    if (isTime) onDisbelieved(rail, effect, count + 1);
    untold.set(kind, isTime ? { toldAt: clock(), count: 0 } : { toldAt, count: count + 1 });
  };
  return (rail, effect) => {
    callbacks.inc({ rail, effect });
    if (effect === 'forged' || effect === 'late') sample(rail, effect);
  };
}

/** Payouts that operators have to look at, read at scrape time: there should be an alert on it. */
export function stuckMetrics(registry: Registry, reader: Reader, clock: Clock): void {
  readTogether(
    registry,
    {
      payouts_stuck: {
        help: 'Payouts whose fate is unknown, or about which the rail contradicts itself',
      },
      payouts_stuck_oldest_seconds: {
        help: 'How long ago the oldest stuck payout was raised; 0 if there is none',
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

/** Which rails answer, and how many payouts wait to be handed over, read at scrape time. */
export function breakerMetrics(registry: Registry, reader: Reader): void {
  const labelNames = ['rail'];
  readTogether(
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
