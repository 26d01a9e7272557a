import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { step } from './progress.mjs';
import { findProgram, run } from './run.mjs';

/** Returns whether system packages can be installed without a password: as root, on Debian or Ubuntu. */
export const canInstall = () => process.getuid?.() === 0 && findProgram('apt-get') !== undefined;

/** Installs these, without recommended packages. Throws a UserError that begins with `failure`. */
export function install(title, failure, packages) {
  return step(title, async (onLine) => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update'], { failure, onLine, env });
    await run('apt-get', ['install', '-y', '--no-install-recommends', ...packages], {
      failure,
      onLine,
      env,
    });
  });
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
