import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, run } from './run.mjs';
import { isMariaDb } from './mysql.mjs';
import { CACHE } from './paths.mjs';
import { step, UserError } from './progress.mjs';

const HOW_TO_PROVIDE = 'Put a MySQL 8 mysqld on the PATH, or set MYSQL_SERVER_BIN=/path/to/mysqld.';

const TREE = join(CACHE, 'mysql-sid');

/** Returns a MySQL server that is not MariaDB. On Debian it is fetched into a separate folder. */
export async function findRealMysql() {
  const program = process.env.MYSQL_SERVER_BIN;
  if (program && (!existsSync(program) || isMariaDb(program)))
    throw new UserError(`MYSQL_SERVER_BIN (${program}) is not a MySQL server. ${HOW_TO_PROVIDE}`);
  if (realMysqlAtHand() === null) await bootstrap(TREE);
  return realMysqlAtHand();
}

/** Finds MySQL without fetching anything; null if it is missing. */
export function realMysqlAtHand() {
  const program = process.env.MYSQL_SERVER_BIN || findProgram('mysqld');
  if (program && existsSync(program) && !isMariaDb(program))
    return { program, isMariaDb: false, root: '' };
  return existsSync(TREE) ? { program: '/usr/sbin/mysqld', isMariaDb: false, root: TREE } : null;
}

/** Installs a minimal Debian unstable, the only release with MySQL, without touching the machine's own system. */
async function bootstrap(root) {
  if (process.getuid?.() !== 0 || !findProgram('apt-get')) {
    throw new UserError(
      `There is no MySQL server here, and only root on Debian can fetch one. ${HOW_TO_PROVIDE}`,
    );
  }
  const mirror = await debianMirror();
  await step('Fetching MySQL from Debian unstable (once, about a minute)', async (onLine) => {
    const failure = 'MySQL could not be fetched from Debian unstable';
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    if (!findProgram('debootstrap')) {
      await run('apt-get', ['update'], { failure, onLine, env });
      await run('apt-get', ['install', '-y', '--no-install-recommends', 'debootstrap'], {
        failure,
        onLine,
        env,
      });
    }
    mkdirSync(CACHE, { recursive: true });
    const draft = `${root}.${process.pid}`;
    try {
      const args = ['--variant=minbase', '--include=mysql-server-core', 'sid', draft, mirror];
      await run(findProgram('debootstrap'), args, { failure, onLine, env });
      renameSync(draft, root);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  });
}

/** The mirror from which this machine fetches Debian packages. */
async function debianMirror() {
  const list = await run(
    'apt-get',
    ['indextargets', '--format', '$(ORIGIN) $(SUITE) $(REPO_URI)', 'Created-By: Packages'],
    {
      failure: 'apt-get does not list its sources',
    },
  );
  const sources = list.split('\n').map((line) => line.split(' '));
  const uri = sources.find(
    ([origin, suite]) => origin === 'Debian' && !/-(updates|security)$/.test(suite),
  )?.[2];
  if (!uri)
    throw new UserError(`apt knows no Debian mirror, run apt-get update first. ${HOW_TO_PROVIDE}`);
  return uri;
}
