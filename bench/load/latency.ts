import type { Latency } from './job.js';

/** Latency statistics in milliseconds. Percentiles are nearest-rank. */
export function latencyOf(samples: readonly number[]): Latency {
  const sorted = Float64Array.from(samples).sort();
  const rank = (share: number): number =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return {
    count: sorted.length,
    meanMs: sorted.length === 0 ? 0 : sorted.reduce((sum, one) => sum + one, 0) / sorted.length,
    p50Ms: rank(0.5),
    p90Ms: rank(0.9),
    p99Ms: rank(0.99),
    maxMs: sorted.at(-1) ?? 0,
  };
}
