import { setTimeout as sleep } from 'node:timers/promises';
import { spawnPart, untilReady } from './part.mjs';
import { describeProcess, endProcess } from './processes.mjs';
import { say } from './progress.mjs';

/** A part that ran for this long is restarted at once. After a shorter run, each pause is longer. */
const STEADY_MS = 10_000;
const MAX_PAUSE_MS = 5_000;

/** Keeps parts running until they are stopped. */
export class Supervisor {
  #running = new Map();
  #registry;
  #stopOrder;
  #stopping = false;

  /** Called whenever a part gets a new process id. */
  onChange = () => {};

  constructor(registry, stopOrder) {
    this.#registry = registry;
    this.#stopOrder = stopOrder;
  }

  /** Starts the part and returns once it is ready; from then on it is restarted whenever it dies. */
  async start(part) {
    const { ended } = this.#spawn(part);
    await untilReady(part, ended);
    void this.#keepAlive(part, ended);
  }

  get isRunning() {
    return this.#running.size > 0;
  }

  /** The part's process; null before it starts. */
  pid(name) {
    return this.#running.get(name)?.pid ?? null;
  }

  /** Stops all parts in order. */
  async stop() {
    this.#stopping = true;
    for (const name of this.#stopOrder) {
      const described = this.#running.get(name);
      if (!described) continue;
      await endProcess(described, described.stopMs);
      this.#registry.remove(name);
    }
  }

  /** Kills all parts at once. */
  kill() {
    this.#stopping = true;
    for (const { pid } of this.#running.values()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The process has already ended.
      }
    }
  }

  #spawn(part) {
    if (this.#stopping) throw new Error('stopping');
    const { child, ended } = spawnPart(part);
    if (child.pid) {
      const described = describeProcess(child.pid);
      this.#running.set(part.name, { ...described, stopMs: part.stopMs });
      this.#registry.add(part.name, described);
      void ended.then(() => {
        if (this.pid(part.name) === child.pid) this.#running.delete(part.name);
      });
    }
    return { ended };
  }

  async #keepAlive(part, firstEnded) {
    let ended = firstEnded;
    let pauseMs = 0;
    let startedAt = Date.now();
    for (;;) {
      const reason = await ended;
      if (this.#stopping) return;
      pauseMs = Date.now() - startedAt > STEADY_MS ? 0 : Math.min(MAX_PAUSE_MS, pauseMs * 2 || 250);
      say(`${part.name} has ended (${reason}) and is started again.`);
      await sleep(pauseMs);
      if (this.#stopping) return;
      startedAt = Date.now();
      ended = this.#spawn(part).ended;
      this.onChange();
      untilReady(part, ended).then(
        () =>
          say(
            `${part.name} is back as process ${this.pid(part.name)}, after ${Date.now() - startedAt} ms.`,
          ),
        (error) => this.#stopping || say(error.message),
      );
    }
  }
}
