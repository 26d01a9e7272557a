import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readJson } from './files.mjs';
import { ensurePackages } from './packages.mjs';
import { ROOT, shortHash } from './paths.mjs';
import { step } from './progress.mjs';
import { run } from './run.mjs';
import { staleSources, transpile } from './transpile.mjs';

const DIST = join(ROOT, 'dist');
const BUNDLES = ['workflow-bundle.cjs', 'workflow-bundle-traced.cjs'].map((name) => join(DIST, name));
const BUNDLE_STAMP = join(DIST, '.workflows');

/** Installs the packages and brings dist/ up to date with the sources. Types are checked by `npm run check`. */
export async function prepareCode() {
  await ensurePackages();
  const sources = sourceFiles();
  const stale = staleSources(sources, DIST);
  if (stale.length > 0) await step('Compiling', () => transpile(stale));
  removeOrphans(new Set(sources.map((file) => relative(ROOT, file).replace(/\.ts$/, ''))));
  await ensureBundle();
}

/**
 * Bundles the workflows into one file, with and without tracing, if they or the few modules that they may import have
 * changed.
 */
async function ensureBundle() {
  const reachable = /^(workflows\/|src\/core\/|src\/temporal\/contracts|src\/bundle-workflows|src\/.+\/rules)/;
  const modules = filesUnder(DIST, '.js').filter((file) => reachable.test(relative(DIST, file)));
  const contents = [...modules, join(ROOT, 'package-lock.json')].map((file) => readFileSync(file, 'utf8'));
  const state = shortHash(contents.join('\n'));
  if (BUNDLES.every((file) => existsSync(file)) && isStamped(BUNDLE_STAMP, state)) return;
  await step('Bundling the workflows', () =>
    run(process.execPath, [join(DIST, 'src/bundle-workflows.js')], {
      cwd: ROOT,
      failure: 'The workflows cannot be bundled',
    }),
  );
  writeFileSync(BUNDLE_STAMP, state);
}

function isStamped(file, state) {
  return existsSync(file) && readFileSync(file, 'utf8') === state;
}

function sourceFiles() {
  const folders = readJson(join(ROOT, 'tsconfig.json')).include;
  return folders.flatMap((folder) => filesUnder(join(ROOT, folder), '.ts')).sort();
}

/** Otherwise the output of a removed source, such as a test or a migration, would still run. */
function removeOrphans(modules) {
  for (const file of filesUnder(DIST, '.js')) {
    if (modules.has(relative(DIST, file).replace(/\.js$/, ''))) continue;
    rmSync(file);
    rmSync(`${file}.map`, { force: true });
  }
}

/** Every file below the folder whose name has this ending. */
export function filesUnder(folder, ending) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}
