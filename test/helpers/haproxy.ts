import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importScript } from './scripts.js';
import { freePorts } from './service-process.js';
import { until } from './temporal.js';
import { FolderProgram } from './test-program.js';

interface ProxiedServer {
  readonly name: string;
  readonly port: number;
  readonly adminPort: number;
}

/** The result of scripts/lib/haproxy.mjs. */
interface HaproxyScripts {
  haproxyPart(
    program: string,
    options: {
      readonly folder: string;
      readonly port: number;
      readonly servers: readonly ProxiedServer[];
      readonly log: string;
    },
  ): { readonly command: string; readonly args: readonly string[]; isReady(): Promise<boolean> };
}

/** The machine's HAProxy with the configuration of deploy/haproxy, before API processes of a test. */
export class Haproxy extends FolderProgram {
  readonly baseUrl: string;

  private constructor(folder: string, port: number) {
    super(folder);
    this.baseUrl = `http://127.0.0.1:${port}`;
  }

  static get isPossible(): boolean {
    return (process.env.TEST_HAPROXY ?? '') !== '';
  }

  static async start(servers: readonly ProxiedServer[]): Promise<Haproxy> {
    const program = process.env.TEST_HAPROXY ?? '';
    if (program === '') throw new Error('there is no HAProxy on this machine');
    const { haproxyPart } = await importScript<HaproxyScripts>('haproxy.mjs');
    const folder = await mkdtemp(join(tmpdir(), 'money-haproxy-'));
    const [port] = await freePorts(1);
    const part = haproxyPart(program, {
      folder,
      port: port!,
      servers,
      log: join(folder, 'haproxy.log'),
    });
    const proxy = new Haproxy(folder, port!);
    proxy.run(part.command, part.args);
    await until('the proxy answers', () => part.isReady(), { limitMs: 20_000 });
    return proxy;
  }
}
