import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE } from './paths.mjs';
import { step, UserError } from './progress.mjs';
import { findProgram, run } from './run.mjs';

/**
 * The folder of the cache that holds a Python package of exactly this version, which pip fetches if there is Python.
 * Throws a UserError that begins with `failure`.
 */
export async function fetchByPip(name, version, { title, failure, options = [] }) {
  const folder = join(CACHE, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  const python = findProgram('python3');
  if (!python) throw new UserError(failure);
  const draft = `${folder}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  const args = [
    '-m',
    'pip',
    'install',
    '--quiet',
    ...options,
    '--target',
    draft,
    `${name}==${version}`,
  ];
  await step(title, (onLine) => run(python, args, { failure, onLine }));
  renameSync(draft, folder);
  return folder;
}

/** How the package is run: `{command, args, env}`. `args` are Python's. */
export function pythonIn(folder, ...args) {
  return { command: findProgram('python3'), args, env: { ...process.env, PYTHONPATH: folder } };
}
