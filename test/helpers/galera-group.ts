import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  ADMIN_SQL,
  endServers,
  type GroupedServer,
  SERVER_PORT,
  type ServerCommand,
  type ServerGroup,
  ServerNetworks,
  within,
} from './grouped-servers.js';
import { until } from './temporal.js';

const run = promisify(execFile);
const READY_MS = 120_000;

/** What scripts/lib/galera.mjs has found. */
interface GaleraTools {
  readonly server: string;
  /** The library that makes servers a cluster. */
  readonly provider: string;
  /** Where the server finds the scripts that copy it to a member that joins. */
  readonly path: string;
  /** What they are to take for rsync. */
  readonly rsync: string;
}

/** Null where this machine has none, or nobody may make networks on it. */
export function galeraTools(): GaleraTools | null {
  const given = process.env.TEST_GALERA ?? '';
  return given === '' || process.getuid?.() !== 0 ? null : (JSON.parse(given) as GaleraTools);
}

interface NodeStatus {
  readonly acceptsWrites: boolean;
  readonly index: number;
  readonly size: number;
  readonly isSynced: boolean;
}

/** MariaDB with Galera. */
export class GaleraGroup implements ServerGroup {
  private constructor(
    readonly members: readonly GroupedServer[],
    private readonly networks: ServerNetworks,
  ) {}

  static async start(size: number): Promise<GaleraGroup> {
    const tools = galeraTools();
    if (tools === null) throw new Error('there is no Galera here');
    const networks = await ServerNetworks.open(size);
    const folder = await mkdtemp(join(tmpdir(), 'galera-'));
    networks.folders.push(folder);
    const members = networks.hosts.map((_, index) =>
      networks.server(index, (isFirst) => commandOf(tools, folder, index, networks.hosts, isFirst)),
    );
    const group = new GaleraGroup(members, networks);
    await initialise(tools, folder, size);
    for (const [index, member] of members.entries()) await member.start(index === 0);
    await group.allOnline();
    return group;
  }

  /** By the rule that the service follows: the first of those that take writes. */
  primary(): Promise<GroupedServer> {
    return until(
      'the cluster has a member that takes writes',
      async () => {
        const nodes = await this.nodes();
        const writers = nodes
          .filter(({ acceptsWrites }) => acceptsWrites)
          .toSorted((a, b) => a.index - b.index);
        return writers[0]?.member ?? null;
      },
      { limitMs: READY_MS },
    );
  }

  /** It stays in the cluster, alive and read-only. */
  async handOver(primary: GroupedServer): Promise<() => Promise<void>> {
    await primary.ask('SET GLOBAL read_only=ON');
    return async () => void (await primary.ask('SET GLOBAL read_only=OFF'));
  }

  async allOnline(): Promise<void> {
    await until(
      'every member is in step with the others',
      async () => {
        const nodes = await this.nodes();
        return (
          nodes.length === this.members.length &&
          nodes.every(({ isSynced, size }) => isSynced && size === nodes.length)
        );
      },
      { limitMs: READY_MS },
    );
  }

  /** Those that answer. */
  private async nodes(): Promise<readonly (NodeStatus & { readonly member: GroupedServer })[]> {
    const all = await Promise.all(
      this.members.map((member) =>
        within(1_000, statusOf(member)).then(
          (status) => ({ ...status, member }),
          () => null,
        ),
      ),
    );
    return all.filter((one) => one !== null);
  }

  remove(): Promise<void> {
    return endServers(this.members, this.networks);
  }
}

async function statusOf(member: GroupedServer): Promise<NodeStatus> {
  const rows = await member.ask("SHOW GLOBAL STATUS LIKE 'wsrep%'");
  const [own] = await member.ask('SELECT @@GLOBAL.read_only AS flag');
  const status = new Map(rows.map((row) => [String(row.Variable_name), String(row.Value)]));
  return {
    acceptsWrites:
      Number(own?.flag) === 0 &&
      status.get('wsrep_ready') === 'ON' &&
      status.get('wsrep_cluster_status') === 'Primary',
    index: Number(status.get('wsrep_local_index')),
    size: Number(status.get('wsrep_cluster_size')),
    isSynced: status.get('wsrep_local_state_comment') === 'Synced',
  };
}

const dataOf = (folder: string, index: number): string => join(folder, String(index));

/** One empty server, copied for each member. */
async function initialise({ server }: GaleraTools, folder: string, size: number): Promise<void> {
  await mkdir(dataOf(folder, 0));
  const args = [
    '--no-defaults',
    '--user=root',
    `--datadir=${dataOf(folder, 0)}`,
    `--tmpdir=${folder}`,
  ];
  const install = join(server, '../../bin/mariadb-install-db');
  await run(install, [...args, '--auth-root-authentication-method=normal', '--skip-test-db']);
  await writeFile(join(folder, 'users.sql'), ADMIN_SQL);
  for (let index = 1; index < size; index += 1)
    await cp(dataOf(folder, 0), dataOf(folder, index), { recursive: true });
}

function commandOf(
  { server, provider, path, rsync }: GaleraTools,
  folder: string,
  index: number,
  hosts: readonly string[],
  isFirst: boolean,
): ServerCommand {
  const host = hosts[index];
  const [socket, pid, log = ''] = ['socket', 'pid', 'log'].map((kind) =>
    join(folder, `${index}.${kind}`),
  );
  // The server looks for its scripts' programs beside itself first.
  const inPlace = [
    '--mount',
    'sh',
    '-c',
    'mount --bind "$0" /usr/bin/rsync && exec "$@"',
    rsync,
    server,
  ];
  const args = [
    ...inPlace,
    '--no-defaults',
    '--user=root',
    ...[`--datadir=${dataOf(folder, index)}`, `--tmpdir=${folder}`],
    ...[`--socket=${socket}`, `--pid-file=${pid}`, `--log-error=${log}`],
    `--init-file=${join(folder, 'users.sql')}`,
    `--port=${SERVER_PORT}`,
    `--bind-address=${host}`,
    '--skip-name-resolve',
    '--character-set-server=utf8mb4',
    '--innodb-buffer-pool-size=128M',
    '--binlog-format=ROW',
    '--innodb-autoinc-lock-mode=2',
    '--wsrep-on=ON',
    `--wsrep-provider=${provider}`,
    '--wsrep-cluster-name=money',
    `--wsrep-cluster-address=gcomm://${hosts.join(',')}`,
    `--wsrep-node-name=node-${index}`,
    `--wsrep-node-address=${host}`,
    '--wsrep-sst-method=rsync',
    // Else a member that is cut off in one direction alone holds up the others for up to 20 s.
    '--wsrep-provider-options=evs.suspect_timeout=PT3S;evs.inactive_timeout=PT6S;evs.inactive_check_period=PT0.5S',
    ...(isFirst ? ['--wsrep-new-cluster'] : []),
  ];
  return {
    command: 'unshare',
    args,
    log,
    environment: { PATH: `${path}:${process.env.PATH ?? ''}` },
  };
}
