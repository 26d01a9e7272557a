import type { Bench } from './bench.js';
import { RowFailed } from './row-failed.js';

/** A row of the suite: one workload with its baseline and targets. A new one is added to rows/index.ts. */
export interface Row {
  readonly name: string;
  readonly title: string;
  /** Measures the row. Throws RowFailed without a value to compare. */
  run(bench: Bench): Promise<Measured>;
}

export interface Measured {
  /** The figures as a text. */
  readonly figures: string;
  /** Baseline, in words and figures. */
  readonly baseline: string;
  /** The measured figure as a share of the baseline's: 1 is as good. */
  readonly ratio: number;
  readonly targets: readonly Target[];
  /** Everything else measured, for the JSON. */
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Returns the run with the median ratio, and all ratios. Ratios are compared because a slow machine or moment affects both
 * figures of a run alike.
 */
export function medianOf(runs: readonly Measured[]): {
  readonly measured: Measured;
  readonly ratios: readonly number[];
} {
  const sorted = runs.toSorted((a, b) => a.ratio - b.ratio);
  const measured = sorted[Math.floor((sorted.length - 1) / 2)];
  if (measured === undefined) throw new RowFailed('it was not measured');
  return { measured, ratios: sorted.map(({ ratio }) => ratio) };
}

/** A row of the figures. (docs/performance.md, Figures) */
interface Target {
  readonly text: string;
  readonly isMet: boolean;
}

export function atLeast(figure: string, value: number, least: number): Target {
  return { text: `${figure} ≥ ${least.toLocaleString('en')}`, isMet: value >= least };
}

export function atMost(figure: string, value: number, most: number): Target {
  return { text: `${figure} ≤ ${most.toLocaleString('en')}`, isMet: value <= most };
}
