import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJson, writePrivateJson } from './files.mjs';

/**
 * Distinguishes a process from a later one with the same id: its start time, and the machine's boot. Undefined if it
 * has ended.
 */
function identityOf(pid) {
  try {
    if (!existsSync('/proc/self/stat'))
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    // The name, in parentheses, may contain anything; the state is the 3rd field and the start time the 22nd.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    if (fields[0] === 'Z') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19]}`;
  } catch {
    return undefined;
  }
}

/** A process, in the form stored in files. */
export function describeProcess(pid) {
  return { pid, identity: identityOf(pid) };
}

/** Whether exactly this process is still running. */
export function isAlive({ pid, identity }) {
  return identity !== undefined && identityOf(pid) === identity;
}

/** Asks the process to end, and kills it after `graceMs`. */
export async function endProcess(described, graceMs) {
  const signal = (name) => isAlive(described) && process.kill(described.pid, name);
  signal('SIGTERM');
  const deadline = Date.now() + graceMs;
  while (isAlive(described) && Date.now() < deadline) await sleep(25);
  signal('SIGKILL');
  while (isAlive(described)) await sleep(25);
}

/**
 * The processes of a folder of servers: the script that owns it, and the servers. Stored on disk, so that the next run
 * finds what a killed one left running.
 */
export class ProcessRegistry {
  #path;
  #content;

  constructor(path, content) {
    this.#path = path;
    this.#content = content;
    this.#write();
  }

  /** Claims the folder for this process, or returns the process that has it as `owner`. */
  static claim(folder) {
    const path = join(folder, 'pids.json');
    const earlier = readJson(path);
    if (earlier && isAlive(earlier.owner)) return { owner: earlier.owner };
    const parts = Object.entries(earlier?.parts ?? {}).filter(([, part]) => isAlive(part));
    return {
      registry: new ProcessRegistry(path, {
        owner: describeProcess(process.pid),
        parts: Object.fromEntries(parts),
      }),
    };
  }

  /** The running servers by name: `{pid, identity}` and what was stored with them. */
  get parts() {
    return this.#content.parts;
  }

  add(name, described) {
    this.#content.parts[name] = described;
    this.#write();
  }

  remove(name) {
    delete this.#content.parts[name];
    this.#write();
  }

  /** Releases the folder for the next run, which will find any servers still running. */
  release() {
    if (Object.keys(this.parts).length === 0) rmSync(this.#path, { force: true });
    else writePrivateJson(this.#path, { owner: { pid: 0 }, parts: this.parts });
  }

  #write() {
    writePrivateJson(this.#path, this.#content);
  }
}
