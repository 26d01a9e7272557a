import type { Registry } from 'prom-client';
import type { Clock } from '../core/instant.js';
import { metersOf, registerGauges } from '../core/meters.js';
import type { WorkflowResourceType } from '../db/entities/outbox.js';
import type { Outbox } from './outbox.js';
import type { RelayObserver } from './relay.js';
import type { SweeperObserver } from './sweeper.js';

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

export function relayMetrics(
  registry: Registry,
  onTrouble: (message: string) => void,
): RelayObserver {
  const { counter } = metersOf(registry);
  const byType: 'resource_type'[] = ['resource_type'];
  const relayed = counter('outbox_relayed_total', 'Outbox entries Temporal has accepted', byType);
  const refused = counter(
    'outbox_refused_total',
    'Failed attempts to relay an entry; it is tried again later',
    byType,
  );
  const died = counter(
    'outbox_dead_letters_total',
    'Entries that failed too often and wait for an operator',
    byType,
  );
  const unavailable = counter(
    'outbox_unavailable_total',
    'Rounds in which Temporal did not answer some or all calls',
  );
  return {
    relayed: (resourceType, entries) => relayed.inc({ resource_type: resourceType }, entries),
    refused: (resourceType, message) => {
      refused.inc({ resource_type: resourceType });
      onTrouble(`a workflow could not be notified of its ${resourceType}: ${message}`);
    },
    died: (resourceType, message) => {
      died.inc({ resource_type: resourceType });
      onTrouble(`an entry about a ${resourceType} is a dead letter: ${message}`);
    },
    unavailable: (message) => {
      unavailable.inc();
      onTrouble(`Temporal did not answer: ${message}`);
    },
  };
}

export function outboxMetrics(registry: Registry, outbox: Outbox, clock: Clock): void {
  registerGauges(
    registry,
    {
      outbox_entries: { help: 'Outbox entries Temporal has not accepted yet' },
      outbox_oldest_seconds: { help: 'Age of the oldest outbox entry; 0 if there is none' },
      outbox_dead_letters: {
        help: 'Outbox entries that failed too often and wait for an operator',
      },
    },
    async () => {
      const { entries, oldestAt, deadLetters } = await outbox.depth();
      const age = oldestAt === null ? 0 : Math.max(0, clock() - oldestAt) / 1000;
      return {
        outbox_entries: entries,
        outbox_oldest_seconds: age,
        outbox_dead_letters: deadLetters,
      };
    },
  );
}

export function temporalMetrics(
  registry: Registry,
  client: { isResponding(): Promise<boolean> },
  workers: { readonly isPolling: boolean },
): void {
  registerGauges(
    registry,
    {
      temporal_up: { help: '1 if Temporal answers this process' },
      temporal_workers_polling: { help: '1 while every task queue of this process is polled' },
    },
    async () => ({
      temporal_up: (await client.isResponding()) ? 1 : 0,
      temporal_workers_polling: workers.isPolling ? 1 : 0,
    }),
  );
}

export function sweeperMetrics(
  registry: Registry,
  onTrouble: (sweep: string, fault: unknown) => void,
): SweeperObserver {
  const { counter, gauge, histogram } = metersOf(registry);
  const rounds = histogram(
    'sweep_seconds',
    "Duration of a sweeper's round, by what it looks for",
    SECONDS,
    ['sweep'],
  );
  const failures = counter('sweep_failures_total', 'Failed rounds, by what they looked for', [
    'sweep',
  ]);
  const held = gauge('sweep_leases_held', 'Sweeps that this process does');
  const lost = counter(
    'sweep_leases_lost_total',
    'Sweep leases that expired while this process held them: it stalled, or MySQL was away',
  );
  const renewals = counter('sweep_lease_failures_total', 'Failed renewals of the sweep leases');
  return {
    swept: (sweep, seconds) => rounds.observe({ sweep }, seconds),
    failed: (sweep, fault) => {
      failures.inc({ sweep });
      onTrouble(sweep, fault);
    },
    holds: (leases) => held.set(leases),
    lost: () => lost.inc(),
    renewalFailed: (fault) => {
      renewals.inc();
      onTrouble('leases', fault);
    },
  };
}

export function reconciliationMetrics(
  registry: Registry,
): (resourceType: WorkflowResourceType, resources: number) => void {
  const behind = metersOf(registry).counter(
    'workflows_behind_total',
    'Waiting resources whose workflow was missing or showed another status, and was notified',
    ['resource_type'],
  );
  return (resourceType, resources) => behind.inc({ resource_type: resourceType }, resources);
}
