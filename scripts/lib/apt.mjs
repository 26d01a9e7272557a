import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { step } from './progress.mjs';
import { findProgram, run } from './run.mjs';

/** Returns whether system packages can be installed without a password: as root, on Debian or Ubuntu. */
export const canInstall = () => process.getuid?.() === 0 && findProgram('apt-get') !== undefined;

/** Ends when every earlier command has: apt-get refuses to run twice at a time. */
let earlier = Promise.resolve();

/**
 * Installs packages, without the recommended ones. `prefix` begins the command (`sudo`), and `env` adds variables. Throws
 * a UserError that begins with `failure`.
 */
export function install(title, failure, packages, { prefix = [], env = {} } = {}) {
  const apt = (onLine, ...args) => {
    const variables = { DEBIAN_FRONTEND: 'noninteractive', ...env };
    const settings = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    const [program, ...rest] = [...prefix, 'env', ...settings, 'apt-get', '-y', ...args];
    return run(program, rest, { failure, onLine });
  };
  const installed = earlier.then(() =>
    step(title, async (onLine) => {
      await apt(onLine, 'update');
      await apt(onLine, 'install', '--no-install-recommends', ...packages);
    }),
  );
  earlier = installed.catch(() => {});
  return installed;
}

/**
 * Unpacks a package into the folder `tree` without installing it, which would start its server. Throws a UserError that
 * begins with `failure`.
 */
export function unpack(title, failure, name, tree) {
  return step(title, async (onLine) => {
    const draft = `${tree}.${process.pid}`;
    mkdirSync(draft, { recursive: true });
    try {
      const download = () => run('apt-get', ['download', name], { failure, onLine, cwd: draft });
      await download().catch(async () => {
        // The package lists may be missing, as in a fresh container.
        await run('apt-get', ['update'], { failure, onLine });
        await download();
      });
      const file = readdirSync(draft).find((found) => found.endsWith('.deb'));
      await run('dpkg-deb', ['--extract', join(draft, file), join(draft, 'tree')], {
        failure,
        onLine,
      });
      rmSync(tree, { recursive: true, force: true });
      renameSync(join(draft, 'tree'), tree);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  });
}
