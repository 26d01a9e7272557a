import { readFileSync } from 'node:fs';
import type { z } from 'zod';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The message lists every fault, one line each. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export function refuseFor(faults: readonly string[]): void {
  if (faults.length > 0)
    throw new ConfigError(`the configuration has ${faults.length} fault(s):\n${faults.join('\n')}`);
}

/** Throws ConfigError. */
export function read<S extends z.ZodObject>(schema: S, environment: Environment): z.infer<S> {
  const set = withFiles(Object.keys(schema.shape), environment);
  const result = schema.safeParse(set);
  if (result.success) return result.data;
  // Only the first fault of each variable, which usually causes the later ones.
  const first = new Map(
    result.error.issues.toReversed().map((issue) => [String(issue.path[0]), issue]),
  );
  const faults = Array.from(first, ([name, issue]) => {
    const problem = set[name] === undefined ? 'is not set' : issue.message;
    return `  ${name}: ${problem} (${schema.shape[name]?.description ?? ''})`;
  });
  throw new ConfigError(`the configuration has ${faults.length} fault(s):\n${faults.join('\n')}`);
}

/** Values by NAME or by NAME_FILE, the path of a file with the value. */
function withFiles(
  names: readonly string[],
  environment: Environment,
): Record<string, string | (() => string)> {
  const set: Record<string, string | (() => string)> = {};
  for (const name of names) {
    const value = environment[name];
    const file = environment[`${name}_FILE`];
    // In a compose file, an empty variable means "not set".
    if (value !== undefined && value !== '') set[name] = value;
    else if (file !== undefined && file !== '' && RENEWED.test(name))
      set[name] = () => readSecret(name, file);
    else if (file !== undefined && file !== '') {
      const secret = readSecret(name, file);
      // An empty file also means "not set".
      if (secret !== '') set[name] = secret;
    }
  }
  return set;
}

const RENEWED = /_TLS_(CA|CERTIFICATE|KEY)$/;

function readSecret(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch {
    throw new ConfigError(
      `the configuration has 1 fault(s):\n  ${name}_FILE: ${file} cannot be read`,
    );
  }
}
