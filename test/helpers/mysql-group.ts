import { execFile } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  ADMIN,
  ADMIN_SQL,
  endServers,
  type GroupedServer,
  SERVER_PORT,
  type ServerCommand,
  ServerNetworks,
  within,
} from './grouped-servers.js';

const run = promisify(execFile);
const READY_MS = 60_000;
const POLL_MS = 50;
const GROUP_PORT = 33061;
const JOIN = `START GROUP_REPLICATION USER='${ADMIN.user}', PASSWORD='${ADMIN.password}'`;

/** The server program, and the folder that it takes for its root; null where this machine has none. */
export function realMysql(): { readonly program: string; readonly root: string } | null {
  const given = process.env.TEST_REAL_MYSQL ?? '';
  return given === '' || process.getuid?.() !== 0
    ? null
    : (JSON.parse(given) as { program: string; root: string });
}

interface MemberRow {
  readonly host: string;
  readonly state: string;
  readonly role: string;
}

/** Group Replication with one primary. Needs MySQL itself: MariaDB has no such groups. */
export class MysqlGroup {
  private constructor(
    readonly members: readonly GroupedServer[],
    private readonly networks: ServerNetworks,
  ) {}

  static async start(size: number): Promise<MysqlGroup> {
    const server = realMysql();
    if (server === null) throw new Error('there is no MySQL here that can be a group');
    const networks = await ServerNetworks.open(size);
    const { hosts, tag } = networks;
    const folder =
      server.root === '' ? await mkdtemp(join(tmpdir(), 'group-')) : join(server.root, 'srv', tag);
    networks.folders.push(folder);
    const name = randomUUID();
    const seeds = hosts.map((host) => `${host}:${GROUP_PORT}`).join(',');
    const members = hosts.map((host, index) => {
      const inside = join(folder.slice(server.root.length), String(index));
      const args = serverArguments(inside, host, index + 1, { name, seeds });
      const log = join(folder, String(index), 'error.log');
      return networks.server(index, { ...commandOf(server, args), log });
    });
    const group = new MysqlGroup(members, networks);
    await initialise(server, folder, size);
    await Promise.all(members.map((member) => member.start()));
    const [first, ...others] = members;
    await first!.ask('SET GLOBAL group_replication_bootstrap_group=ON');
    await first!.ask(JOIN);
    await first!.ask('SET GLOBAL group_replication_bootstrap_group=OFF');
    for (const member of others) await member.ask(JOIN);
    await group.allOnline();
    return group;
  }

  /** The member that most of the group take for the primary, waited for. */
  async primary(): Promise<GroupedServer> {
    const until = performance.now() + READY_MS;
    for (; performance.now() < until; await sleep(POLL_MS)) {
      const views = await this.views();
      const primary = this.members.find(
        ({ host }) =>
          views.filter((rows) => isMajority(rows) && primaryIn(rows) === host).length * 2 >
          views.length,
      );
      if (primary !== undefined) return primary;
    }
    throw new Error('the group has no primary');
  }

  /** The group as each member sees it; empty of one that does not answer. */
  private views(): Promise<MemberRow[][]> {
    return Promise.all(this.members.map((member) => within(1_000, viewOf(member)).catch(() => [])));
  }

  /** Makes another server the primary; this one stays in the group, read-only. */
  async handOver(primary: GroupedServer): Promise<void> {
    const others = this.members.filter((member) => member !== primary);
    const next = others[randomInt(others.length)]!;
    const [row] = await next.ask('SELECT @@server_uuid AS uuid');
    await next.ask(`SELECT group_replication_set_as_primary('${String(row?.uuid)}')`);
  }

  /** Resolves when every member sees every member online; one that has left is told to join again. */
  async allOnline(): Promise<void> {
    const until = performance.now() + READY_MS * 2;
    for (;;) {
      const views = await this.views();
      const online = views.map((rows) => rows.filter(({ state }) => state === 'ONLINE').length);
      if (online.every((count) => count === this.members.length)) return;
      if (performance.now() > until)
        throw new Error(`the group is not whole again: ${JSON.stringify(views)}`);
      for (const [index, member] of this.members.entries()) {
        const own = views[index]!.find(({ host }) => host === member.host);
        if (
          views[index]!.length > 0 &&
          (own === undefined || ['OFFLINE', 'ERROR'].includes(own.state))
        )
          await rejoin(member);
      }
      await sleep(POLL_MS * 4);
    }
  }

  remove(): Promise<void> {
    return endServers(this.members, this.networks);
  }
}

/** The group as this member sees it. */
async function viewOf(member: GroupedServer): Promise<MemberRow[]> {
  const rows = await member.ask(
    'SELECT MEMBER_HOST AS host,MEMBER_STATE AS state,MEMBER_ROLE AS role FROM performance_schema.replication_group_members',
  );
  return rows.map((row) => ({
    host: String(row.host),
    state: String(row.state),
    role: String(row.role),
  }));
}

function isMajority(rows: readonly MemberRow[]): boolean {
  return rows.filter(({ state }) => state === 'ONLINE').length * 2 > rows.length;
}

function primaryIn(rows: readonly MemberRow[]): string | undefined {
  return rows.find(({ state, role }) => state === 'ONLINE' && role === 'PRIMARY')?.host;
}

/** After it has left the group it takes no connection of clients, and no writes. */
async function rejoin(member: GroupedServer): Promise<void> {
  await member.ask('STOP GROUP_REPLICATION').catch(() => undefined);
  await member.ask('SET GLOBAL offline_mode=OFF').catch(() => undefined);
  await member.ask(JOIN).catch(() => undefined);
}

type Server = NonNullable<ReturnType<typeof realMysql>>;

function commandOf({ program, root }: Server, args: readonly string[]): Omit<ServerCommand, 'log'> {
  return root === ''
    ? { command: program, args }
    : { command: 'chroot', args: [root, program, ...args] };
}

/** One empty server, copied for each member. */
async function initialise(server: Server, folder: string, size: number): Promise<void> {
  const first = join(folder, '0');
  await mkdir(first, { recursive: true });
  const inside = first.slice(server.root.length);
  // The folder for temporary files of this process is not there for one that has another root.
  const folders = [`--datadir=${join(inside, 'data')}`, `--tmpdir=${inside}`];
  const { command, args } = commandOf(server, [
    '--no-defaults',
    '--user=root',
    ...folders,
    '--initialize-insecure',
  ]);
  await run(command, args);
  await rm(join(first, 'data', 'auto.cnf'));
  await writeFile(join(first, 'users.sql'), `SET SQL_LOG_BIN=0;\n${ADMIN_SQL}`);
  for (let index = 1; index < size; index += 1)
    await cp(first, join(folder, String(index)), { recursive: true });
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
    `--port=${SERVER_PORT}`,
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
    `--report-port=${SERVER_PORT}`,
    ...Object.entries(group).map(([option, value]) => `--group-replication-${option}=${value}`),
  ];
}
