import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { tieToThisProcess } from './service-process.js';

/**
 * A group of MySQL servers (Group Replication) of a test's own. Each has a network of its own, joined by a bridge, so that one can
 * be cut off from the others while its clients reach it. Needs root, `ip`, and MySQL itself: MariaDB has no such groups.
 */

const run = promisify(execFile);
const PASSWORD = 'test-only';
const ADMIN = 'test_admin';
const READY_MS = 60_000;
const POLL_MS = 50;
const PORT = 3306;
const GROUP_PORT = 33061;

/** The server program, and the folder that it takes for its root; null where this machine has none. */
export function realMysql(): { readonly program: string; readonly root: string } | null {
  const given = process.env.TEST_REAL_MYSQL ?? '';
  return given === '' || process.getuid?.() !== 0 ? null : (JSON.parse(given) as { program: string; root: string });
}

export interface MemberRow {
  readonly host: string;
  readonly state: string;
  readonly role: string;
}

export class GroupMember {
  private child: ChildProcess | undefined;

  constructor(
    readonly host: string,
    private readonly network: string,
    private readonly begin: () => ChildProcess,
  ) {}

  get url(): string {
    return `mysql://${ADMIN}:${PASSWORD}@${this.host}:${PORT}/`;
  }

  async start(): Promise<void> {
    this.child = this.begin();
    tieToThisProcess(this.child);
    const until = performance.now() + READY_MS;
    for (;;) {
      const answer = await this.ask('SELECT 1').catch(() => null);
      if (answer !== null) return;
      if (performance.now() > until || this.child.exitCode !== null)
        throw new Error(`the member ${this.host} did not start`);
      await sleep(POLL_MS);
    }
  }

  /** As the administrator, on a connection of its own. */
  async ask(sql: string): Promise<RowDataPacket[]> {
    const connection = await createConnection({ uri: this.url, connectTimeout: 2_000 });
    try {
      return (await connection.query<RowDataPacket[]>(sql))[0];
    } finally {
      connection.destroy();
    }
  }

  async join(): Promise<void> {
    await this.ask(`START GROUP_REPLICATION USER='${ADMIN}', PASSWORD='${PASSWORD}'`);
  }

  /** Of the group, as this member sees it. */
  async members(): Promise<MemberRow[]> {
    const rows = await this.ask(
      'SELECT MEMBER_HOST AS host,MEMBER_STATE AS state,MEMBER_ROLE AS role FROM performance_schema.replication_group_members',
    );
    return rows.map((row) => ({ host: String(row.host), state: String(row.state), role: String(row.role) }));
  }

  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    if (this.child === undefined || !this.isRunning) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }

  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  /** What it sends to the others is lost, as in a network that is divided; clients reach it as before. */
  async cutOff(others: readonly GroupMember[]): Promise<void> {
    for (const { host } of others)
      await run('ip', [
        ...['-n', this.network, 'neigh', 'replace', host],
        ...['lladdr', '02:00:00:00:00:01', 'nud', 'permanent', 'dev', 'eth0'],
      ]);
  }

  async rejoinNetwork(): Promise<void> {
    await run('ip', ['-n', this.network, 'neigh', 'flush', 'all', 'nud', 'permanent']);
  }
}

export class MysqlGroup {
  private constructor(
    readonly members: readonly GroupMember[],
    private readonly folder: string,
    private readonly bridge: string,
    private readonly networks: readonly string[],
  ) {}

  static async start(size: number): Promise<MysqlGroup> {
    const server = realMysql();
    if (server === null) throw new Error('there is no MySQL here that can be a group');
    const tag = `mm${randomInt(0x10000).toString(16)}`;
    const net = `10.213.${randomInt(1, 255)}`;
    const hosts = Array.from({ length: size }, (_, index) => `${net}.${index + 2}`);
    const networks = hosts.map((_, index) => `${tag}-${index}`);
    const folder = server.root === '' ? await mkdtemp(join(tmpdir(), 'group-')) : join(server.root, 'srv', tag);
    const name = randomUUID();
    const seeds = hosts.map((host) => `${host}:${GROUP_PORT}`).join(',');
    const members = hosts.map((host, index) => {
      const inside = join(folder.slice(server.root.length), String(index));
      const args = serverArguments(inside, host, index + 1, { name, seeds });
      return new GroupMember(host, networks[index]!, () => spawnInside(networks[index]!, server, args));
    });
    const group = new MysqlGroup(members, folder, tag, networks);
    process.once('exit', group.takeDown);
    await openNetworks(tag, `${net}.1/24`, networks, hosts);
    await initialise(server, folder, size);
    await Promise.all(members.map((member) => member.start()));
    const [first, ...others] = members;
    await first!.ask('SET GLOBAL group_replication_bootstrap_group=ON');
    await first!.join();
    await first!.ask('SET GLOBAL group_replication_bootstrap_group=OFF');
    for (const member of others) await member.join();
    await group.allOnline();
    return group;
  }

  /** The URL of an application with every member in it. */
  urlOf(user: string, password: string, database: string): string {
    const hosts = this.members.map(({ host }) => `${host}:${PORT}`).join(',');
    return `mysql://${user}:${password}@${hosts}/${database}`;
  }

  /** The member that most of the group take for the primary, waited for. */
  async primary(): Promise<GroupMember> {
    const until = performance.now() + READY_MS;
    for (; performance.now() < until; await sleep(POLL_MS)) {
      const views = await this.views();
      const primary = this.members.find(
        ({ host }) => views.filter((rows) => isMajority(rows) && primaryIn(rows) === host).length * 2 > views.length,
      );
      if (primary !== undefined) return primary;
    }
    throw new Error('the group has no primary');
  }

  /** The group as each member sees it; empty of one that does not answer. */
  private views(): Promise<MemberRow[][]> {
    return Promise.all(this.members.map((member) => within(1_000, member.members()).catch(() => [])));
  }

  async switchTo(member: GroupMember): Promise<void> {
    const [row] = await member.ask('SELECT @@server_uuid AS uuid');
    await member.ask(`SELECT group_replication_set_as_primary('${String(row?.uuid)}')`);
  }

  /** Resolves when every member sees every member online; one that has left is told to join again. */
  async allOnline(): Promise<void> {
    const until = performance.now() + READY_MS * 2;
    for (;;) {
      const views = await this.views();
      const online = views.map((rows) => rows.filter(({ state }) => state === 'ONLINE').length);
      if (online.every((count) => count === this.members.length)) return;
      if (performance.now() > until) throw new Error(`the group is not whole again: ${JSON.stringify(views)}`);
      for (const [index, member] of this.members.entries()) {
        const own = views[index]!.find(({ host }) => host === member.host);
        if (views[index]!.length > 0 && (own === undefined || ['OFFLINE', 'ERROR'].includes(own.state)))
          await rejoin(member);
      }
      await sleep(POLL_MS * 4);
    }
  }

  async remove(): Promise<void> {
    for (const member of this.members) member.thaw();
    await Promise.all(this.members.map((member) => member.kill()));
    this.takeDown();
    process.removeListener('exit', this.takeDown);
  }

  /** Nothing of it outlives the process, whatever ends that. */
  private readonly takeDown = (): void => {
    for (const network of this.networks) spawnSync('ip', ['netns', 'del', network]);
    spawnSync('ip', ['link', 'del', this.bridge]);
    rmSync(this.folder, { recursive: true, force: true });
  };
}

function isMajority(rows: readonly MemberRow[]): boolean {
  return rows.filter(({ state }) => state === 'ONLINE').length * 2 > rows.length;
}

function primaryIn(rows: readonly MemberRow[]): string | undefined {
  return rows.find(({ state, role }) => state === 'ONLINE' && role === 'PRIMARY')?.host;
}

/** After it has left the group it takes nobody's connections, and no writes. */
async function rejoin(member: GroupMember): Promise<void> {
  await member.ask('STOP GROUP_REPLICATION').catch(() => undefined);
  await member.ask('SET GLOBAL offline_mode=OFF').catch(() => undefined);
  await member.join().catch(() => undefined);
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return Promise.race([work, sleep(ms).then(() => Promise.reject(new Error('it did not answer in time')))]);
}

async function openNetworks(
  bridge: string,
  own: string,
  networks: readonly string[],
  hosts: readonly string[],
): Promise<void> {
  const ip = (...args: readonly string[]): Promise<unknown> => run('ip', args);
  await ip('link', 'add', bridge, 'type', 'bridge');
  await ip('addr', 'add', own, 'dev', bridge);
  await ip('link', 'set', bridge, 'up');
  for (const [index, network] of networks.entries()) {
    await ip('netns', 'add', network);
    await ip('link', 'add', network, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', network);
    await ip('link', 'set', network, 'master', bridge, 'up');
    await ip('-n', network, 'addr', 'add', `${hosts[index]}/24`, 'dev', 'eth0');
    await ip('-n', network, 'link', 'set', 'eth0', 'up');
    await ip('-n', network, 'link', 'set', 'lo', 'up');
  }
}

type Server = NonNullable<ReturnType<typeof realMysql>>;

function commandOf({ program, root }: Server, args: readonly string[]): [string, string[]] {
  return root === '' ? [program, [...args]] : ['chroot', [root, program, ...args]];
}

function spawnInside(network: string, server: Server, args: readonly string[]): ChildProcess {
  const [command, all] = commandOf(server, args);
  return spawn('nsenter', [`--net=/run/netns/${network}`, command, ...all], { stdio: 'ignore' });
}

/** One empty server, copied for each member. */
async function initialise(server: Server, folder: string, size: number): Promise<void> {
  const first = join(folder, '0');
  await mkdir(first, { recursive: true });
  const inside = first.slice(server.root.length);
  // The folder for temporary files of this process is not there for one that has another root.
  const folders = [`--datadir=${join(inside, 'data')}`, `--tmpdir=${inside}`];
  const [command, args] = commandOf(server, ['--no-defaults', '--user=root', ...folders]);
  await run(command, [...args, '--initialize-insecure']);
  await rm(join(first, 'data', 'auto.cnf'));
  const users = [
    'SET SQL_LOG_BIN=0;',
    `CREATE USER IF NOT EXISTS '${ADMIN}'@'%' IDENTIFIED BY '${PASSWORD}';`,
    `GRANT ALL ON *.* TO '${ADMIN}'@'%' WITH GRANT OPTION;`,
    '',
  ].join('\n');
  await writeFile(join(first, 'users.sql'), users);
  for (let index = 1; index < size; index += 1) await cp(first, join(folder, String(index)), { recursive: true });
}

function serverArguments(
  folder: string,
  host: string,
  id: number,
  { name, seeds }: { readonly name: string; readonly seeds: string },
): string[] {
  const group = {
    'group-name': name,
    'local-address': `${host}:${GROUP_PORT}`,
    'group-seeds': seeds,
    'start-on-boot': 'OFF',
    'recovery-get-public-key': 'ON',
    consistency: 'BEFORE_ON_PRIMARY_FAILOVER',
    'paxos-single-leader': 'ON',
    'member-expel-timeout': '0',
    'unreachable-majority-timeout': '10',
    'exit-state-action': 'OFFLINE_MODE',
    'autorejoin-tries': '3',
  };
  return [
    '--no-defaults',
    '--user=root',
    ...[`--datadir=${join(folder, 'data')}`, `--tmpdir=${folder}`],
    `--init-file=${join(folder, 'users.sql')}`,
    `--port=${PORT}`,
    `--bind-address=${host}`,
    '--socket=mysql.sock',
    '--pid-file=mysql.pid',
    `--log-error=${join(folder, 'error.log')}`,
    '--skip-name-resolve',
    '--mysqlx=OFF',
    '--secure-file-priv=NULL',
    `--server-id=${id}`,
    '--gtid-mode=ON',
    '--enforce-gtid-consistency=ON',
    '--sync-binlog=1',
    '--innodb-flush-log-at-trx-commit=1',
    '--innodb-buffer-pool-size=128M',
    '--character-set-server=utf8mb4',
    '--plugin-load-add=group_replication.so',
    `--report-host=${host}`,
    `--report-port=${PORT}`,
    ...Object.entries(group).map(([option, value]) => `--group-replication-${option}=${value}`),
  ];
}
