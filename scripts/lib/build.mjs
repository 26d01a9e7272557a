import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readJson } from './files.mjs';
import { ensurePackages } from './packages.mjs';
import { ROOT, shortHash } from './paths.mjs';
import { step } from './progress.mjs';
import { run } from './run.mjs';

const DIST = join(ROOT, 'dist');
const STAMP = join(DIST, '.sources');

/** Makes dist/ what the sources say, with the packages that they need. */
export async function prepareCode() {
  await ensurePackages();
  await ensureBuild();
}

/** Compiles when a source was added, changed or removed since the last time. */
async function ensureBuild() {
  const sources = sourceFiles();
  const state = shortHash(
    [...sources, join(ROOT, 'tsconfig.json'), join(ROOT, 'package-lock.json')]
      .map((file) => `${file} ${statSync(file).mtimeMs} ${statSync(file).size}`)
      .join('\n'),
  );
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === state) return;
  await step('Compiling (tsc)', () =>
    run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '--incremental', '--pretty', 'false'], {
      cwd: ROOT,
      failure: 'The sources do not compile',
    }),
  );
  removeOrphans(new Set(sources.map((file) => relative(ROOT, file).replace(/\.ts$/, ''))));
  writeFileSync(STAMP, state);
}

function sourceFiles() {
  const folders = readJson(join(ROOT, 'tsconfig.json')).include;
  return folders.flatMap((folder) => filesUnder(join(ROOT, folder), '.ts')).sort();
}

/** What a removed source had left in dist/ would otherwise still run: a test, a migration. */
function removeOrphans(modules) {
  for (const file of filesUnder(DIST, '.js')) {
    if (modules.has(relative(DIST, file).replace(/\.js$/, ''))) continue;
    rmSync(file);
    rmSync(`${file}.map`, { force: true });
  }
}

/** Every file under the folder whose name has this ending. */
export function filesUnder(folder, ending) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}
