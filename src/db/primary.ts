import { Pause, withTimeout } from '../core/pause.js';
import type { Connections } from './connections.js';
import { Deadline } from './deadline.js';
import {
  type FoundPrimary,
  CHECK_TIMEOUT_MS,
  nameOf,
  PrimarySearch,
  SEARCH_EVERY_MS,
} from './primary-search.js';
import type { MysqlAddress, MysqlServer, MysqlTls } from './servers.js';
import type { ServerState } from './server-state.js';

export interface PrimaryObserver {
  found(server: string): void;
  lost(server: string, reason: unknown): void;
  /** Several servers accept writes, so none is used. */
  refused(servers: readonly string[]): void;
}

interface PrimaryDeps {
  readonly address: MysqlAddress;
  readonly tls: MysqlTls | null;
  readonly connect: (server: MysqlServer, state: ServerState) => Connections;
  readonly observer: PrimaryObserver | undefined;
}

const CHECK_EVERY_MS = 1_000;
/** How long a check is valid. Reads from a demoted primary are at most this stale. */
const CHECK_VALID_MS = 2_000;
/** Longest wait of a statement for a primary: enough for a planned switchover. */
const MAX_WAIT_MS = 2_000;

interface PrimaryInUse extends FoundPrimary {
  readonly connections: Connections;
  checkedAt: number;
}

/** Finds the primary and checks it every second. Requests only compare the time of the last check. */
export class Primary {
  private inUse: PrimaryInUse | null = null;
  private running = false;
  private isClosed = false;
  private changed = signal();
  private readonly pause = new Pause();
  private readonly search: PrimarySearch;

  constructor(private readonly deps: PrimaryDeps) {
    const { address, tls, observer } = deps;
    this.search = new PrimarySearch(address, tls, (servers) => observer?.refused(servers));
  }

  get connections(): Connections | null {
    const { inUse } = this;
    return inUse !== null && performance.now() - inUse.checkedAt < CHECK_VALID_MS
      ? inUse.connections
      : null;
  }

  /** Returns the connections to the primary, after a search if necessary. Throws NoPrimary. */
  async waitForConnections(deadline: Deadline): Promise<Connections> {
    if (!this.running) void this.run();
    const until = performance.now() + Math.min(deadline.leftMs(), MAX_WAIT_MS);
    const { rounds } = this.search;
    for (;;) {
      const { connections } = this;
      if (connections !== null) return connections;
      const leftMs = until - performance.now();
      if (leftMs <= 0 || this.isClosed || this.search.unanswered > rounds)
        throw this.search.noPrimary();
      const { changed } = this;
      await withTimeout(leftMs, () => changed.fired, undefined);
    }
  }

  /** Retires connections whose server refused writes, and searches again. */
  retire(connections: Connections, reason: unknown): void {
    if (this.inUse?.connections === connections) this.lose(this.inUse, reason);
  }

  searchNow(): void {
    this.pause.end();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const { inUse } = this;
    this.inUse = null;
    this.pause.end();
    this.notify();
    inUse?.watch.close();
    await inUse?.connections.end();
  }

  private notify(): void {
    this.changed.fire();
    this.changed = signal();
  }

  private async run(): Promise<void> {
    this.running = true;
    while (!this.isClosed) {
      const found = await this.search.once();
      if (found !== null) await this.hold(found);
      else {
        this.notify();
        await this.pause.for(SEARCH_EVERY_MS, false);
      }
    }
  }

  /** Checks the server every second until another server is the primary. */
  private async hold(found: FoundPrimary): Promise<void> {
    if (this.isClosed) return found.watch.close();
    const { server, state, watch } = found;
    const connections = this.deps.connect(server, state);
    const inUse: PrimaryInUse = { ...found, checkedAt: found.askedAt, connections };
    this.inUse = inUse;
    watch.onBroken = () => this.searchNow();
    this.deps.observer?.found(nameOf(server));
    this.notify();
    let hasFailedOnce = false;
    while (this.inUse === inUse) {
      await this.pause.for(
        Math.max(0, inUse.checkedAt + CHECK_EVERY_MS - performance.now()),
        false,
      );
      if (this.inUse !== inUse) return;
      this.deps.tls?.refresh();
      const askedAt = performance.now();
      const now = await watch
        .readState(Deadline.afterMs(CHECK_TIMEOUT_MS))
        .catch((failure: unknown) => {
          // Without a group another server cannot take over, so one failed check is forgiven.
          if (state.group !== 'none' || hasFailedOnce) this.lose(inUse, failure);
          return null;
        });
      hasFailedOnce = now === null;
      if (now === null) continue;
      if (!now.isPrimary || !(await this.search.isStillFirst({ server, state: now })))
        return this.lose(inUse, new Error('the server is no longer the primary'));
      inUse.checkedAt = askedAt;
      this.notify();
    }
  }

  private lose(inUse: PrimaryInUse, reason: unknown): void {
    if (this.inUse !== inUse) return;
    this.inUse = null;
    this.search.failure = reason;
    this.deps.observer?.lost(nameOf(inUse.server), reason);
    inUse.watch.close();
    void inUse.connections.end();
    this.pause.end();
  }
}

function signal(): { readonly fired: Promise<void>; readonly fire: () => void } {
  let fire: () => void = () => undefined;
  const fired = new Promise<void>((resolve) => (fire = resolve));
  return { fired, fire };
}
