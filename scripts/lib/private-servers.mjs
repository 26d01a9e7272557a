import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { mysqlUrl } from './database.mjs';
import { readJson, writePrivateJson } from './files.mjs';
import { findTemporal } from './find-temporal.mjs';
import { makeFolder, isInMemory, memoryFolder } from './memory.mjs';
import { ADMIN_USER, mysqlPart } from './mysql.mjs';
import { spawnPart, untilReady } from './part.mjs';
import { shortHash } from './paths.mjs';
import { choosePorts } from './ports.mjs';
import { describeProcess, endProcess, ProcessRegistry } from './processes.mjs';
import { step } from './progress.mjs';
import { loadSecrets } from './secrets.mjs';
import { temporalPart } from './temporal.mjs';

/** More simultaneous runs in one checkout are a mistake. */
const MAX_SLOTS = 8;

/**
 * Private servers for one run of tests or benchmarks. They live in a numbered folder below `folder`: simultaneous runs
 * have one each, and a later run reuses an earlier one's data folder, or its servers if they were kept. Data in memory
 * is removed at the end.
 */
export class PrivateServers {
  #slot;
  #registry;
  #keep = false;
  #stopped;

  constructor(folder) {
    for (let number = 1; number <= MAX_SLOTS && !this.#registry; number++) {
      this.#slot = join(folder, String(number));
      this.#registry = ProcessRegistry.claim(this.#slot).registry;
    }
    if (!this.#registry) throw new Error(`All ${MAX_SLOTS} folders under ${folder} are in use.`);
  }

  /**
   * Starts the servers that are not running yet and returns MySQL's administrator URL and, with `withTemporal`, Temporal's
   * address.
   */
  async open({ findMysql, bufferPool, redoLog, withTemporal, keep, dataIn = 'disk' }) {
    const runtimeFile = join(this.#slot, 'runtime.json');
    const earlier = readJson(runtimeFile);
    const alive = this.#registry.parts;
    this.#keep = keep || Boolean(earlier?.keep && Object.keys(alive).length > 0);
    const names = ['mysql', 'temporal', 'temporalHttp', 'temporalUi'];
    const isTaken = (name) => (name === 'mysql' ? alive.mysql : alive.temporal);
    const chosen = await choosePorts(
      names.filter((name) => !isTaken(name)),
      earlier?.ports,
    );
    const ports = { ...earlier?.ports, ...chosen };
    writePrivateJson(runtimeFile, { ports, keep: this.#keep });
    const { mysql_admin_password: password } = loadSecrets(this.#slot);
    const memory = memoryFolder(this.#slot);
    if (!alive.mysql) rmSync(memory, { recursive: true, force: true });
    const data = !alive.mysql && isInMemory(dataIn) ? makeFolder(memory) : this.#slot;
    await Promise.all([
      alive.mysql ??
        this.#startMysql({ findMysql, bufferPool, redoLog, port: ports.mysql, password, data }),
      withTemporal && (alive.temporal ?? this.#startTemporal(ports)),
    ]);
    return {
      mysqlAdminUrl: mysqlUrl({ user: ADMIN_USER, password, host: '127.0.0.1', port: ports.mysql }),
      temporalAddress: withTemporal ? `127.0.0.1:${ports.temporal}` : undefined,
      // For the data of servers that tests start themselves.
      ...(existsSync(memory) && { temporaryFolder: join(memory, 'tmp') }),
    };
  }

  /** Stops the servers, unless they are kept for the next run. */
  close() {
    this.#stopped ??= this.#keep ? Promise.resolve() : this.#endAll();
    return this.#stopped.then(() => this.#registry.release());
  }

  async #endAll() {
    const parts = Object.entries(this.#registry.parts);
    await Promise.all(parts.map(([, described]) => endProcess(described, 30_000)));
    for (const [name] of parts) this.#registry.remove(name);
    rmSync(memoryFolder(this.#slot), { recursive: true, force: true });
  }

  async #startMysql({ findMysql, bufferPool, redoLog, port, password, data }) {
    const server = await findMysql();
    const folder = server.root
      ? join(server.root, 'srv', shortHash(this.#slot))
      : join(data, 'mysql');
    const log = join(this.#slot, 'mysql.log');
    await this.#start(
      await mysqlPart(server, { folder, port, log, bufferPool, redoLog, adminPassword: password }),
    );
  }

  async #startTemporal(ports) {
    await this.#start(
      temporalPart(await findTemporal(), { ports, log: join(this.#slot, 'temporal.log') }),
    );
  }

  async #start(part) {
    if (this.#stopped) return;
    await step(`Starting ${part.name}`, async () => {
      const { child, ended } = spawnPart(part);
      // The servers may outlive this process, which must not wait for them.
      child.unref();
      if (child.pid) this.#registry.add(part.name, describeProcess(child.pid));
      await untilReady(part, ended);
    });
  }
}

/** Ends the servers that runs below the folder kept. Returns how many runs are still in progress, whose servers stay. */
export async function endKeptServers(folder) {
  let busy = 0;
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const { registry } = ProcessRegistry.claim(join(folder, name));
    if (!registry) busy += 1;
    else await Promise.all(Object.values(registry.parts).map((part) => endProcess(part, 30_000)));
    for (const part of Object.keys(registry?.parts ?? {})) registry.remove(part);
    if (registry) rmSync(memoryFolder(join(folder, name)), { recursive: true, force: true });
    registry?.release();
  }
  return busy;
}
