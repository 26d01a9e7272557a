import { canInstall, install } from './apt.mjs';
import { UserError } from './progress.mjs';
import { findProgram } from './run.mjs';

const TOOLS = ['mariadb-backup', 'mariadb-binlog', 'mariadb'];
const PACKAGES = ['mariadb-backup', 'mariadb-client'];

/**
 * Checks for the tools that copy a running MariaDB and its binary logs, and installs them if that needs no password.
 * Throws a UserError.
 */
export async function requireMariadbTools() {
  const missing = () => TOOLS.filter((tool) => !findProgram(tool));
  if (missing().length > 0 && canInstall())
    await install("Installing MariaDB's backup (once)", 'It could not be installed', PACKAGES);
  if (missing().length > 0)
    throw new UserError(
      `There is no ${missing().join(', no ')} here: apt-get install ${PACKAGES.join(' ')}.`,
    );
}
