import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Uuid } from '../../core/ids.js';
import type { ClockObserver } from '../clock-guard.js';
import type { DeskObserver } from './observer.js';

const GROUP_SIZES = [1, 2, 5, 10, 20, 50, 100, 200];
const SECONDS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];

/** Metrics of the posting desks: the number of commands waiting at each by name, everything else for all together. */
export function deskMetrics(registry: Registry): (desk: string) => DeskObserver {
  const registers = [registry];
  const size = new Histogram({
    name: 'desk_group_commands',
    help: 'Commands that shared one ledger transaction',
    buckets: GROUP_SIZES,
    registers,
  });
  const duration = new Histogram({
    name: 'desk_group_seconds',
    help: 'Time from taking a group to answering it, retries included',
    buckets: SECONDS,
    registers,
  });
  const retries = new Counter({
    name: 'desk_group_retries_total',
    help: 'Groups that were started again',
    labelNames: ['reason'] as const,
    registers,
  });
  const unknown = new Counter({
    name: 'desk_commits_unknown_total',
    help: 'Commits that were never answered; their keys were looked up instead',
    registers,
  });
  const unknownKeys = new Counter({
    name: 'desk_fingerprint_keys_unknown_total',
    help: 'Commands answered 503 because their key is bound under a fingerprint key this process lacks',
    registers,
  });
  const shed = new Counter({
    name: 'desk_commands_shed_total',
    help: 'Commands refused at once because too many were waiting',
    registers,
  });
  const clock = new Counter({
    name: 'desk_commands_refused_by_clock_total',
    help: "Commands answered 503 because this process's clock differs from the database's",
    registers,
  });
  const waiting = new Gauge({
    name: 'desk_commands_waiting',
    help: 'Commands waiting for a group, by desk: in a worker, approvals, batches and payouts each have their own',
    labelNames: ['desk'] as const,
    registers,
  });
  return (desk) => ({
    groupPosted: (commands, seconds) => {
      size.observe(commands);
      duration.observe(seconds);
    },
    groupRetried: (reason) => retries.inc({ reason }),
    commitUnknown: () => unknown.inc(),
    keyUnknown: () => unknownKeys.inc(),
    shed: () => shed.inc(),
    clockRefused: (commands) => clock.inc(commands),
    queued: (commands) => waiting.set({ desk }, commands),
  });
}

/** Metrics of time. `strayed` and `ahead` get what belongs in the log. */
export function clockMetrics(
  registry: Registry,
  log: { readonly strayed: ClockObserver['strayed']; readonly ahead: (accountId: Uuid, aheadMs: number) => void },
): { readonly observer: ClockObserver; readonly onAccountAhead: (accountId: Uuid, aheadMs: number) => void } {
  const registers = [registry];
  const difference = new Gauge({
    name: 'clock_difference_seconds',
    help: "How far this process's clock is ahead of the database's; at 5 or more, either way, nothing is posted",
    registers,
  });
  const ahead = new Counter({
    name: 'desk_accounts_ahead_total',
    help: 'Groups with commands answered 503 because an account is dated ahead of every clock',
    registers,
  });
  return {
    observer: { compared: (differenceMs) => difference.set(differenceMs / 1_000), strayed: log.strayed },
    onAccountAhead: (accountId, aheadMs) => {
      ahead.inc();
      log.ahead(accountId, aheadMs);
    },
  };
}
