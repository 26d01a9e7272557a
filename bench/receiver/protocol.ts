import type { Latency } from '../load/job.js';

/**
 * `count`: how many different deliveries arrived. `report`: with the latencies of events created at `since` or later
 * (ms).
 */
export type ReceiverRequest =
  { readonly kind: 'count' } | { readonly kind: 'report'; readonly since: number };

export interface Report {
  /** Deliveries, including repeated ones. */
  readonly arrivals: number;
  /** Different pairs of endpoint and event. */
  readonly distinct: number;
  /** For these, from the event's created_at to the arrival of its first attempt, without events before `since`. */
  readonly latency: Latency;
  /** From the first arrival to the last. */
  readonly seconds: number;
}

export type ReceiverMessage = { readonly port: number } | { readonly distinct: number } | Report;
