import type { Latency } from '../load/job.js';

/** What the bench and the receiver's process tell each other. */

/** `count`: how many different deliveries came. `report`: its latencies are of events made at `since` or later (ms). */
export type Asked = { readonly ask: 'count' } | { readonly ask: 'report'; readonly since: number };

export interface Report {
  /** Deliveries, repeated ones included. */
  readonly arrivals: number;
  /** Different pairs of endpoint and event. */
  readonly distinct: number;
  /** Of these, from the event's created_at to the arrival of its first attempt, events before `since` left out. */
  readonly latency: Latency;
  /** From the first arrival to the last. */
  readonly seconds: number;
}

export type Told = { readonly port: number } | { readonly distinct: number } | Report;
