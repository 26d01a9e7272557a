import { Counter, type Registry } from 'prom-client';
import type { SharedRateObserver } from './shared-rate-limit.js';

/** Metrics of the shared rate limits. `onChanged` gets a line for the log. */
export function sharedRateMetrics(registry: Registry, onChanged: SharedRateObserver['changed']): SharedRateObserver {
  const alone = new Counter({
    name: 'rate_limit_decided_alone_total',
    help: 'Requests rate-limited by this process alone because Redis did not answer',
    registers: [registry],
  });
  return { changed: onChanged, aloneDecided: () => alone.inc() };
}
