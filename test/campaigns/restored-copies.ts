import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { copyMark } from '../../src/restores/begin-restore.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { migrate } from '../../src/db/migrate.js';
import { openTestDatabase, type TestDatabase } from '../helpers/database.js';
import { PrivateMysql } from '../helpers/private-mysql.js';
import { freshDatabase } from '../helpers/database.js';

const run = promisify(execFile);

/** A way to put a database back to an earlier moment, on another server or beside it. */
export interface Copier {
  readonly source: TestDatabase;
  /** Before the load. */
  prepare(): Promise<void>;
  /** The moment that will be restored. */
  moment(): Promise<Instant>;
  /** The database as it was then: what came later is lost, and the source is not asked any more. */
  restore(): Promise<TestDatabase>;
  remove(): Promise<void>;
}

/** A consistent copy of every row beside the source, as a dump makes it; the application's user is new to it. */
export class RowCopier implements Copier {
  private readonly name: string;
  private copy: TestDatabase | undefined;

  constructor(
    readonly source: TestDatabase,
    private readonly adminUrl: string,
  ) {
    this.name = `${source.name}_copy`;
  }

  async prepare(): Promise<void> {
    await asAdmin(this.adminUrl, async (admin) => {
      await admin.query(`DROP DATABASE IF EXISTS ${this.name}`);
      await admin.query(`CREATE DATABASE ${this.name} CHARACTER SET utf8mb4`);
      for (const table of await this.tables(admin))
        await admin.query(`CREATE TABLE ${this.name}.${table} LIKE ${this.source.name}.${table}`);
    });
  }

  async moment(): Promise<Instant> {
    let at = systemClock();
    await asAdmin(this.adminUrl, (reading) =>
      asAdmin(this.adminUrl, async (writing) => {
        await writing.query('SET SESSION foreign_key_checks=0, unique_checks=0');
        await reading.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
        at = systemClock();
        for (const table of await this.tables(reading))
          await this.copyTable(reading, writing, table);
        await reading.query('COMMIT');
      }),
    );
    return at;
  }

  async restore(): Promise<TestDatabase> {
    const [url, adminUrl] = [new URL(this.source.url), new URL(this.adminUrl)];
    url.pathname = `/${this.name}`;
    url.username = this.name;
    adminUrl.pathname = `/${this.name}`;
    await asAdmin(this.adminUrl, async (admin) => {
      await admin.query(`DROP USER IF EXISTS '${this.name}'@'%'`);
      await admin.query(`CREATE USER '${this.name}'@'%' IDENTIFIED BY '${url.password}'`);
    });
    await migrate({ adminUrl: this.adminUrl, url: url.href });
    this.copy = openTestDatabase({ name: this.name, url: url.href, adminUrl: adminUrl.href });
    return this.copy;
  }

  async remove(): Promise<void> {
    await this.copy?.close();
    await asAdmin(this.adminUrl, async (admin) => {
      await admin.query(`DROP DATABASE IF EXISTS ${this.name}`);
      await admin.query(`DROP USER IF EXISTS '${this.name}'@'%'`);
    });
  }

  private async tables(admin: Connection): Promise<string[]> {
    const [rows] = await admin.query<RowDataPacket[]>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema='${this.source.name}'`,
    );
    return rows.map(({ name }) => String(name));
  }

  private async copyTable(reading: Connection, writing: Connection, table: string): Promise<void> {
    const [columns] = await reading.query<RowDataPacket[]>(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_schema='${this.source.name}' AND table_name='${table}'
       AND extra NOT LIKE '%GENERATED%'`,
    );
    const names = columns.map(({ name }) => `\`${String(name)}\``).join(',');
    const [rows] = await reading.query<RowDataPacket[][]>({
      sql: `SELECT ${names} FROM ${this.source.name}.${table}`,
      rowsAsArray: true,
    });
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
      await writing.query(`INSERT INTO ${this.name}.${table} (${names}) VALUES ?`, [
        rows.slice(from, from + ROWS_AT_ONCE),
      ]);
  }
}

const ROWS_AT_ONCE = 500;

async function asAdmin<T>(uri: string, work: (admin: Connection) => Promise<T>): Promise<T> {
  const options = { uri, dateStrings: true, supportBigNumbers: true, bigNumberStrings: true };
  const admin = await createConnection(options);
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

const TOOLS = ['mariadb-backup', 'mariadb-binlog', 'mariadb'] as const;

/** mariadb-backup of a running server, and its binary logs up to a moment, into another server. */
export class PhysicalCopier implements Copier {
  private at = instant(0);
  private restored: { readonly mysql: PrivateMysql; readonly db: TestDatabase } | undefined;

  private constructor(
    readonly source: TestDatabase,
    private readonly mysql: PrivateMysql,
    private readonly folder: string,
  ) {}

  /** A durable server of its own with a binary log. Throws where a tool is missing, with what to install. */
  static async start(): Promise<PhysicalCopier> {
    for (const tool of TOOLS)
      await run(tool, ['--version']).catch(() => {
        throw new Error(`there is no ${tool}: apt-get install mariadb-backup mariadb-client`);
      });
    const mysql = await PrivateMysql.start((folder) =>
      Promise.resolve([
        `--log-bin=${join(folder, 'binlog')}`,
        '--server-id=1',
        '--sync-binlog=1',
        '--binlog-format=ROW',
      ]),
    );
    const source = await freshDatabase(mysql.adminUrl, 'money_drill');
    return new PhysicalCopier(source, mysql, await mkdtemp(join(tmpdir(), 'money-backup-')));
  }

  private get login(): string[] {
    const { username, password, port } = new URL(this.mysql.adminUrl);
    return [
      '--no-defaults',
      '--host=127.0.0.1',
      `--port=${port}`,
      `--user=${username}`,
      `--password=${password}`,
    ];
  }

  private get base(): string {
    return join(this.folder, 'base');
  }

  async prepare(): Promise<void> {
    await run('mariadb-backup', [...this.login, '--backup', `--target-dir=${this.base}`]);
  }

  /** Whole seconds, as the binary log has them. */
  async moment(): Promise<Instant> {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    this.at = instant(Math.floor(systemClock() / 1_000) * 1_000);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return this.at;
  }

  async restore(): Promise<TestDatabase> {
    await this.source.close();
    await this.mysql.kill();
    await run('mariadb-backup', ['--no-defaults', '--prepare', `--target-dir=${this.base}`]);
    const mysql = await PrivateMysql.startOn(this.base, copyMark(systemClock, this.source.name));
    await this.replay(mysql);
    const [url, adminUrl] = [new URL(this.source.url), new URL(mysql.adminUrl)];
    url.port = mysql.port.toString();
    adminUrl.pathname = `/${this.source.name}`;
    await migrate({ adminUrl: mysql.adminUrl, url: url.href });
    const db = openTestDatabase({ name: this.source.name, url: url.href, adminUrl: adminUrl.href });
    this.restored = { mysql, db };
    return db;
  }

  /** The commits of the source between the backup and the moment. */
  private async replay(mysql: PrivateMysql): Promise<void> {
    const { readFile } = await import('node:fs/promises');
    const names = await readdir(this.base);
    const info = names.find((name) => name.endsWith('binlog_info')) ?? 'xtrabackup_binlog_info';
    const [file = '', position = ''] = (await readFile(join(this.base, info), 'utf8')).split(/\s+/);
    const logs = (await readdir(this.mysql.folder))
      .filter((name) => /^binlog\.\d+$/.test(name) && name >= file)
      .sort();
    const stop = new Date(this.at).toISOString().slice(0, 19).replace('T', ' ');
    const reading = spawn(
      'mariadb-binlog',
      [
        '--no-defaults',
        `--start-position=${position}`,
        `--stop-datetime=${stop}`,
        '--disable-log-bin',
        ...logs,
      ],
      {
        cwd: this.mysql.folder,
        env: { ...process.env, TZ: 'UTC' },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const { username, password } = new URL(mysql.adminUrl);
    const applying = spawn(
      'mariadb',
      [
        '--no-defaults',
        '--host=127.0.0.1',
        `--port=${mysql.port}`,
        `--user=${username}`,
        `--password=${password}`,
      ],
      { stdio: ['pipe', 'inherit', 'inherit'] },
    );
    reading.stdout.pipe(applying.stdin);
    const code = await new Promise<number | null>((resolve) => applying.once('close', resolve));
    if (code !== 0) throw new Error(`the binary log could not be applied (${code})`);
  }

  async remove(): Promise<void> {
    await this.restored?.db.close();
    await this.restored?.mysql.remove();
    await this.mysql.remove();
    await rm(this.folder, { recursive: true, force: true });
  }
}
