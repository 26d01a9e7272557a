import { lookup, Resolver } from 'node:dns/promises';

/** Every address that a name has. Rejects, or answers none, when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

const QUERY_TIMEOUT_MS = 2_000;
const TRIES = 2;

/**
 * Asks the name servers. Not by getaddrinfo, which takes one of the process's few threads for as long as a tenant's name
 * server does not answer, nor with its hosts file and search domains: a tenant's name is a public one.
 */
export function publicResolver(): Resolve {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: TRIES });
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** As every program on this machine sees the name: for the operator's own. */
export const machineResolver: Resolve = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};
