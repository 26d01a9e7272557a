import type { Registry } from 'prom-client';
import { metersOf } from '../../core/meters.js';
import type { Uuid } from '../../core/ids.js';

const GROUP_SIZES = [1, 2, 5, 10, 20, 50, 100, 200];
const SECONDS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];

export interface WriterObserver {
  groupPosted(size: number, seconds: number): void;
  /** `unlocked`: AccountNotLocked. `data_fault`: MySQL refused a command's data. */
  groupRetried(
    reason: 'rolled_back' | 'lock_wait' | 'unavailable' | 'unlocked' | 'data_fault',
  ): void;
  commitUnknown(): void;
  /** A command was refused with 503 because its key was bound under an unknown HMAC key. */
  fingerprintKeyUnknown(): void;
  shed(): void;
  queued(commands: number): void;
}

/** Returns an observer for each ledger writer. Only the queue's length is labelled by writer. */
export function writerMetrics(registry: Registry): (writer: string) => WriterObserver {
  const { counter, gauge, histogram } = metersOf(registry);
  const size = histogram(
    'ledger_group_commands',
    'Commands that shared one ledger transaction',
    GROUP_SIZES,
  );
  const duration = histogram(
    'ledger_group_seconds',
    'Time from taking a group to answering it, retries included',
    SECONDS,
  );
  const retries = counter('ledger_group_retries_total', 'Groups that were started again', [
    'reason',
  ]);
  const unknown = counter(
    'ledger_commits_unknown_total',
    'Commits that were never answered; their keys were looked up instead',
  );
  const unknownKeys = counter(
    'ledger_fingerprint_keys_unknown_total',
    'Commands answered 503 because their key is bound under a fingerprint key this process lacks',
  );
  const shed = counter(
    'ledger_commands_shed_total',
    'Commands refused at once because too many were waiting',
  );
  const waiting = gauge(
    'ledger_commands_waiting',
    'Commands waiting for a group, by writer: in a worker, approvals, batches and payouts each have their own',
    ['writer'],
  );
  return (writer) => ({
    groupPosted: (commands, seconds) => {
      size.observe(commands);
      duration.observe(seconds);
    },
    groupRetried: (reason) => retries.inc({ reason }),
    commitUnknown: () => unknown.inc(),
    fingerprintKeyUnknown: () => unknownKeys.inc(),
    shed: () => shed.inc(),
    queued: (commands) => waiting.set({ writer }, commands),
  });
}

/** Counts accounts dated ahead of the database's clock, and calls the function that logs them. */
export function accountAheadMetrics(
  registry: Registry,
  log: (accountId: Uuid, aheadMs: number) => void,
): (accountId: Uuid, aheadMs: number) => void {
  const ahead = metersOf(registry).counter(
    'ledger_accounts_ahead_total',
    "Groups with commands answered 503 because an account is dated ahead of the database's clock",
  );
  return (accountId, aheadMs) => {
    ahead.inc();
    log(accountId, aheadMs);
  };
}
