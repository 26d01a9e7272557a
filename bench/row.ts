import type { Bench } from './bench.js';

/** A line of the suite: one workload beside its baseline and its targets. A new one is added to rows/index.ts. */
export interface Row {
  readonly name: string;
  readonly title: string;
  /** Throws RowFailed when there is nothing that could be compared. */
  run(bench: Bench): Promise<Measured>;
}

export interface Measured {
  /** The figures in words. */
  readonly figures: string;
  /** What it is compared with, in words with its figures. */
  readonly baseline: string;
  /** The measured figure as a share of the baseline's: 1 is as good. */
  readonly ratio: number;
  readonly targets: readonly Target[];
  /** Everything else that was measured, for the JSON. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** A row of the figures. (docs/performance.md, Targets) */
export interface Target {
  readonly text: string;
  readonly isMet: boolean;
}

export function atLeast(what: string, value: number, least: number): Target {
  return { text: `${what} ≥ ${least.toLocaleString('en')}`, isMet: value >= least };
}

export function atMost(what: string, value: number, most: number): Target {
  return { text: `${what} ≤ ${most.toLocaleString('en')}`, isMet: value <= most };
}

/** A row could not be measured: its message says why, and what figures there are mean nothing. */
export class RowFailed extends Error {
  override name = 'RowFailed';
}
