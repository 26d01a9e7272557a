import { Counter, type Registry } from 'prom-client';
import type { RequestLogObserver } from './log.js';

export function requestLogMetrics(registry: Registry): RequestLogObserver {
  const forgotten = new Counter({
    name: 'requests_forgotten_total',
    help: 'Requests of which GET /v1/requests will tell nothing: more of a tenant than are kept, or MySQL was away for long',
    registers: [registry],
  });
  return { forgotten: (count) => forgotten.inc(count) };
}
