import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../helpers/service-process.js';

const run = promisify(execFile);
const PATCHES = join(ROOT, 'test/mutants');
const COPY = join(ROOT, '.run/mutants');
/** A mutant whose tests hang is caught. */
const MAX_MS = 180_000;
const COMPILE = `import('./scripts/lib/build.mjs').then(({ prepareCode }) => prepareCode())`;
const BUILD_REST = `Promise.all([
  import('./scripts/lib/build.mjs').then(({ buildSite }) => buildSite()),
  import('./scripts/lib/programs.mjs').then(({ bundlePrograms }) => bundlePrograms()),
])`;

interface Mutant {
  readonly name: string;
  readonly patch: string;
  /** The test files that should catch it, from the line `Tests:` above the patch. */
  readonly tests: readonly string[];
}

/**
 * Plants each bug of test/mutants in a copy of the commit, and runs the tests that its patch names. A mutant is caught
 * if one of them fails. Throws if the tests fail without any, a patch does not apply, or fewer than 95 % are caught.
 */
export async function mutantsCampaign(temporalAddress: string): Promise<string> {
  const mutants = await readMutants();
  await rm(COPY, { recursive: true, force: true });
  await mkdir(COPY, { recursive: true });
  await run('sh', ['-c', `git archive HEAD | tar -x -C '${COPY}'`], { cwd: ROOT });
  await symlink(join(ROOT, 'node_modules'), join(COPY, 'node_modules'));
  const env = {
    ...process.env,
    TEST_TEMPORAL_ADDRESS: temporalAddress,
    // Names a database of its own.
    MOCHA_WORKER_ID: '9',
    // Otherwise git takes the copy for a part of this checkout, and applies nothing.
    GIT_CEILING_DIRECTORIES: dirname(COPY),
  };
  for (const code of [COMPILE, BUILD_REST]) await evaluate(code, env);
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
  for (const test of tests) {
    const failure = await failureOf([test], env);
    assert(failure === null, `${test} fails without a mutant: ${failure}`);
  }
  const survivors: string[] = [];
  for (const mutant of mutants) {
    const isCaught = await isCaughtIn(env, mutant);
    process.stdout.write(`  ${isCaught ? 'caught' : 'SURVIVED'}: ${mutant.name}\n`);
    if (!isCaught) survivors.push(mutant.name);
  }
  const caught = mutants.length - survivors.length;
  const summary = `${mutants.length} planted bugs, ${caught} caught by the tests that should, survivors: ${survivors.join(', ') || 'none'}`;
  assert(caught >= 0.95 * mutants.length, summary);
  return summary;
}

/** All of them, or those whose file name matches the variable MUTANTS. */
export async function readMutants(): Promise<readonly Mutant[]> {
  const only = process.env.MUTANTS;
  const files = (await readdir(PATCHES)).filter((file) => file.endsWith('.patch')).sort();
  return Promise.all(
    files
      .filter((file) => only === undefined || new RegExp(only).test(file))
      .map(async (file) => {
        const patch = join(PATCHES, file);
        const line = /^Tests: (.+)$/m.exec(await readFile(patch, 'utf8'))?.[1];
        assert(line !== undefined, `${file} has no line "Tests: …"`);
        return { name: file.replace(/\.patch$/, ''), patch, tests: line.split(' ') };
      }),
  );
}

async function isCaughtIn(env: NodeJS.ProcessEnv, { patch, tests }: Mutant): Promise<boolean> {
  await run('git', ['apply', patch], { cwd: COPY, env });
  try {
    await evaluate(COMPILE, env);
    return (await failureOf(tests, env)) !== null;
  } finally {
    await run('git', ['apply', '--reverse', patch], { cwd: COPY, env });
  }
}

async function evaluate(code: string, env: NodeJS.ProcessEnv): Promise<void> {
  await run(process.execPath, ['-e', code], { cwd: COPY, env });
}

/** Returns what mocha printed up to the first failure of these files, or null if all their tests pass. */
async function failureOf(tests: readonly string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  const compiled = tests.map((test) => join('dist', test.replace(/\.ts$/, '.js')));
  const args = ['node_modules/mocha/bin/mocha.js', '--bail', '--exit', ...compiled];
  try {
    await run(process.execPath, args, { cwd: COPY, env, timeout: MAX_MS, maxBuffer: 2 ** 26 });
    return null;
  } catch (failure) {
    return String((failure as { stdout?: unknown }).stdout ?? failure);
  }
}
