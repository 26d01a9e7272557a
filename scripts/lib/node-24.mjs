import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, ROOT } from './paths.mjs';
import { say, step } from './progress.mjs';
import { findProgram, run } from './run.mjs';

const TIMEOUT_MS = 120_000;

/**
 * A Node of the image's major version, if this runs on an older one: named by NODE_24, from the cache, or from the npm
 * package that contains it. Undefined if none is needed or available; tests that want it are then pending.
 */
export async function findNode24() {
  const [, version, major] = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').match(
    /^FROM node:((\d+)[\d.]+)/m,
  );
  if (process.versions.node.startsWith(`${major}.`)) return undefined;
  if (process.env.NODE_24) return process.env.NODE_24;
  const folder = join(CACHE, `node-${version}`);
  const node = join(folder, 'node_modules', `node-linux-${process.arch}`, 'bin/node');
  if (!existsSync(node) && process.platform === 'linux') await fetchNode(version, folder);
  const isUsable = existsSync(node) && spawnSync(node, ['--version']).status === 0;
  if (!isUsable)
    say(`  NODE ${major} IS MISSING: the tests on it are skipped. Set NODE_24 to its path.`);
  return isUsable ? node : undefined;
}

async function fetchNode(version, folder) {
  const npm = process.env.npm_execpath;
  const [command, ...first] = npm ? [process.execPath, npm] : [findProgram('npm')];
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const args = [
    'install',
    '--prefix',
    draft,
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
  ];
  try {
    await step(`Fetching Node ${version}, for the tests on it`, () =>
      run(command, [...first, ...args, `node-linux-${process.arch}@${version}`], {
        failure: 'npm could not fetch it',
        timeout: TIMEOUT_MS,
      }),
    );
    if (!existsSync(folder)) renameSync(draft, folder);
  } catch (error) {
    say(`  ${error.message.split('\n')[0]}`);
  }
}
