import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RowFailed } from '../row-failed.js';
import { cpuMsOf, peakMbOf } from './process-figures.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const START_MS = 30_000;
const STOP_MS = 45_000;
const POLL_MS = 5;

/** A program of the service, and how to start it. */
interface Program {
  /** Used in messages and for its log. */
  readonly name: string;
  /** File of the program under dist/src. */
  readonly file: string;
  readonly nodeOptions: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
  readonly adminPort: number;
  /** A page of the admin port that answers 200 once work can begin. */
  readonly readyPage: '/readyz' | '/livez';
  /** Where to write a CPU profile of the whole life of the process; null for none. */
  readonly profileFolder: string | null;
}

/** A program that has been started and is ready. */
export interface Started {
  readonly program: Program;
  readonly child: ChildProcess;
  readonly readyMs: number;
}

/** Starts the program and waits until it is ready. Throws RowFailed. */
export async function startProgram(program: Program): Promise<Started> {
  const { name, file, nodeOptions, settings, adminPort, readyPage, profileFolder } = program;
  const logFile = `${ROOT}.run/bench/${name}.log`;
  mkdirSync(dirname(logFile), { recursive: true });
  const log = openSync(logFile, 'w');
  const profile = profileFolder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];
  const script = fileURLToPath(new URL(`../../src/processes/${file}`, import.meta.url));
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [...profile, '--enable-source-maps', ...nodeOptions, script],
    {
      cwd: ROOT,
      stdio: ['ignore', log, log],
      env: { ...process.env, ...settings, ADMIN_PORT: `${adminPort}` },
    },
  );
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  while (!(await answersOk(`http://127.0.0.1:${adminPort}${readyPage}`))) {
    if (child.exitCode !== null || performance.now() - began > START_MS) {
      kill();
      throw new RowFailed(`the ${name} process did not start; see ${logFile}`);
    }
    await sleep(POLL_MS);
  }
  return { program, child, readyMs: performance.now() - began };
}

/** A process of the service as in production: its own program, configured by its environment. */
export class ServiceProcess {
  /** From the process's start to its first answer as ready. */
  readonly readyMs: number;
  private readonly program: Program;
  private readonly child: ChildProcess;

  constructor({ program, child, readyMs }: Started) {
    this.program = program;
    this.child = child;
    this.readyMs = readyMs;
  }

  /** The metrics on its admin port. */
  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.program.adminPort}/metrics`)).text();
  }

  /** CPU time of the process, in milliseconds; null if the system does not report it. */
  cpuMs(): number | null {
    return cpuMsOf(this.child.pid);
  }

  /** Peak memory of the process, in MB; null if the system does not report it. */
  peakMb(): number | null {
    return peakMbOf(this.child.pid);
  }

  /** Stops it gracefully; throws RowFailed if it died before, or does not end by itself. */
  async stop(): Promise<void> {
    const { child, program } = this;
    if (child.exitCode !== null || child.signalCode !== null)
      throw new RowFailed(
        `the ${program.name} process ended by itself (${child.signalCode ?? child.exitCode})`,
      );
    const ended = new Promise<'ended'>((resolve) => child.once('exit', () => resolve('ended')));
    child.kill('SIGTERM');
    if ((await Promise.race([ended, sleep(STOP_MS, 'late', { ref: false })])) === 'ended') return;
    child.kill('SIGKILL');
    throw new RowFailed(`the ${program.name} process did not stop within ${STOP_MS / 1000} s`);
  }
}

async function answersOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).status === 200;
  } catch {
    return false;
  }
}
