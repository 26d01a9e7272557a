import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readJson } from './files.mjs';
import { ensurePackages } from './packages.mjs';
import { ROOT, shortHash } from './paths.mjs';
import { step } from './progress.mjs';
import { run } from './run.mjs';
import { transpile } from './transpile.mjs';

const DIST = join(ROOT, 'dist');
const STAMP = join(DIST, '.sources');
const BUNDLES = ['workflow-bundle.cjs', 'workflow-bundle-traced.cjs'].map((name) => join(DIST, name));
const BUNDLE_STAMP = join(DIST, '.workflows');

/** Brings dist/ up to date with the sources, with the packages that they need; `checked`: with types checked. */
export async function prepareCode({ checked = true } = {}) {
  await ensurePackages();
  await ensureBuild(checked);
}

/** Compiles if a source was added, changed or removed since the last time. */
async function ensureBuild(checked) {
  const sources = sourceFiles();
  const state = shortHash(
    [...sources, join(ROOT, 'tsconfig.json'), join(ROOT, 'package-lock.json')]
      .map((file) => `${file} ${statSync(file).mtimeMs} ${statSync(file).size}`)
      .join('\n'),
  );
  if (isStamped(STAMP, state)) return;
  await (checked ? step('Compiling (tsc)', compile) : step('Compiling without types', () => transpile(sources, DIST)));
  // tsc does not rewrite a file that was transpiled without types and is now again as tsc last knew it.
  if (checked) await transpile(sources, DIST);
  removeOrphans(new Set(sources.map((file) => relative(ROOT, file).replace(/\.ts$/, ''))));
  await ensureBundle();
  if (checked) writeFileSync(STAMP, state);
}

async function compile() {
  const args = [join(ROOT, 'node_modules/typescript/bin/tsc'), '--incremental', '--pretty', 'false'];
  await run(process.execPath, args, { cwd: ROOT, failure: 'The sources do not compile' });
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
