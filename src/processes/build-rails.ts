import type { WorkerConfig } from '../config/config.js';
import { RailBreakers } from '../payouts/breaker.js';
import { pollingSweeps, stuckSweep } from '../payouts/sweeps.js';
import { RailCalls, PayoutSubmitter } from '../payouts/rail-calls.js';
import { breakerMetrics, railMetrics } from '../payouts/metrics.js';
import type { OutcomeObserver } from '../payouts/outcomes.js';
import { openRails } from '../payouts/rails/registry.js';
import { RailRecovery, recoverySweeps } from '../payouts/recovery.js';
import { DEFAULT_RETURN_WINDOW_MS } from '../payouts/rules.js';
import type { Sweep } from '../temporal/sweeper.js';
import type { Core } from './build-core.js';

interface WorkerRails {
  readonly observer: OutcomeObserver;
  readonly submitter: PayoutSubmitter;
  /** Rails for which the worker serves a queue. */
  readonly names: ReadonlySet<string>;
  readonly sweeps: readonly Sweep[];
}

/** Builds the rails of a worker, including those that new payouts do not use. */
export function buildWorkerRails(config: WorkerConfig, core: Core): WorkerRails {
  const { database, clock, registry, logger, encryptionKeys, outbox } = core;
  const rails = openRails(core, config);
  const onUnresponsive = (rail: string, reason: string): void =>
    logger.warn({ rail, reason }, 'a rail did not respond');
  const observer = railMetrics(registry, onUnresponsive, rails.keys());
  const options = { probeAfterMs: config.PAYOUT_RAIL_PROBE_S * 1_000 };
  const breakers = new RailBreakers(database, clock, options, {
    opened: (rail, reason) =>
      logger.error({ rail, reason }, 'a rail does not respond: its payouts wait until it does'),
    closed: (rail) => logger.warn({ rail }, 'a rail responds again'),
  });
  breakerMetrics(registry, database.reader);
  const calls = new RailCalls({ ...core, rails, observer, breakers });
  const submitter = new PayoutSubmitter({
    calls,
    encryptionKeys,
    monotonic: () => performance.now(),
  });
  const { PAYOUT_RAIL_RETURN_WINDOW_S: windows } = config;
  const recovery = new RailRecovery({ calls, submitter, outbox });
  const stuckAfterMs = { in_progress: config.PAYOUT_STUCK_AFTER_S * 1_000, approved: 300_000 };
  return {
    observer,
    submitter,
    names: new Set(rails.keys()),
    sweeps: [
      stuckSweep(core, stuckAfterMs),
      ...pollingSweeps(
        calls,
        rails.keys(),
        (rail) => windows.get(rail) ?? DEFAULT_RETURN_WINDOW_MS,
      ),
      ...recoverySweeps(recovery, rails.keys()),
    ],
  };
}
