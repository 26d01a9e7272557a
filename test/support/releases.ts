import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { TestDatabase } from './database.js';
import { ROOT } from './service-process.js';

const run = promisify(execFile);
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'money-movement');
const MAX_OUTPUT = 256 * 1024 * 1024;
const hash = (text: Buffer | string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** Releases of the service, as folders with a `dist` of their own. */

/** While there are no tags: what came before releases were worked with. */
const BEFORE_TAGS = '45f2cb8f1a30';

/** The newest tag, or what UPGRADE_FROM names. */
export async function previousRelease(): Promise<string> {
  const tag = await run('git', ['-C', ROOT, 'describe', '--tags', '--abbrev=0']).catch(() => null);
  return process.env.UPGRADE_FROM ?? tag?.stdout.trim() ?? BEFORE_TAGS;
}

/** The code of an earlier commit, built into the cache; null where the history does not reach it. */
export async function buildRelease(commit: string): Promise<string | null> {
  const git = (...args: readonly string[]): Promise<{ stdout: Buffer }> =>
    run('git', ['-C', ROOT, ...args], { encoding: 'buffer', maxBuffer: MAX_OUTPUT });
  const found = await git('rev-parse', '--verify', `${commit}^{commit}`).catch(() => null);
  if (found === null) return null;
  const folder = join(CACHE, `release-${found.stdout.toString().trim().slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const { stdout: archive } = await git('archive', commit);
  writeFileSync(`${draft}.tar`, archive);
  await run('tar', ['-xf', `${draft}.tar`, '-C', draft]);
  rmSync(`${draft}.tar`);
  // Its own packages where they are others.
  const lock = (root: string): string => hash(readFileSync(join(root, 'package-lock.json')));
  if (lock(draft) === lock(ROOT)) symlinkSync(join(ROOT, 'node_modules'), join(draft, 'node_modules'));
  else await run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: draft, maxBuffer: MAX_OUTPUT });
  const build = "(await import('./scripts/lib/build.mjs')).prepareCode({ checked: false })";
  await run(process.execPath, ['--input-type=module', '--eval', `await ${build}`], {
    cwd: draft,
    maxBuffer: MAX_OUTPUT,
  });
  renameSync(draft, folder);
  return folder;
}

/**
 * Where that release finds the database: by a user of its own, who may do what it knew of. Some that came before this one start
 * with no other.
 */
export async function databaseOf(folder: string, db: TestDatabase): Promise<string> {
  const path = pathToFileURL(join(folder, 'dist/src/db/grants.js')).href;
  const { GRANTS } = (await import(path)) as { GRANTS: Readonly<Record<string, string>> };
  const url = new URL(db.url);
  url.username = `${db.name}_before`;
  const user = `'${url.username}'@'%'`;
  await db.sql(`CREATE OR REPLACE USER ${user} IDENTIFIED BY '${url.password}'`);
  for (const [table, rights] of Object.entries(GRANTS))
    await db.sql(`GRANT ${rights} ON ${db.name}.${table} TO ${user}`);
  return url.href;
}

/** What every release asks of a batch of workflows is in this file. */
const BUNDLE = 'dist/workflow-bundle.cjs';
/** Where a workflow waits for approvals, in the bundle: with the module's own name of the SDK. */
const WAITS = /await \(0,(\w+)\.condition\)\(\(\) => front\.hasMail, Math\./;

/** The code of now with workflows that do something more before they wait for approvals, behind `patched()`, in a folder. */
export function changedRelease(folder: string): string {
  mkdirSync(join(folder, 'dist'), { recursive: true });
  for (const part of ['src', 'workflows', 'activities', 'migrations'])
    cpSync(join(ROOT, 'dist', part), join(folder, 'dist', part), { recursive: true });
  const bundle = readFileSync(join(ROOT, BUNDLE), 'utf8');
  const changed = bundle.replace(
    WAITS,
    (wait, sdk: string) => `if ((0,${sdk}.patched)('a-later-release')) await (0,${sdk}.sleep)(1);\n        ${wait}`,
  );
  if (changed === bundle) throw new Error('the bundle has no place to be changed');
  writeFileSync(join(folder, BUNDLE), changed);
  for (const beside of ['node_modules', 'package.json', 'docs']) symlinkSync(join(ROOT, beside), join(folder, beside));
  return folder;
}
