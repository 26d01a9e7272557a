import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BridgeNetwork, ip } from './bridge-network.js';
import { addressAnswer } from './dns-answer.js';
import { tieToThisProcess } from './test-program.js';

/**
 * Gives processes of this machine what Docker gives a container: a network of its own with an address on a bridge, names,
 * secrets, and files where the compose file mounts them. Needs root on Linux, with `ip` and `unshare`.
 */

const run = promisify(execFile);

interface WantedContainer {
  /** The name by which the others reach it; equal names are one service. */
  readonly name: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Folders by their mount points. Siblings are hidden, unless the machine has that folder too. */
  readonly mounts?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Before the program: its own name, the names that it knows, and what is mounted. The mounts are its own, and end with it. */
const ENTER = `
hostname "$OWN_NAME"
mount --bind "$HOSTS" /etc/hosts
mount --bind "$RESOLV" /etc/resolv.conf
while [ "$1" != -- ]; do
  [ -e "$2" ] || { mount -t tmpfs none "$(dirname "$2")" && mkdir -p "$2"; }
  mount --bind "$1" "$2"
  shift 2
done
shift
unset HOSTS RESOLV OWN_NAME
exec "$@"`;

export class Container {
  output = '';

  constructor(
    readonly address: string,
    private readonly network: string,
    private readonly child: ChildProcess,
  ) {
    tieToThisProcess(child);
    for (const stream of [child.stdout, child.stderr])
      stream?.on(
        'data',
        (data: Buffer) => (this.output = (this.output + data.toString()).slice(-20_000)),
      );
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** The exit code, once the process ends by itself. */
  async ended(): Promise<number | null> {
    if (this.isRunning) await once(this.child, 'exit');
    return this.child.exitCode;
  }

  /** As `docker stop`. */
  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM');
    return this.ended();
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }

  /** Whether a command ends well within its network, as a health check. */
  async passes(command: readonly string[], path: string): Promise<boolean> {
    const [program = '', ...args] = command;
    const env = { ...process.env, PATH: path };
    return run('ip', ['netns', 'exec', this.network, program, ...args], { env }).then(
      () => true,
      () => false,
    );
  }
}

export class ContainerNetwork {
  private readonly containers: Container[] = [];
  private readonly names = new Map<string, string[]>();

  private constructor(
    private readonly bridge: BridgeNetwork,
    private readonly folder: string,
    private readonly nameserver: Socket,
  ) {
    process.once('exit', this.removeFolder);
    nameserver.on('message', (question, { address, port }) => {
      const answer = addressAnswer(question, (name) => this.names.get(name) ?? []);
      nameserver.send(answer, port, address);
    });
  }

  /** `subnet` is `10.0.0.0/24`. */
  static async open(subnet: string): Promise<ContainerNetwork> {
    const bridge = await BridgeNetwork.open('mc', subnet.replace(/\.0\/24$/, ''));
    const nameserver = createSocket('udp4');
    nameserver.bind(53, bridge.gateway);
    await once(nameserver, 'listening');
    const folder = await mkdtemp(join(tmpdir(), 'money-containers-'));
    return new ContainerNetwork(bridge, folder, nameserver);
  }

  /** The address of this machine on the bridge. */
  get gateway(): string {
    return this.bridge.gateway;
  }

  /** Starts it with an address of its own. */
  async start(wanted: WantedContainer): Promise<Container> {
    const { name, command, environment, mounts = {}, cwd = process.cwd() } = wanted;
    const { network, address } = await this.bridge.attach();
    await ip('-n', network, 'route', 'add', 'default', 'via', this.gateway);
    const hosts = this.write(`hosts-${network}`, [
      ['localhost', ['127.0.0.1']],
      [network, [address]],
      ...this.names,
    ]);
    const resolv = join(this.folder, 'resolv.conf');
    writeFileSync(resolv, `nameserver ${this.gateway}\n`);
    const pairs = Object.entries(mounts).flatMap(([seenAt, from]) => [from, seenAt]);
    const inside = [
      'netns',
      'exec',
      network,
      'unshare',
      '--mount',
      '--uts',
      'sh',
      '-ec',
      ENTER,
      'sh',
      ...pairs,
      '--',
      ...command,
    ];
    const env = { ...environment, HOSTS: hosts, RESOLV: resolv, OWN_NAME: network };
    const child = spawn('/usr/sbin/ip', inside, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const container = new Container(address, network, child);
    this.containers.push(container);
    this.names.set(name, [...(this.names.get(name) ?? []), address]);
    child.once('exit', () => {
      const left = (this.names.get(name) ?? []).filter((one) => one !== address);
      this.names.set(name, left);
    });
    return container;
  }

  private write(file: string, names: Iterable<readonly [string, readonly string[]]>): string {
    const path = join(this.folder, file);
    const lines = Array.from(names, ([name, addresses]) =>
      addresses.map((address) => `${address} ${name}\n`).join(''),
    );
    writeFileSync(path, lines.join(''));
    return path;
  }

  async close(): Promise<void> {
    for (const container of this.containers) if (container.isRunning) container.kill();
    await Promise.all(this.containers.map((container) => container.ended()));
    this.nameserver.close();
    this.bridge.close();
    this.removeFolder();
    process.removeListener('exit', this.removeFolder);
  }

  private readonly removeFolder = (): void => rmSync(this.folder, { recursive: true, force: true });
}
