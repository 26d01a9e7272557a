import { lookup, Resolver } from 'node:dns/promises';

/** Every address of a name. Rejects, or returns none, if it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

const QUERY_TIMEOUT_MS = 2_000;
const TRIES = 2;

/** By name servers: getaddrinfo occupies one of few threads, and knows hosts files and search domains. */
export function publicResolver(): Resolve {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: TRIES });
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** Resolves like every program on this machine: for the operators' own names. */
export const machineResolver: Resolve = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};
