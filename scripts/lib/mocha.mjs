import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { filesUnder } from './build.mjs';
import { ROOT } from './paths.mjs';
import { UserError } from './progress.mjs';

/** Two more than the processors, since the tests of faults and workflows mostly wait. More would only compete for the servers. */
const JOBS = Math.min(availableParallelism(), 4) + 2;
const SOURCE = '.test.ts';
/** A test of this name needs no server, and starts no program of the service. */
const UNIT = '.unit.test.ts';
/** A test with this name also needs a browser. */
const BROWSER = 'browser.test.ts';
/** A test with this name also needs Redis. */
const REDIS = 'redis.test.ts';
/** A test with this name also needs HAProxy. */
const HAPROXY = 'haproxy.test.ts';

/** The slowest tests, slowest first, as `SHOW_SLOWEST=300 npm test` lists them. */
const LONGEST = [
  'test/faults/haproxy',
  'test/docs/browser',
  'test/support/browser',
  'test/temporal/replay',
  'test/docs/samples',
  'test/db/failover',
  'test/restores/drill',
  'test/ops/demo-world',
  'test/ops/staff-door',
  'test/conformance/outputs',
  'test/client/programs',
  'test/support/every-page',
  'test/faults/mysql-away',
  'test/model/',
  'test/temporal/outbox',
  'test/payouts/hanging-rail',
  'test/tracing/',
  'test/support/matrix',
  'test/faults/',
];

/**
 * The test files (sources, relative to the checkout) that the arguments name: files and folders below test/, or without
 * any, all of them; with `onlyUnit`, those that need no server. Other arguments are mocha's.
 */
export function selectTests(args, { onlyUnit }) {
  const named = args.filter((arg) => /^(\.\/|dist\/)?test\//.test(arg));
  const files = named.flatMap((arg) =>
    testsIn(arg.replace(/^(\.\/)?(dist\/)?/, '').replace(/\.js$/, '.ts')),
  );
  const ending = onlyUnit ? UNIT : SOURCE;
  const all = () => filesUnder(join(ROOT, 'test'), ending).map((file) => relative(ROOT, file));
  const selected = named.length > 0 ? files : all().sort();
  return {
    isNamed: named.length > 0,
    files: longestFirst(selected),
    needServers: selected.some((file) => !file.endsWith(UNIT)),
    needBrowser: selected.some((file) => file.endsWith(BROWSER)),
    needRedis: selected.some((file) => file.endsWith(REDIS)),
    needHaproxy: selected.some((file) => file.endsWith(HAPROXY)),
    mochaArgs: args.filter((arg) => !named.includes(arg)),
  };
}

/** Tests that take minutes begin first, so that the run does not wait for them at its end. */
function longestFirst(files) {
  const rank = (file) => {
    const at = LONGEST.findIndex((start) => file.startsWith(start));
    return at < 0 ? LONGEST.length : at;
  };
  return files.toSorted((a, b) => rank(a) - rank(b));
}

function testsIn(name) {
  const path = resolve(ROOT, name);
  if (!existsSync(path)) throw new UserError(`There is no ${name}.`);
  const files = statSync(path).isDirectory() ? filesUnder(path, SOURCE) : [path];
  return files.map((file) => relative(ROOT, file));
}

/**
 * Runs the tests, with several files in parallel. `counted` becomes `{passed, failed}`; a failure outside any test (a
 * file that cannot be loaded, nothing run) counts as one.
 */
export function startMocha({ files, mochaArgs, env }) {
  const compiled = files.map((file) => join('dist', file.replace(/\.ts$/, '.js')));
  const jobs = Math.min(files.length, JOBS);
  const child = spawn(
    process.execPath,
    [
      ...['--enable-source-maps', join(ROOT, 'node_modules/mocha/bin/mocha.js')],
      ...['--reporter', join(ROOT, 'scripts/lib/reporter.cjs'), '--fail-zero'],
      // In a single process, a test that leaves something open would keep it alive.
      ...(jobs > 1 ? ['--parallel', '--jobs', String(jobs)] : ['--exit']),
      ...mochaArgs,
      ...compiled,
    ],
    // The worker's number, which names its database; mocha sets it itself if there are several.
    {
      cwd: ROOT,
      env: { ...env, MOCHA_WORKER_ID: '0' },
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    },
  );
  let report = '';
  child.stdio[3].on('data', (chunk) => (report += chunk));
  const counted = new Promise((resolve) => {
    child.once('close', (code) => {
      // Without a report the run ended early, even with code 0.
      const counts = report === '' ? { passed: 0, failed: 1 } : JSON.parse(report);
      resolve(code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts);
    });
  });
  return { child, counted };
}
