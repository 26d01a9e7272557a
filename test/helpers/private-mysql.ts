import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { ADMIN, ADMIN_SQL } from './grouped-servers.js';
import { freePorts } from './service-process.js';
import { FolderProgram } from './test-program.js';

const execute = promisify(execFile);
const READY_MS = 60_000;
const POLL_MS = 50;

/** A durable MySQL server of a test's own, which can be killed and started again on the same data. */
export class PrivateMysql extends FolderProgram {
  /** An administrator's, without a database. */
  readonly adminUrl: string;
  private options: readonly string[] = [];
  private data: string | undefined;

  private constructor(
    private readonly program: string,
    folder: string,
    readonly port: number,
  ) {
    super(folder);
    this.adminUrl = `mysql://${ADMIN.user}:${ADMIN.password}@127.0.0.1:${port}/`;
  }

  /** Whether this machine has a server program. */
  static get isPossible(): boolean {
    return findProgram('mysqld', 'mariadbd') !== undefined;
  }

  /** `optionsOf` gives the server's options beside its own, and writes the files that they name. */
  static async start(
    optionsOf: (folder: string) => Promise<readonly string[]> = () => Promise.resolve([]),
  ): Promise<PrivateMysql> {
    const mysql = await PrivateMysql.inFolder();
    await mysql.initialise();
    mysql.options = await optionsOf(mysql.folder);
    await mysql.start();
    return mysql;
  }

  private static async inFolder(): Promise<PrivateMysql> {
    const program = findProgram('mysqld', 'mariadbd');
    if (program === undefined)
      throw new Error('there is no mysqld and no mariadbd on this machine');
    const [port] = await freePorts(1);
    return new PrivateMysql(program, await mkdtemp(join(tmpdir(), 'money-mysql-')), port!);
  }

  private get general(): string[] {
    return [
      '--no-defaults',
      `--datadir=${this.data ?? join(this.folder, 'data')}`,
      // Not shared: a server that starts removes what another has there.
      `--tmpdir=${this.folder}`,
      ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    ];
  }

  /** On data that another server left, which has this one's users already; `beginsWith` is run as it starts. */
  static async startOn(data: string, beginsWith: string): Promise<PrivateMysql> {
    const mysql = await PrivateMysql.inFolder();
    mysql.data = data;
    // The server takes a statement a line.
    await writeFile(join(mysql.folder, 'users.sql'), beginsWith);
    await mysql.start();
    return mysql;
  }

  private async initialise(): Promise<void> {
    const { stdout } = await execute(this.program, ['--no-defaults', '--version']);
    if (stdout.includes('MariaDB')) {
      const beside = join(dirname(this.program), '../bin/mariadb-install-db');
      const install = existsSync(beside) ? beside : 'mariadb-install-db';
      await execute(install, [
        ...this.general,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
      ]);
    } else await execute(this.program, [...this.general, '--initialize-insecure']);
    await writeFile(join(this.folder, 'users.sql'), ADMIN_SQL);
  }

  /** Starts it on the data that is there, and waits until it answers. */
  async start(): Promise<void> {
    this.run(this.program, [
      ...this.general,
      `--port=${this.port}`,
      '--bind-address=127.0.0.1',
      '--socket=mysql.sock',
      '--pid-file=mysql.pid',
      `--init-file=${join(this.folder, 'users.sql')}`,
      '--skip-name-resolve',
      '--skip-log-bin',
      '--innodb-flush-log-at-trx-commit=1',
      '--innodb-buffer-pool-size=64M',
      ...this.options,
    ]);
    const until = performance.now() + READY_MS;
    while (!(await this.answers())) {
      if (performance.now() > until || !this.isRunning)
        throw new Error('the private MySQL did not start');
      await sleep(POLL_MS);
    }
  }

  private async answers(): Promise<boolean> {
    try {
      await (await createConnection({ uri: this.adminUrl })).end();
      return true;
    } catch {
      return false;
    }
  }
}

function findProgram(...names: readonly string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}
