import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJson, writePrivateJson } from './files.mjs';

/**
 * What tells this process from a later one with the same id: when it was started, in which run of the machine.
 * Undefined for a process that has ended.
 */
function identityOf(pid) {
  try {
    if (!existsSync('/proc/self/stat'))
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    // The name, in brackets, may hold anything; the state is the 3rd field and the time of the start the 22nd.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    if (fields[0] === 'Z') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19]}`;
  } catch {
    return undefined;
  }
}

/** A process as it is kept in a file. */
export function describeProcess(pid) {
  return { pid, identity: identityOf(pid) };
}

/** Whether exactly this process still runs. */
export function isAlive({ pid, identity }) {
  return identity !== undefined && identityOf(pid) === identity;
}

/** Asks the process to end, and ends it hard after `graceMs`. */
export async function endProcess(described, graceMs) {
  const signal = (name) => isAlive(described) && process.kill(described.pid, name);
  signal('SIGTERM');
  const deadline = Date.now() + graceMs;
  while (isAlive(described) && Date.now() < deadline) await sleep(25);
  signal('SIGKILL');
  while (isAlive(described)) await sleep(25);
}

/**
 * Which processes belong to a folder of servers: the script that owns it, and the servers. It is kept on disk, so that the
 * next run finds what a killed one has left running.
 */
export class ProcessBook {
  #path;
  #content;

  constructor(path, content) {
    this.#path = path;
    this.#content = content;
    this.#write();
  }

  /** Takes the folder for this process; or returns, as `owner`, the process that has it. */
  static claim(folder) {
    const path = join(folder, 'pids.json');
    const earlier = readJson(path);
    if (earlier && isAlive(earlier.owner)) return { owner: earlier.owner };
    const parts = Object.entries(earlier?.parts ?? {}).filter(([, part]) => isAlive(part));
    return { book: new ProcessBook(path, { owner: describeProcess(process.pid), parts: Object.fromEntries(parts) }) };
  }

  /** The servers that run, by name: `{pid, identity}` and what was kept with them. */
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

  /** The folder is free for the next run, which will find the servers that still run. */
  release() {
    if (Object.keys(this.parts).length === 0) rmSync(this.#path, { force: true });
    else writePrivateJson(this.#path, { owner: { pid: 0 }, parts: this.parts });
  }

  #write() {
    writePrivateJson(this.#path, this.#content);
  }
}
