import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RowFailed } from '../row.js';
import { cpuMsOf } from './cpu-time.js';
import { freePort } from './free-port.js';
import { type GroupHistogram, parseGroupSizes } from './group-sizes.js';

/** The keys that the bench gives to the service, so that it can make cursors of any depth itself. */
export const CURSOR_KEY = { id: 'bench', secret: Buffer.from('the cursors of the benchmarks, 32') };
export const FINGERPRINT_KEY = { id: 'bench', secret: Buffer.from('the fingerprints of benchmarks, 32') };
const ENCRYPTION_KEY = { id: 'bench', secret: Buffer.alloc(32, 'what the benchmarks seal') };

const SERVER = fileURLToPath(new URL('../../src/server.js', import.meta.url));
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const LOG = fileURLToPath(new URL('../../../.run/bench/api.log', import.meta.url));
const START_MS = 15_000;
const STOP_MS = 30_000;
const POLL_MS = 5;
const NO_LIMIT = '1000000';

export interface ApiOptions {
  /** The application's user of a ledger's database. */
  readonly url: string;
  /** Where to write a CPU profile of the whole life of the process; null: none. */
  readonly profileFolder: string | null;
}

/** The service's API process as it is run in production: its own program, configured by its environment. */
export class ApiProcess {
  readonly port: number;
  /** From the start of the process to its first answer that the database stood behind. */
  readonly readyMs: number;
  private readonly adminPort: number;
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess, port: number, adminPort: number, readyMs: number) {
    this.child = child;
    this.port = port;
    this.adminPort = adminPort;
    this.readyMs = readyMs;
  }

  static async start({ url, profileFolder }: ApiOptions): Promise<ApiProcess> {
    const [port, adminPort] = [await freePort(), await freePort()];
    mkdirSync(dirname(LOG), { recursive: true });
    const log = openSync(LOG, 'w');
    const profile = profileFolder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];
    const began = performance.now();
    const child = spawn(process.execPath, [...profile, '--enable-source-maps', '--max-semi-space-size=64', SERVER], {
      cwd: ROOT,
      stdio: ['ignore', log, log],
      env: { ...process.env, ...settings(url, port, adminPort) },
    });
    const kill = (): boolean => child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    while (!(await answersOk(`http://127.0.0.1:${adminPort}/readyz`))) {
      if (child.exitCode !== null || performance.now() - began > START_MS)
        throw new RowFailed(`the API process did not start; see ${LOG}`);
      await sleep(POLL_MS);
    }
    return new ApiProcess(child, port, adminPort, performance.now() - began);
  }

  /** Of everything since it started. */
  async groupSizes(): Promise<GroupHistogram> {
    const answer = await fetch(`http://127.0.0.1:${this.adminPort}/metrics`);
    return parseGroupSizes(await answer.text());
  }

  /** The CPU time that it has used; null where the system does not tell. */
  cpuMs(): number | null {
    return cpuMsOf(this.child.pid);
  }

  /** Gracefully; throws RowFailed when it does not end by itself. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = new Promise<'ended'>((resolve) => this.child.once('exit', () => resolve('ended')));
    this.child.kill('SIGTERM');
    if ((await Promise.race([ended, sleep(STOP_MS, 'late', { ref: false })])) === 'ended') return;
    this.child.kill('SIGKILL');
    throw new RowFailed(`the API process did not stop within ${STOP_MS / 1000} s`);
  }
}

/** The defaults of the service, but for the rate limits: the tenant of the benchmarks has none. */
function settings(url: string, port: number, adminPort: number): Record<string, string> {
  const keys = ({ id, secret }: typeof CURSOR_KEY): string => `${id}:${secret.toString('base64')}`;
  return {
    MYSQL_URL: url,
    HOST: '127.0.0.1',
    PORT: `${port}`,
    ADMIN_PORT: `${adminPort}`,
    FINGERPRINT_KEYS: keys(FINGERPRINT_KEY),
    CURSOR_KEYS: keys(CURSOR_KEY),
    ENCRYPTION_KEYS: keys(ENCRYPTION_KEY),
    RATE_LIMIT_REQUESTS_PER_S: NO_LIMIT,
    RATE_LIMIT_BURST: NO_LIMIT,
    RATE_LIMIT_LOOKUP_PER_S: NO_LIMIT,
    RATE_LIMIT_LOOKUP_BURST: NO_LIMIT,
    RATE_LIMIT_REDELIVER_PER_MIN: NO_LIMIT,
    RATE_LIMIT_UPLOADS_PER_MIN: NO_LIMIT,
  };
}

async function answersOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).status === 200;
  } catch {
    return false;
  }
}
