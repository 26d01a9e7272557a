import type { Registry } from 'prom-client';
import type { RateConfig } from '../config/rates.js';
import type { Logger } from '../http/logging.js';
import { sharedRateMetrics } from '../http/metrics.js';
import { RateLimiter, type RateLimits } from '../http/rate-limit.js';
import { SharedRateLimiter } from '../http/shared-rate-limit.js';

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
  const { RedisBuckets } = await import('../http/redis-buckets.js');
  const store = new RedisBuckets(url);
  const observer = sharedRateMetrics(registry, (isThere) =>
    isThere
      ? logger.info('Redis answers: the processes share the rate limits')
      : logger.warn('Redis gives no answers: this process grants its share of the rate limits'),
  );
  return {
    limits: new SharedRateLimiter(rates, processes, store, observer),
    close: () => store.close(),
  };
}
