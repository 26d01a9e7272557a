import type { Registry } from 'prom-client';
import type { RailWorkConfig } from '../config/servers.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Logger } from '../http/logging.js';
import { RailBreakers } from '../payouts/breaker.js';
import { pollingSweeps, StatusPoller, stuckSweep } from '../payouts/sweeps.js';
import { RailCalls, SubmissionQueue } from '../payouts/rail-calls.js';
import { breakerMetrics, railMetrics } from '../payouts/metrics.js';
import type { OutcomeObserver } from '../payouts/outcomes.js';
import { openRails, type RailConfig } from '../payouts/rails/registry.js';
import { RailRecovery, recoverySweeps } from '../payouts/recovery.js';
import { DEFAULT_WINDOW_MS } from '../payouts/rules.js';
import type { Outbox } from '../temporal/outbox.js';
import type { Sweep } from '../temporal/sweeper.js';
import type { Ledger } from './build-ledger.js';

interface RailSettings extends RailConfig, RailWorkConfig {
  readonly ENCRYPTION_KEYS: Keyring;
}

interface WorkerRails {
  readonly observer: OutcomeObserver;
  readonly queue: SubmissionQueue;
  /** Rails for which the worker serves a queue. */
  readonly names: ReadonlySet<string>;
  readonly sweeps: readonly Sweep[];
}

/** Includes rails that new payouts do not use. */
export function buildWorkerRails(
  settings: RailSettings,
  { database, writer, clock, failpoints, registry }: Ledger & { readonly registry: Registry },
  outbox: Outbox,
  logger: Logger,
): WorkerRails {
  const rails = openRails({ database, clock }, settings);
  const onSilent = (rail: string, reason: string): void =>
    logger.warn({ rail, reason }, 'a rail gave no answer');
  const observer = railMetrics(registry, onSilent, rails.keys());
  const options = { probeAfterMs: settings.PAYOUT_RAIL_PROBE_S * 1_000 };
  const breakers = new RailBreakers(database, clock, options, {
    opened: (rail, reason) =>
      logger.error({ rail, reason }, 'a rail gives no answers: its payouts wait'),
    closed: (rail) => logger.warn({ rail }, 'a rail answers again'),
  });
  breakerMetrics(registry, database.reader);
  const calls = new RailCalls({ database, writer, clock, rails, failpoints, observer, breakers });
  const queue = new SubmissionQueue({
    calls,
    encryptionKeys: settings.ENCRYPTION_KEYS,
    monotonic: () => performance.now(),
  });
  const { PAYOUT_RAIL_RETURN_WINDOW_S: windows } = settings;
  const poller = new StatusPoller(calls, (rail) => windows.get(rail) ?? DEFAULT_WINDOW_MS);
  const recovery = new RailRecovery({ calls, queue, outbox });
  const stuckAfterMs = { in_progress: settings.PAYOUT_STUCK_AFTER_S * 1_000, approved: 300_000 };
  return {
    observer,
    queue,
    names: new Set(rails.keys()),
    sweeps: [
      stuckSweep({ database, writer, clock }, stuckAfterMs),
      ...pollingSweeps(poller, rails.keys(), breakers),
      ...recoverySweeps(recovery, rails.keys()),
    ],
  };
}
