import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readJson } from './files.mjs';
import { ensurePackages } from './packages.mjs';
import { pathIn, ROOT, shortHash } from './paths.mjs';
import { part, step } from './progress.mjs';
import { run } from './run.mjs';
import { staleSources, transpile } from './transpile.mjs';

const DIST = join(ROOT, 'dist');
const BUNDLES = ['workflow-bundle.cjs', 'workflow-bundle-traced.cjs'].map((name) =>
  join(DIST, name),
);
const BUNDLE_STAMP = join(DIST, '.workflows');
const SITE = join(DIST, 'site');
const SITE_STAMP = join(DIST, '.site');
/** Folders that the service, its command line and the demo world do not need. */
const NOT_IN_SERVICE = ['test', 'bench', 'examples'];

/** Installs the packages, compiles all sources and bundles the workflows. `npm run check` checks the types. */
export async function prepareCode() {
  await compile();
  await bundleWorkflows();
}

/**
 * Installs the packages and brings dist/ up to date with the sources; with `onlyService`, without those of tests and
 * benchmarks.
 */
export async function compile({ onlyService = false } = {}) {
  await ensurePackages();
  const { include } = readJson(join(ROOT, 'tsconfig.json'));
  const folders = include.filter((folder) => !onlyService || !NOT_IN_SERVICE.includes(folder));
  const sources = folders.flatMap((folder) => filesUnder(join(ROOT, folder), '.ts'));
  const stale = staleSources(sources, DIST);
  if (stale.length > 0) await part('Compiled code', () => transpile(stale));
  const outputs = folders.flatMap((folder) => filesUnder(join(DIST, folder), '.js'));
  removeOrphans(outputs, new Set(sources.map((file) => pathIn(ROOT, file).replace(/\.ts$/, ''))));
}

/** Checks the types, from the cache of `npm run check`. Throws UserError with the faults. */
export function checkTypes() {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  return run(process.execPath, [tsc, '--noEmit', '--incremental'], {
    cwd: ROOT,
    failure: 'The types have faults',
  });
}

/** Bundles the workflows, with and without tracing, if they or the few modules that they may import have changed. */
export async function bundleWorkflows() {
  const reachable = /^(workflows\/|src\/core\/|src\/temporal\/contracts|src\/.+\/rules)/;
  const state = hashOfCode(reachable);
  if (BUNDLES.every((file) => existsSync(file)) && isStamped(BUNDLE_STAMP, state)) return;
  await step('Bundling the workflows', () =>
    run(process.execPath, [join(ROOT, 'scripts/lib/bundle-workflows.mjs')], {
      cwd: ROOT,
      failure: 'The workflows cannot be bundled',
    }),
  );
  writeFileSync(BUNDLE_STAMP, state);
}

/** Renders the docs pages that the API serves into dist/site, if they or the code that they describe has changed. */
export async function buildSite() {
  const pages = filesUnder(join(ROOT, 'docs'), '').filter((file) =>
    /^(guides|site)\/.+\.\w+$|^(webhooks\.md|postman\.json)$/.test(
      relative(join(ROOT, 'docs'), file),
    ),
  );
  const state = hashOfCode(/^(src|scripts\/(docs|build-site))/, pages);
  if (existsSync(SITE) && isStamped(SITE_STAMP, state)) return;
  // A server that starts meanwhile would read the old one, and keep it.
  rmSync(SITE, { recursive: true, force: true });
  await part('Documentation', () =>
    run(process.execPath, [join(DIST, 'scripts/build-site.js')], {
      cwd: ROOT,
      failure: 'The documentation cannot be built',
    }),
  );
  writeFileSync(SITE_STAMP, state);
}

/** Returns the compiled files whose path below dist/ matches, and the list of packages. */
export function codeFiles(pattern) {
  const modules = filesUnder(DIST, '.js').filter((file) => pattern.test(pathIn(DIST, file)));
  return [...modules, join(ROOT, 'package-lock.json')];
}

/** Returns a hash of the files that `codeFiles` returns, and of other files. */
export function hashOfCode(pattern, others = []) {
  const files = [...codeFiles(pattern), ...others];
  return shortHash(files.map((file) => readFileSync(file, 'utf8')).join('\n'));
}

/** Returns whether the stamp in the file is this state. */
export function isStamped(file, state) {
  return existsSync(file) && readFileSync(file, 'utf8') === state;
}

/** Removes the output of removed sources, such as tests and migrations, which would otherwise still run. */
function removeOrphans(outputs, modules) {
  for (const file of outputs) {
    if (modules.has(pathIn(DIST, file).replace(/\.js$/, ''))) continue;
    rmSync(file);
    rmSync(`${file}.map`, { force: true });
  }
}

/** Every file below the folder whose name has this ending. */
export function filesUnder(folder, ending) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(folder, name));
}
