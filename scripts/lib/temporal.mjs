import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, ROOT, shortHash } from './paths.mjs';
import { answersOk } from './ports.mjs';
import { step, UserError } from './progress.mjs';
import { findProgram, run } from './run.mjs';

const MODULE = 'github.com/temporalio/cli';
const SEARCH_ATTRIBUTES = ['TenantId', 'ResourceId', 'AccountId', 'BusinessStatus'];

/** The Temporal command: of the machine, of the cache, or built into the cache. */
export async function findOrBuildTemporal() {
  const onPath = findProgram('temporal');
  if (onPath) return onPath;
  const tool = join(ROOT, 'tools/temporal');
  const version = readFileSync(join(tool, 'go.mod'), 'utf8').match(new RegExp(`${MODULE} v(\\S+)`))[1];
  const cached = join(CACHE, `temporal-${version}-${shortHash(readFileSync(join(tool, 'go.sum')))}`);
  if (!existsSync(cached)) await buildTemporal(tool, cached);
  return cached;
}

async function buildTemporal(tool, target) {
  const go = findProgram('go') ?? (existsSync('/usr/local/go/bin/go') && '/usr/local/go/bin/go');
  if (!go) {
    throw new UserError(
      'There is no Temporal development server on this machine: install the `temporal` command (https://docs.temporal.io/cli) or Go, ' +
        'from which it is built once, then run this again. Or name a running server by TEMPORAL_ADDRESS=host:7233.',
    );
  }
  mkdirSync(CACHE, { recursive: true });
  const draft = `${target}.${process.pid}`;
  await step('Building the Temporal development server (once, about 3 minutes)', async (detail) => {
    let compiled = 0;
    await run(go, ['build', '-v', '-trimpath', '-ldflags=-s -w', '-o', draft, `${MODULE}/cmd/temporal`], {
      cwd: tool,
      failure: 'The Temporal development server could not be built from tools/temporal',
      onLine: (line) => detail(line.startsWith('go: ') ? line.slice('go: '.length) : `${++compiled} packages compiled`),
    });
  });
  renameSync(draft, target);
}

/** The part that runs the development server; it keeps its state in `database`, or, without one, in memory. */
export function temporalPart(program, { ports, log, database }) {
  const dynamic = {
    // The default, 2,400 requests a second, is reached by one busy worker.
    'frontend.namespaceRPS': 20_000,
    // One process serves everything: more partitions only make tasks wait for one another.
    'matching.numTaskqueueReadPartitions': 1,
    'matching.numTaskqueueWritePartitions': 1,
  };
  return {
    name: 'temporal',
    command: program,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--log-level', 'warn'],
      ...['--port', `${ports.temporal}`, '--http-port', `${ports.temporalHttp}`, '--ui-port', `${ports.temporalUi}`],
      ...(database ? ['--db-filename', database] : []),
      ...Object.entries(dynamic).flatMap(([name, value]) => ['--dynamic-config-value', `${name}=${value}`]),
      ...SEARCH_ATTRIBUTES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
    ],
    log,
    isReady: () => answersOk(`http://127.0.0.1:${ports.temporalHttp}/api/v1/namespaces/default`),
    readyMs: 60_000,
    stopMs: 15_000,
  };
}
