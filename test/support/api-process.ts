import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { testEnvironment } from './api.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const READY_MS = 20_000;
const POLL_MS = 20;

/** A test run that is ended in the middle leaves none of them behind. */
const children = new Set<ChildProcess>();
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')));

/** The API as it runs in production: a process of its own, which can be killed and started again on the same ports. */
export class ApiProcess {
  readonly baseUrl: string;
  private readonly environment: Readonly<Record<string, string>>;
  readonly adminUrl: string;
  private child: ChildProcess | undefined;
  private errors = '';

  private constructor(environment: Readonly<Record<string, string>>, port: number, adminPort: number) {
    this.environment = { ...environment, PORT: port.toString(), ADMIN_PORT: adminPort.toString() };
    this.baseUrl = `http://127.0.0.1:${port}`;
    this.adminUrl = `http://127.0.0.1:${adminPort}`;
  }

  /** Starts it over the database and waits until it is ready. */
  static async start(mysqlUrl: string, environment: Readonly<Record<string, string>> = {}): Promise<ApiProcess> {
    const [port, adminPort] = await freePorts(2);
    const api = new ApiProcess(testEnvironment(mysqlUrl, environment), port!, adminPort!);
    await api.start();
    return api;
  }

  /** `environment` holds for this start alone. */
  async start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    this.errors = '';
    const child = spawn(process.execPath, ['--enable-source-maps', join(ROOT, 'dist/src/server.js')], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, ...this.environment, ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    child.stderr.on('data', (data: Buffer) => (this.errors += data.toString()));
    this.child = child;
    await this.ready();
  }

  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resolves when it serves and reaches MySQL. */
  async ready(): Promise<void> {
    const until = performance.now() + READY_MS;
    while (!(await this.isReady())) {
      if (!this.isRunning) throw new Error(`the API ended: ${this.errors}`);
      if (performance.now() > until) throw new Error(`the API is not ready after ${READY_MS} ms: ${this.errors}`);
      await sleep(POLL_MS);
    }
  }

  private async isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.adminUrl}/readyz`)).ok;
    } catch {
      return false;
    }
  }

  /** Ends it as a power cut would. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  /** Resolves when it has ended by itself (a failpoint). */
  async ended(): Promise<void> {
    if (this.child !== undefined && this.isRunning) await once(this.child, 'exit');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    if (this.child === undefined || !this.isRunning) return;
    const exit = once(this.child, 'exit');
    this.child.kill(signal);
    await exit;
  }
}

/** Ports that nobody listens on. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return address.port;
  });
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}
