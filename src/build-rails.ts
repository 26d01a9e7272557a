import type { Registry } from 'prom-client';
import type { Ledger } from './build-ledger.js';
import type { RailWorkConfig } from './config/rails.js';
import type { Keyring } from './core/fingerprint.js';
import type { Logger } from './http/logging.js';
import { RailBreakers } from './payouts/breaker/breakers.js';
import { RailRecovery } from './payouts/breaker/recovery.js';
import { USUAL_BREAKER } from './payouts/breaker/rules.js';
import { RailConversation } from './payouts/conversation.js';
import { LateInquiries } from './payouts/inquiries.js';
import { breakerMetrics, railMetrics } from './payouts/metrics.js';
import { openRails, type RailConfig } from './payouts/rails/registry.js';
import { USUAL_WINDOW_MS } from './payouts/rules.js';
import { Submissions } from './payouts/submission.js';
import {
  APPROVED_STUCK_AFTER_MS,
  inquirySweeps,
  recoverySweeps,
  stuckSweep,
} from './payouts/sweeps.js';
import { RailTurns } from './payouts/turns.js';
import type { Outbox } from './temporal/outbox.js';
import type { Sweep } from './temporal/sweeper.js';

/** Configuration of a worker's rails, by the names in config.ts. */
interface RailSettings extends RailConfig, RailWorkConfig {
  readonly ENCRYPTION_KEYS: Keyring;
}

interface WorkerRails {
  readonly turns: RailTurns;
  /** Rails for which the worker serves a queue. */
  readonly names: ReadonlySet<string>;
  readonly sweeps: readonly Sweep[];
}

/** Builds every rail that a payout may have, including rails that new payouts do not use. */
export function buildWorkerRails(
  settings: RailSettings,
  { database, desk, clock, failpoints, registry }: Ledger & { readonly registry: Registry },
  outbox: Outbox,
  logger: Logger,
): WorkerRails {
  const rails = openRails({ database, clock }, settings);
  const onSilent = (rail: string, reason: string): void =>
    logger.warn({ rail, reason }, 'a rail gave no answer');
  const observer = railMetrics(registry, onSilent, rails.keys());
  const options = { ...USUAL_BREAKER, probeAfterMs: settings.PAYOUT_RAIL_PROBE_S * 1_000 };
  const breakers = new RailBreakers(database, clock, options, {
    opened: (rail, reason) =>
      logger.error({ rail, reason }, 'a rail gives no answers: its payouts wait'),
    closed: (rail) => logger.warn({ rail }, 'a rail answers again'),
  });
  breakerMetrics(registry, database.reader);
  const conversation = new RailConversation({
    database,
    desk,
    clock,
    rails,
    failpoints,
    observer,
    breakers,
  });
  const submissions = new Submissions({
    conversation,
    encryptionKeys: settings.ENCRYPTION_KEYS,
    monotonic: () => performance.now(),
  });
  const { PAYOUT_RAIL_RETURN_WINDOW_S: windows } = settings;
  const inquiries = new LateInquiries(conversation, (rail) => windows.get(rail) ?? USUAL_WINDOW_MS);
  const recovery = new RailRecovery({ conversation, submissions, breakers, outbox });
  const stuckAfter = {
    silentMs: settings.PAYOUT_STUCK_AFTER_S * 1_000,
    approvedMs: APPROVED_STUCK_AFTER_MS,
  };
  return {
    turns: new RailTurns(submissions, breakers, database.reader),
    names: new Set(rails.keys()),
    sweeps: [
      stuckSweep(submissions, stuckAfter),
      ...inquirySweeps(inquiries, rails.keys(), breakers),
      ...recoverySweeps(recovery, rails.keys()),
    ],
  };
}
