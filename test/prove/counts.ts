/** The full counts of a campaign, or in their order those that the variable names: `10,3`. The summary then says so. */
export function counts<Name extends string>(
  variable: string,
  full: Readonly<Record<Name, number>>,
): Readonly<Record<Name, number>> {
  const given = (process.env[variable] ?? '').split(',').filter(Boolean).map(Number);
  const named = Object.entries<number>(full).map(
    ([name, count], index) => [name, given[index] ?? count] as const,
  );
  return Object.fromEntries(named) as Record<Name, number>;
}
