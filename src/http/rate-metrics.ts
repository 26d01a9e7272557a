import type { Registry } from 'prom-client';
import { metersOf } from '../core/meters.js';
import type { SharedRateObserver } from './shared-rate-limit.js';

export function sharedRateMetrics(
  registry: Registry,
  onChanged: SharedRateObserver['changed'],
): SharedRateObserver {
  const alone = metersOf(registry).counter(
    'rate_limit_decided_alone_total',
    'Requests rate-limited by this process alone because Redis did not answer',
  );
  return { changed: onChanged, aloneDecided: () => alone.inc() };
}
