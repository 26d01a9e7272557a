import { Counter, type Registry } from 'prom-client';
import type { RequestLogObserver } from './log.js';

export function requestLogMetrics(registry: Registry): RequestLogObserver {
  const forgotten = new Counter({
    name: 'requests_forgotten_total',
    help: 'Requests unknown to GET /v1/requests: a tenant had more than are kept, or MySQL was away for long',
    registers: [registry],
  });
  return { forgotten: (count) => forgotten.inc(count) };
}
