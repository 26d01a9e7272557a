import type { Registry } from 'prom-client';
import { metersOf } from '../core/meters.js';
import type { RequestLogObserver } from './log.js';

export function requestLogMetrics(registry: Registry): RequestLogObserver {
  const forgotten = metersOf(registry).counter(
    'requests_forgotten_total',
    'Requests unknown to GET /v1/requests: a tenant had more than are kept, or MySQL was away for long',
  );
  return { dropped: (count) => forgotten.inc(count) };
}
