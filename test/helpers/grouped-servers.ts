import { randomInt } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { BridgeNetwork, ip } from './bridge-network.js';
import { TestProgram } from './test-program.js';

export const SERVER_PORT = 3306;
/** An administrator of every server. */
export const ADMIN = { user: 'test_admin', password: 'test-only' };
const READY_MS = 60_000;
const POLL_MS = 50;
/** Of the log of a server that does not start, in characters. */
const LAST_LOG = 2_000;

/** The users of a new server, a statement a line. */
export const ADMIN_SQL = [
  `CREATE USER IF NOT EXISTS '${ADMIN.user}'@'%' IDENTIFIED BY '${ADMIN.password}';`,
  `GRANT ALL ON *.* TO '${ADMIN.user}'@'%' WITH GRANT OPTION;`,
  '',
].join('\n');

/** How a server is started: its program with the arguments, and its log. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The file that it writes its log to, as this process sees it. */
  readonly log: string;
}

/** The URL of an application with every member in it. */
export function urlOfAll(
  { members }: { readonly members: readonly GroupedServer[] },
  user: string,
  password: string,
  database: string,
): string {
  const hosts = members.map(({ host }) => `${host}:${SERVER_PORT}`).join(',');
  return `mysql://${user}:${password}@${hosts}/${database}`;
}

/** One server, in a network of its own. */
export class GroupedServer extends TestProgram {
  constructor(
    readonly host: string,
    private readonly network: string,
    private readonly command: ServerCommand,
  ) {
    super();
  }

  get url(): string {
    return `mysql://${ADMIN.user}:${ADMIN.password}@${this.host}:${SERVER_PORT}/`;
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    const { command, args, log } = this.command;
    this.run('nsenter', [`--net=/run/netns/${this.network}`, command, ...args], {
      stdio: 'ignore',
    });
    const until = performance.now() + READY_MS;
    while ((await this.ask('SELECT 1').catch(() => null)) === null) {
      if (performance.now() > until || !this.isRunning)
        throw new Error(
          `the member ${this.host} did not start: ${readFileSync(log, 'utf8').slice(-LAST_LOG)}`,
        );
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

  /** Drops what it sends to the other servers, as in a divided network; clients reach it as before. */
  async cutOff(others: readonly GroupedServer[]): Promise<void> {
    for (const { host } of others)
      await ip(
        ...['-n', this.network, 'neigh', 'replace', host],
        ...['lladdr', '02:00:00:00:00:01', 'nud', 'permanent', 'dev', 'eth0'],
      );
  }

  async rejoinNetwork(): Promise<void> {
    await ip('-n', this.network, 'neigh', 'flush', 'all', 'nud', 'permanent');
  }
}

/** A network for each of some servers, joined by a bridge, so that one can be cut off from the others while its clients reach it. */
export class ServerNetworks {
  private constructor(
    private readonly bridge: BridgeNetwork,
    /** Folders that are removed with it. */
    readonly folders: string[] = [],
  ) {
    process.once('exit', this.close);
  }

  static async open(size: number): Promise<ServerNetworks> {
    const bridge = await BridgeNetwork.open('mm', `10.213.${randomInt(1, 255)}`);
    for (let index = 0; index < size; index += 1) await bridge.attach();
    return new ServerNetworks(bridge);
  }

  get tag(): string {
    return this.bridge.name;
  }

  get hosts(): readonly string[] {
    return this.bridge.attached.map(({ address }) => address);
  }

  server(index: number, command: ServerCommand): GroupedServer {
    const { address, network } = this.bridge.attached[index]!;
    return new GroupedServer(address, network, command);
  }

  readonly close = (): void => {
    process.removeListener('exit', this.close);
    this.bridge.close();
    for (const folder of this.folders) rmSync(folder, { recursive: true, force: true });
  };
}

/** Ends the servers, and removes their networks and data. */
export async function endServers(
  members: readonly GroupedServer[],
  networks: ServerNetworks,
): Promise<void> {
  for (const member of members) member.thaw();
  await Promise.all(members.map((member) => member.kill()));
  networks.close();
}

/** Rejects where it takes longer. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return Promise.race([
    work,
    sleep(ms).then(() => Promise.reject(new Error('it did not answer in time'))),
  ]);
}
