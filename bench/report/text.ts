import type { Latency } from '../load/job.js';

export function perSecond(value: number): string {
  return `${Math.round(value).toLocaleString('en')}/s`;
}

export function ms(value: number): string {
  return `${value < 10 ? value.toFixed(2) : value.toFixed(1)} ms`;
}

export function latencyText({ p50Ms, p99Ms }: Latency): string {
  return `p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}`;
}

/** Formats megabytes of 10^6 bytes. Null if the system does not report them. */
export function megabytes(value: number | null): string {
  return value === null ? 'unknown' : `${value.toFixed(0)} MB`;
}

export function seconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 1)} s`;
}
