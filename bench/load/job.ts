import type { Asset } from '../../src/core/amount.js';

/** A request for the generator; JSON bodies have an idempotency key. */
export interface ListedRequest {
  /** Path and query. */
  readonly path: string;
  /** Latencies are also reported for each of these. */
  readonly labels?: readonly string[];
  readonly post?: { readonly key: string; readonly body: string };
}

export type Requests =
  /** Transfers under new keys, between accounts at random. */
  | {
      readonly kind: 'transfers';
      readonly sources: readonly string[];
      readonly destinations: readonly string[];
      readonly raw: string;
      readonly asset: Asset;
    }
  /**
   * Transfers that wait for approval (202), each approved (200) by another member as soon as it is answered, over the
   * same connection. The labels are create and approve.
   */
  | {
      readonly kind: 'approved transfers';
      readonly sources: readonly string[];
      readonly destinations: readonly string[];
      readonly raw: string;
      readonly asset: Asset;
      readonly approverToken: string;
    }
  /** Requests of a list, each once in its order, or random ones until time is up. */
  | {
      readonly kind: 'listed';
      readonly list: readonly ListedRequest[];
      readonly order: 'once' | 'random';
    };

export interface LoadJob {
  /** The API processes' ports, over which the connections are spread. */
  readonly ports: readonly [number, ...number[]];
  readonly token: string;
  /** Sent instead of the token. */
  readonly cookie?: string;
  readonly connections: number;
  /** Requests a second, sent whether or not earlier ones were answered. Null: each connection waits for its answer. */
  readonly perSecond: number | null;
  readonly warmUpS: number;
  readonly seconds: number;
  /** Any other status fails the row, unless a kind of request has its own. */
  readonly expectedStatus: number;
  readonly requests: Requests;
}

export interface Latency {
  readonly count: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface LoadResult {
  /** In the measured time, without the warm-up. */
  readonly perSecond: number;
  /** All answers, including the warm-up. */
  readonly answered: number;
  readonly latency: Latency;
  readonly byLabel: Readonly<Record<string, Latency>>;
  /** Answers with another status, including the warm-up, and the first of them. */
  readonly unexpected: number;
  readonly firstUnexpected: string | null;
  /** CPU time of the generator itself, in microseconds. */
  readonly generatorUsPerRequest: number;
}
