import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Failpoint } from '../../src/core/failpoints.js';
import { TestProgram } from './test-program.js';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
/** A module that arms the failpoint of TEST_FAILPOINT. */
const ARM_FAILPOINT = new URL('arm-failpoint.js', import.meta.url).href;
const READY_MS = 180_000;
/** Long, because each look costs as much as a start. */
const POLL_MS = 50;
/** Of what it logged, in the message of a process that ended; in characters. */
const LAST_OUTPUT = 2_000;

/** A process of the service as it runs in production, which can be killed and started again on the same ports. */
export class ServiceProcess extends TestProgram {
  readonly adminUrl: string;
  /** Everything that it has logged, over all its starts: what ends it, unless LOG_LEVEL says more. */
  output = '';
  private readonly environment: Readonly<Record<string, string>>;
  private errors = '';

  /** `environment.NODE` is another Node to run the program of the image, `RELEASE` the folder of another release. Nothing runs before `start`. */
  constructor(
    private readonly program: 'api' | 'worker',
    environment: Readonly<Record<string, string>>,
    adminPort: number,
  ) {
    super();
    const { LOG_LEVEL: level } = environment;
    this.environment = {
      ...environment,
      LOG_LEVEL: level === 'silent' || level === undefined ? 'fatal' : level,
      ADMIN_PORT: adminPort.toString(),
    };
    this.adminUrl = `http://127.0.0.1:${adminPort}`;
  }

  /** Of the running process. */
  get pid(): number {
    if (this.child?.pid === undefined) throw new Error(`${this.program} does not run`);
    return this.child.pid;
  }

  /** Resolves when it is ready. `environment` holds for this start alone. */
  async start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    this.errors = '';
    const { NODE: node, RELEASE: root = ROOT } = { ...this.environment, ...environment };
    const file =
      node === undefined ? `programs/${this.program}.mjs` : `src/processes/${this.program}.js`;
    const armed = 'TEST_FAILPOINT' in environment ? ['--import', ARM_FAILPOINT] : [];
    const child = this.run(
      node ?? process.execPath,
      [...armed, '--enable-source-maps', join(root, 'dist', file)],
      {
        cwd: root,
        env: { PATH: process.env.PATH, ...this.environment, ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    child.stdout?.on('data', (data: Buffer) => (this.output += data.toString()));
    child.stderr?.on('data', (data: Buffer) => (this.errors += data.toString()));
    await this.ready();
  }

  /** The memory of the process. Throws if the process has died. */
  get residentMb(): number {
    if (!this.isRunning) return 0;
    const [, kib = '0'] =
      /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8')) ?? [];
    return Math.round(Number.parseInt(kib, 10) / 1024);
  }

  /** Resolves when it can do its work now. Fails when it ends before. */
  async ready(): Promise<void> {
    const until = performance.now() + READY_MS;
    while (!(await this.isReady())) {
      if (!this.isRunning)
        throw new Error(`${this.program} ended: ${this.errors}${this.output.slice(-LAST_OUTPUT)}`);
      if (performance.now() > until)
        throw new Error(`${this.program} is not ready after ${READY_MS} ms: ${this.errors}`);
      await sleep(POLL_MS);
    }
  }

  private async isReady(): Promise<boolean> {
    try {
      return (await (await fetch(`${this.adminUrl}/readyz`)).text()) === 'ready\n';
    } catch {
      return false;
    }
  }

  /** The metrics that it shows to Prometheus. */
  async metrics(): Promise<string> {
    return (await fetch(`${this.adminUrl}/metrics`)).text();
  }

  /** Kills it if it runs, starts it anew, and resolves when it has ended itself at this passing of the failpoint. */
  async endAt(
    failpoint: Failpoint,
    passing: number,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await this.kill();
    const armed = { ...environment, TEST_FAILPOINT: `${failpoint}:${passing}` };
    // It may end before it is seen to be ready.
    await this.start(armed).catch(() => undefined);
    if (this.child !== undefined && this.isRunning) await once(this.child, 'exit');
    const output = `${this.errors}${this.output.slice(-LAST_OUTPUT)}`;
    assert.equal(this.child?.signalCode, 'SIGKILL', `not at ${failpoint}: ${output}`);
  }
}

/** Below those that a system gives to outgoing connections: one of those could be taken before its server listens. */
const FIRST_PORT = 20_000;
const PORTS = 12_000;
let nextPort = randomInt(PORTS);

/** Free ports; a process gives none twice. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = FIRST_PORT + (nextPort++ % PORTS);
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

/** Lets a server listen at a port, one that the system chooses unless it is named. Returns the port. */
export async function listenAt(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  await once(server.listen(port, host), 'listening');
  return (server.address() as AddressInfo).port;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listening = once(server.listen(port, '127.0.0.1'), 'listening');
  try {
    await listening;
  } catch {
    return false;
  }
  await new Promise((done) => server.close(done));
  return true;
}
