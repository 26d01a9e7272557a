import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { readTogether } from '../core/gauges.js';
import type { Clock } from '../core/instant.js';
import type { WaitingType } from '../db/entities/outbox.js';
import type { Outbox } from './outbox.js';
import type { RelayObserver } from './relay.js';
import type { LeaseObserver } from './sweep-leases.js';
import type { SweeperObserver } from './sweeper.js';

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

/** Metrics of the relay. `onTrouble` gets a line for the log. */
export function relayMetrics(registry: Registry, onTrouble: (message: string) => void): RelayObserver {
  const registers = [registry];
  const relayed = new Counter({
    name: 'outbox_relayed_total',
    help: 'Outbox entries Temporal has accepted',
    labelNames: ['resource_type'] as const,
    registers,
  });
  const refused = new Counter({
    name: 'outbox_refused_total',
    help: 'Failed attempts to relay an entry; it is tried again later',
    labelNames: ['resource_type'] as const,
    registers,
  });
  const died = new Counter({
    name: 'outbox_dead_letters_total',
    help: 'Entries that failed too often and wait for an operator',
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
      onTrouble(`a workflow could not be told of its ${resourceType}: ${message}`);
    },
    died: (resourceType, message) => {
      died.inc({ resource_type: resourceType });
      onTrouble(`an entry about a ${resourceType} is a dead letter: ${message}`);
    },
    unavailable: (message) => {
      unavailable.inc();
      onTrouble(`Temporal is not reachable: ${message}`);
    },
  };
}

/** The outbox's depth and the age of its oldest entry, read at scrape time. */
export function outboxMetrics(registry: Registry, outbox: Outbox, clock: Clock): void {
  readTogether(
    registry,
    {
      outbox_entries: { help: 'Outbox entries Temporal has not accepted yet' },
      outbox_oldest_seconds: { help: 'Age of the oldest outbox entry; 0 if there is none' },
      outbox_dead_letters: { help: 'Outbox entries that failed too often and wait for an operator' },
    },
    async () => {
      const { entries, oldestAt, deadLetters } = await outbox.depth();
      const age = oldestAt === null ? 0 : Math.max(0, clock() - oldestAt) / 1000;
      return { outbox_entries: entries, outbox_oldest_seconds: age, outbox_dead_letters: deadLetters };
    },
  );
}

/** Whether Temporal answers this process, checked at scrape time, and whether its workers poll. */
export function temporalMetrics(
  registry: Registry,
  client: { answers(): Promise<boolean> },
  workers: { readonly isPolling: boolean },
): void {
  readTogether(
    registry,
    {
      temporal_up: { help: '1 if Temporal answers this process' },
      temporal_workers_polling: { help: '1 while every task queue of this process is polled' },
    },
    async () => ({
      temporal_up: (await client.answers()) ? 1 : 0,
      temporal_workers_polling: workers.isPolling ? 1 : 0,
    }),
  );
}

/** Metrics of the sweeper's loops. `onTrouble` gets the failure of a round. */
export function sweeperMetrics(registry: Registry, onTrouble: (name: string, fault: unknown) => void): SweeperObserver {
  const registers = [registry];
  const rounds = new Histogram({
    name: 'sweep_seconds',
    help: "Duration of a sweeper's round, by what it looks for",
    labelNames: ['sweep'] as const,
    buckets: SECONDS,
    registers,
  });
  const failures = new Counter({
    name: 'sweep_failures_total',
    help: 'Failed rounds, by what they looked for',
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

export function leaseMetrics(registry: Registry, onTrouble: (name: string, fault: unknown) => void): LeaseObserver {
  const registers = [registry];
  const held = new Gauge({
    name: 'sweep_leases_held',
    help: 'Sweeps, or parts of sweeps, this process is responsible for',
    registers,
  });
  const lost = new Counter({
    name: 'sweep_leases_lost_total',
    help: 'Sweep leases that expired while this process held them: it stalled, or MySQL was away',
    registers,
  });
  const failures = new Counter({
    name: 'sweep_lease_failures_total',
    help: 'Failed heartbeats of the sweep leases',
    registers,
  });
  return {
    holds: (count) => held.set(count),
    lost: () => lost.inc(),
    failed: (name, fault) => {
      failures.inc();
      onTrouble(name, fault);
    },
  };
}

/** Counts the resources that are announced again though nothing changed. */
export function tellingMetrics(registry: Registry): (resourceType: WaitingType, resources: number) => void {
  const told = new Counter({
    name: 'workflows_told_again_total',
    help: 'Waiting resources announced to their workflows again',
    labelNames: ['resource_type'] as const,
    registers: [registry],
  });
  return (resourceType, resources) => told.inc({ resource_type: resourceType }, resources);
}
