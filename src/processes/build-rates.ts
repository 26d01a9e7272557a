import type { Registry } from 'prom-client';
import type { RateConfig } from '../config/rates.js';
import { metersOf } from '../core/meters.js';
import type { Logger } from '../http/logging.js';
import { RateLimiter, type RateLimits } from '../http/rate-limit.js';

export interface BuiltRates {
  readonly limits: RateLimits;
  close(): void;
}

/** The client of Redis, a fifth of the code loaded at the start, is loaded only if needed. */
export async function buildRates(
  config: RateConfig,
  registry: Registry,
  logger: Logger,
): Promise<BuiltRates> {
  const { API_PROCESSES: processes, REDIS_URL: url, RATE_LIMITS: rates } = config;
  if (url === undefined)
    return { limits: new RateLimiter(rates, processes), close: () => undefined };
  const { RedisBuckets, SharedRateLimiter } = await import('../http/shared-rate-limit.js');
  const store = new RedisBuckets(url);
  const localDecisions = metersOf(registry).counter(
    'rate_limit_decided_alone_total',
    'Requests rate-limited by this process alone because Redis did not answer',
  );
  const changed = (isThere: boolean): void =>
    isThere
      ? logger.info('Redis answers: the processes share the rate limits')
      : logger.warn('Redis gives no answers: this process grants its share of the rate limits');
  const observer = { changed, decidedLocally: () => localDecisions.inc() };
  return {
    limits: new SharedRateLimiter(rates, processes, store, observer),
    close: () => store.close(),
  };
}
