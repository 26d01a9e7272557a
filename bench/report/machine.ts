import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { createConnection } from 'mysql2/promise';

/** The machine that the figures were measured on. */
export interface Machine {
  readonly cpus: number;
  readonly cpuModel: string;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  readonly database: string;
  /** The database settings that durable figures depend on. */
  readonly databaseSettings: Readonly<Record<string, string>>;
  /** The machine's load in the minute before the suite began. */
  readonly loadBefore: number;
  readonly commit: string;
}

const SETTINGS = [
  'innodb_flush_log_at_trx_commit',
  'innodb_buffer_pool_size',
  'innodb_log_file_size',
  'innodb_redo_log_capacity',
  'log_bin',
  'sync_binlog',
];

export async function describeMachine(serverUrl: string): Promise<Machine> {
  const connection = await createConnection({ uri: serverUrl });
  try {
    const [versions] = await connection.query('SELECT VERSION() AS version');
    const [settings] = await connection.query('SHOW GLOBAL VARIABLES WHERE Variable_name IN (?)', [
      SETTINGS,
    ]);
    const rows = settings as { Variable_name: string; Value: string }[];
    const version = (versions as { version: string }[])[0]?.version ?? '';
    return {
      cpus: cpus().length,
      cpuModel: cpus()[0]?.model ?? '',
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      system: `${type()} ${release()}`,
      node: process.version,
      database: version.includes('MariaDB') ? version : `MySQL ${version}`,
      databaseSettings: Object.fromEntries(
        rows.map(({ Variable_name, Value }) => [Variable_name, Value]),
      ),
      loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
      commit: commit(),
    };
  } finally {
    await connection.end();
  }
}

/** Returns the commit, marked `-dirty` if there are uncommitted changes. */
function commit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12'], {
      encoding: 'utf8',
    }).trim();
  } catch {
    return 'unknown';
  }
}
