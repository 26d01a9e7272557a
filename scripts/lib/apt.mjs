import { step } from './progress.mjs';
import { findProgram, run } from './run.mjs';

/** Whether packages of the system can be installed without asking: as root, on Debian or Ubuntu. */
export const canInstall = () => process.getuid?.() === 0 && findProgram('apt-get') !== undefined;

/** Installs these, with nothing that they only recommend. Throws a UserError that begins with `failure`. */
export function install(title, failure, packages) {
  return step(title, async (onLine) => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update'], { failure, onLine, env });
    await run('apt-get', ['install', '-y', '--no-install-recommends', ...packages], { failure, onLine, env });
  });
}
