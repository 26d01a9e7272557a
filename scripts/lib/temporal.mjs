import { answersOk } from './ports.mjs';

const SEARCH_ATTRIBUTES = ['TenantId', 'ResourceId', 'AccountId', 'BusinessStatus', 'Amount'];

/** The part that runs the development server, with its state in `database` or, without one, in memory. */
export function temporalPart(program, { ports, log, database }) {
  const dynamic = {
    // A busy worker reaches the default of 2,400 requests a second.
    'frontend.namespaceRPS': 20_000,
    // A single process serves everything: more partitions only make tasks wait for each other.
    'matching.numTaskqueueReadPartitions': 1,
    'matching.numTaskqueueWritePartitions': 1,
    // Waiting tasks are handed out in turn by fairness key, which is the tenant.
    'matching.useNewMatcher': true,
    'matching.enableFairness': true,
  };
  return {
    name: 'temporal',
    command: program,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--log-level', 'warn'],
      ...[
        '--port',
        `${ports.temporal}`,
        '--http-port',
        `${ports.temporalHttp}`,
        '--ui-port',
        `${ports.temporalUi}`,
      ],
      ...(database ? ['--db-filename', database] : []),
      ...Object.entries(dynamic).flatMap(([name, value]) => [
        '--dynamic-config-value',
        `${name}=${value}`,
      ]),
      ...SEARCH_ATTRIBUTES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
    ],
    log,
    isReady: () => answersOk(`http://127.0.0.1:${ports.temporalHttp}/api/v1/namespaces/default`),
    readyMs: 60_000,
    stopMs: 15_000,
  };
}
