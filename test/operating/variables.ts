import assert from 'node:assert/strict';
import type { z } from 'zod';

export type Variables = Readonly<Record<string, z.ZodType>>;

/** Read by what runs the process, not by the process. */
const OF_THE_RUNTIME = ['MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_'];
const SECRET_FILE = /^\/run\/secrets\/([a-z_]+)$/;

/** A name without the ending by which a value comes from a file. */
export const plainName = (name: string): string => name.replace(/_FILE$/, '');

/** The secret whose file the value names; undefined if it names none. */
export const secretOf = (value: string): string | undefined => SECRET_FILE.exec(value)?.[1];

/** None of the given variables is unknown to config.ts. */
export function assertKnown(given: readonly string[], variables: Variables): void {
  const names = given.map(plainName).filter((name) => !OF_THE_RUNTIME.includes(name));
  assert.deepEqual(
    names.filter((name) => !(name in variables)),
    [],
  );
}

/** Every variable without a default is given. */
export function assertComplete(given: readonly string[], variables: Variables): void {
  const names = given.map(plainName);
  const needed = Object.entries(variables).filter(
    ([name, schema]) => !schema.safeParse(undefined).success && !names.includes(name),
  );
  assert.deepEqual(needed, []);
}

export function isSecret(variable: string, variables: Variables): boolean {
  return /^secret|password/.test(variables[variable]?.description ?? '');
}
