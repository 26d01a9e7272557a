import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../core/instant.js';
import type { Outbox } from './outbox.js';
import type { RelayObserver } from './relay.js';
import type { SweeperObserver } from './sweeper.js';

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

/** What operators see of the relay. `onTrouble` gets a line for the log. */
export function relayMetrics(registry: Registry, onTrouble: (message: string) => void): RelayObserver {
  const registers = [registry];
  const relayed = new Counter({
    name: 'outbox_relayed_total',
    help: 'Outbox entries that Temporal has taken',
    labelNames: ['resource_type'] as const,
    registers,
  });
  const refused = new Counter({
    name: 'outbox_refused_total',
    help: 'Attempts that Temporal refused; the entry is tried again later',
    labelNames: ['resource_type'] as const,
    registers,
  });
  const unavailable = new Counter({
    name: 'outbox_unavailable_total',
    help: 'Rounds that ended because Temporal could not be reached',
    registers,
  });
  return {
    relayed: (resourceType, entries) => relayed.inc({ resource_type: resourceType }, entries),
    refused: (resourceType, message) => {
      refused.inc({ resource_type: resourceType });
      onTrouble(`Temporal refused a ${resourceType}: ${message}`);
    },
    unavailable: (message) => {
      unavailable.inc();
      onTrouble(`Temporal is not reachable: ${message}`);
    },
  };
}

/** The outbox's depth and the age of its oldest entry, read when they are asked for. */
export function outboxMetrics(registry: Registry, outbox: Outbox, clock: Clock): void {
  const age = new Gauge({
    name: 'outbox_oldest_seconds',
    help: 'Age of the oldest outbox entry; 0 when there is none',
    registers: [registry],
  });
  new Gauge({
    name: 'outbox_entries',
    help: 'Outbox entries that Temporal has not taken yet',
    registers: [registry],
    async collect() {
      const { entries, oldestAt } = await outbox.depth();
      this.set(entries);
      age.set(oldestAt === null ? 0 : Math.max(0, clock() - oldestAt) / 1000);
    },
  });
}

/** What operators see of the sweeper's loops. `onTrouble` gets what a round failed with. */
export function sweeperMetrics(registry: Registry, onTrouble: (name: string, fault: unknown) => void): SweeperObserver {
  const registers = [registry];
  const rounds = new Histogram({
    name: 'sweep_seconds',
    help: 'Time of a round of the sweeper, by what it looks for',
    labelNames: ['sweep'] as const,
    buckets: SECONDS,
    registers,
  });
  const failures = new Counter({
    name: 'sweep_failures_total',
    help: 'Rounds that failed, by what they looked for',
    labelNames: ['sweep'] as const,
    registers,
  });
  return {
    swept: (sweep, seconds) => rounds.observe({ sweep }, seconds),
    failed: (sweep, fault) => {
      failures.inc({ sweep });
      onTrouble(sweep, fault);
    },
  };
}
