/** The value that this share of the values do not exceed; 0 of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
}

/** The 99th, rounded. */
export function percentile99(values: readonly number[]): number {
  return Math.round(percentile(values, 0.99));
}
