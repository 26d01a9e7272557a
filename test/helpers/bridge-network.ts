import { execFile, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs `ip` with these arguments. */
export function ip(...args: readonly string[]): Promise<unknown> {
  return run('ip', args);
}

interface Attached {
  readonly network: string;
  readonly address: string;
}

/** A bridge on this machine, and a network namespace with an address on it for each that is attached. Needs root and `ip`. */
export class BridgeNetwork {
  readonly attached: Attached[] = [];

  private constructor(
    readonly name: string,
    private readonly prefix: string,
  ) {
    // The kernel removes it with the process, in every case.
    process.once('exit', this.close);
  }

  /** The addresses begin with the prefix, such as `10.0.0`. */
  static async open(kind: string, prefix: string): Promise<BridgeNetwork> {
    const bridge = new BridgeNetwork(`${kind}${randomInt(0x10000).toString(16)}`, prefix);
    const { name, gateway } = bridge;
    await ip('link', 'add', name, 'type', 'bridge');
    await ip('addr', 'add', `${gateway}/24`, 'dev', name);
    await ip('link', 'set', name, 'up');
    return bridge;
  }

  /** The address of this machine on the bridge. */
  get gateway(): string {
    return `${this.prefix}.1`;
  }

  async attach(): Promise<Attached> {
    const number = this.attached.length + 2;
    const [network, address] = [`${this.name}-${number}`, `${this.prefix}.${number}`];
    this.attached.push({ network, address });
    await ip('netns', 'add', network);
    await ip('link', 'add', network, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', network);
    await ip('link', 'set', network, 'master', this.name, 'up');
    await ip('-n', network, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    await ip('-n', network, 'link', 'set', 'eth0', 'up');
    await ip('-n', network, 'link', 'set', 'lo', 'up');
    return { network, address };
  }

  readonly close = (): void => {
    process.removeListener('exit', this.close);
    for (const { network } of this.attached) spawnSync('ip', ['netns', 'del', network]);
    spawnSync('ip', ['link', 'del', this.name]);
  };
}
