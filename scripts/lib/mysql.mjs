import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { install } from './apt.mjs';
import { greets } from './ports.mjs';
import { step, UserError } from './progress.mjs';
import { findProgram, run } from './run.mjs';

const PACKAGES = ['default-mysql-server-core', 'default-mysql-client-core'];
const isRoot = process.getuid?.() === 0;

export const ADMIN_USER = 'money_admin';
export const APP_USER = 'money_app';

/**
 * This machine's MySQL or MariaDB server, installed first if that needs no password: `{program, isMariaDb, root}`, where
 * `root` is the folder that the program sees as its root (empty: the machine's own).
 */
export async function findOrInstallMysql() {
  const program = findProgram('mysqld', 'mariadbd') ?? (await installMysql());
  return { program, isMariaDb: isMariaDb(program), root: '' };
}

export function isMariaDb(program) {
  return execFileSync(program, ['--no-defaults', '--version'], { encoding: 'utf8' }).includes(
    'MariaDB',
  );
}

async function installMysql() {
  const command = `apt-get install ${PACKAGES.join(' ')}`;
  const otherwise =
    'Or run the whole service in containers with: docker compose up. Or set MYSQL_URL=mysql://user:password@host:3306 to use a running server.';
  if (!findProgram('apt-get')) {
    throw new UserError(
      `There is no MySQL server on this machine: install MySQL (8.0 or later) or MariaDB (10.11 or later), then run this again. ${otherwise}`,
    );
  }
  const asRoot = rootPrefix();
  if (!asRoot)
    throw new UserError(
      `There is no MySQL server on this machine. Install it with: sudo ${command}. ${otherwise}`,
    );
  const failure = `The MySQL server could not be installed with ${command}`;
  await install('Installing the MySQL server (apt-get)', failure, PACKAGES, { prefix: asRoot });
  const program = findProgram('mysqld', 'mariadbd');
  if (!program) throw new UserError(`${command} installed no server program. ${otherwise}`);
  return program;
}

/** The prefix that runs a command as root; undefined if that needs a password. */
function rootPrefix() {
  if (isRoot) return [];
  try {
    execFileSync('sudo', ['-n', 'true'], { stdio: 'ignore' });
    return ['sudo', '-n'];
  } catch {
    return undefined;
  }
}

/**
 * The part that runs a private, durable server on the loopback address, with its data in `folder` (below
 * `server.root`). It has an administrator and, if `app: {database, password}` is given, the application's user and an
 * empty database.
 */
export async function mysqlPart(
  server,
  { folder, port, log, bufferPool, redoLog, adminPassword, app },
) {
  const inside = folder.slice(server.root.length);
  const users = join(folder, 'users.sql');
  const command = (args) =>
    server.root
      ? { command: 'chroot', args: [server.root, server.program, ...args] }
      : { command: server.program, args };
  // A starting server removes what it takes for its own temporary files: another server's, if they share a folder.
  mkdirSync(join(folder, 'tmp'), { recursive: true, mode: 0o700 });
  const folders = [`--datadir=${join(inside, 'data')}`, `--tmpdir=${join(inside, 'tmp')}`];
  const general = ['--no-defaults', ...folders, ...(isRoot ? ['--user=root'] : [])];
  await initialise(server, folder, command([...general, '--initialize-insecure']));
  // The file is read at every start, before the first connection, so there is never a missing or stale password.
  writeFileSync(users, userStatements(adminPassword, app), { mode: 0o600 });
  return {
    name: 'mysql',
    ...command([
      ...general,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      // Relative to the data folder: a socket's path is limited to about a hundred characters.
      '--socket=mysql.sock',
      '--pid-file=mysql.pid',
      `--init-file=${join(inside, 'users.sql')}`,
      '--skip-name-resolve',
      '--skip-log-bin',
      '--max-connections=400',
      '--character-set-server=utf8mb4',
      '--innodb-flush-log-at-trx-commit=1',
      `--innodb-buffer-pool-size=${bufferPool}`,
      // With the default of 200 pages a second every commit waits for seconds whenever the log is full.
      '--innodb-io-capacity=2000',
      ...(redoLog
        ? [`--innodb-${server.isMariaDb ? 'log-file-size' : 'redo-log-capacity'}=${redoLog}`]
        : []),
      ...(server.isMariaDb ? [] : ['--mysqlx=OFF', '--secure-file-priv=NULL']),
    ]),
    log,
    isReady: () => greets(port),
    readyMs: 60_000,
    stopMs: 30_000,
  };
}

async function initialise(server, folder, mysqlCommand) {
  const done = join(folder, 'initialised');
  if (existsSync(done)) return;
  const data = join(folder, 'data');
  // Without the mark, the data is left over from an interrupted attempt.
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const { command, args } = server.isMariaDb ? mariaDbInstallation(server, folder) : mysqlCommand;
  await step('Preparing the database server', () =>
    run(command, args, { failure: 'The data folder of MySQL could not be made' }),
  );
  writeFileSync(done, '');
}

function mariaDbInstallation(server, folder) {
  const beside = join(dirname(server.program), '../bin/mariadb-install-db');
  const command = existsSync(beside)
    ? beside
    : findProgram('mariadb-install-db', 'mysql_install_db');
  if (!command) {
    throw new UserError(
      'mariadb-install-db is missing beside the MariaDB server. On Debian: apt-get install default-mysql-client-core.',
    );
  }
  const folders = [`--datadir=${join(folder, 'data')}`, `--tmpdir=${join(folder, 'tmp')}`];
  const args = [
    '--no-defaults',
    ...folders,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ];
  return { command, args: isRoot ? [...args, '--user=root'] : args };
}

function userStatements(adminPassword, app) {
  const user = (name, password) => [
    `CREATE USER IF NOT EXISTS '${name}'@'%' IDENTIFIED BY '${password}';`,
    `ALTER USER '${name}'@'%' IDENTIFIED BY '${password}';`,
  ];
  return [
    ...user(ADMIN_USER, adminPassword),
    `GRANT ALL PRIVILEGES ON *.* TO '${ADMIN_USER}'@'%' WITH GRANT OPTION;`,
    ...(app
      ? [
          `CREATE DATABASE IF NOT EXISTS ${app.database} CHARACTER SET utf8mb4;`,
          ...user(APP_USER, app.password),
        ]
      : []),
    // The installation's own administrator has no password.
    ...['localhost', '127.0.0.1', '::1'].map((host) => `DROP USER IF EXISTS 'root'@'${host}';`),
    '',
  ].join('\n');
}
