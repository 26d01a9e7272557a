/**
 * `npm run check`: types, lint, format, the imports between folders and the lines of pages, all at once; then a list of
 * old proofs. What has not changed is cached in dist/.
 */
import { execFileSync, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { ROOT } from './lib/paths.mjs';
import { say } from './lib/progress.mjs';

const IMPORTING_FOLDERS = [
  'src',
  'development',
  'workflows',
  'activities',
  'migrations',
  'bench',
  'packages/client/src',
];
/** Checks, the longest first. */
const CHECKS = [
  ['types and lint', process.execPath, 'scripts/lib/types-and-lint.mjs'],
  [
    'format',
    'node_modules/.bin/prettier',
    ...['--check', '.', '--cache', '--cache-strategy', 'content'],
    ...['--cache-location', 'dist/.prettier'],
  ],
  [
    'imports',
    'node_modules/.bin/depcruise',
    ...['--config', '.dependency-cruiser.cjs', '--cache', 'dist/.depcruise'],
    ...IMPORTING_FOLDERS,
  ],
  ['lines of pages', process.execPath, 'scripts/lint/page-lines.mjs'],
];

/** Resolves to whether the check passed, after printing all that it printed. */
function check([name, program, ...args]) {
  const began = Date.now();
  const child = spawn(program, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((resolve) => {
    child.once('error', ({ message }) => (output += message));
    child.once('close', (code) => {
      const seconds = ((Date.now() - began) / 1000).toFixed(1);
      say(`${code === 0 ? '✓' : '✗'} ${name} (${seconds} s)${code === 0 ? '' : `\n${output}`}`);
      resolve(code === 0);
    });
  });
}

const remaining = CHECKS.values();
const results = [];
async function runRemaining() {
  for (const one of remaining) results.push(await check(one));
}
await Promise.all(Array.from({ length: availableParallelism() }, runRemaining));
process.exitCode = Number(results.includes(false));
execFileSync(process.execPath, ['scripts/lint/proof-age.mjs'], { cwd: ROOT, stdio: 'inherit' });
