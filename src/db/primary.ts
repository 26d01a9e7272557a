import { Deadline, Pause, withTimeout } from '../core/timers.js';
import type { Connections } from './connections.js';
import { connectOptions, type MysqlAddress, type MysqlServer, type MysqlTls } from './servers.js';
import { type ServerState, ServerWatch } from './server-state.js';
import { DatabaseUnavailable } from './failures.js';

/** Failure to find a primary among the named servers. No statement was sent. */
export class NoPrimary extends DatabaseUnavailable {
  override name = 'NoPrimary';
}

interface FoundPrimary {
  readonly server: MysqlServer;
  readonly watch: ServerWatch;
  readonly state: ServerState;
  readonly askedAt: number;
}

const CHECK_TIMEOUT_MS = 2_000;
const SEARCH_EVERY_MS = 200;

export class PrimarySearch {
  /** Why the last round found no primary. */
  failure: unknown;
  rounds = 0;
  /** Last round in which no server responded. */
  lastSilentRound = 0;
  private lastAnsweredRound = 0;
  private reportedServers = '';

  constructor(
    private readonly address: MysqlAddress,
    private readonly tls: MysqlTls | null,
    private readonly onSeveral: (servers: readonly string[]) => void,
  ) {}

  /** Checks all servers at once. Without a group, returns null if several servers accept writes. */
  async once(): Promise<FoundPrimary | null> {
    this.tls?.refresh();
    this.rounds += 1;
    const checks = this.address.servers.map((server) => this.check(server));
    const chosen = await new Promise<FoundPrimary | null>((resolve) => {
      // A group has one primary, so slower servers need not respond.
      for (const check of checks)
        void check.then((found) => {
          if (found?.state.isGrouped === true) resolve(found);
        });
      void Promise.all(checks).then((all) =>
        resolve(this.chooseSingle(all.filter((found) => found !== null))),
      );
    });
    for (const check of checks)
      void check.then((found) => {
        if (found !== chosen) found?.watch.close();
      });
    if (this.lastAnsweredRound < this.rounds) this.lastSilentRound = this.rounds;
    return chosen;
  }

  /** Returns the primary for callers with connections of their own. Throws NoPrimary. */
  async locate(withinMs: number): Promise<MysqlServer> {
    for (const deadline = Deadline.afterMs(withinMs); !deadline.passed();) {
      const found = await this.once();
      found?.watch.close();
      if (found !== null) return found.server;
      await new Promise((resolve) => setTimeout(resolve, SEARCH_EVERY_MS));
    }
    throw this.noPrimary();
  }

  noPrimary(): NoPrimary {
    const reason = this.failure instanceof Error ? `: ${this.failure.message}` : '';
    return new NoPrimary(`no MySQL server is known to accept writes${reason}`, {
      cause: this.failure,
    });
  }

  /** Returns null if the server accepts no writes, or its state is unknown. */
  private async check(server: MysqlServer): Promise<FoundPrimary | null> {
    const deadline = Deadline.afterMs(CHECK_TIMEOUT_MS);
    try {
      const watch = await ServerWatch.open(
        connectOptions(this.address, server, this.tls),
        deadline,
      );
      try {
        const askedAt = performance.now();
        const state = await watch.readState(deadline);
        this.lastAnsweredRound = this.rounds;
        if (state.isPrimary) return { server, watch, state, askedAt };
      } catch (failure) {
        watch.close();
        throw failure;
      }
      watch.close();
    } catch (failure) {
      this.failure = failure;
    }
    return null;
  }

  /** Several addresses may lead to the same server. Reports several servers once, until they change. */
  private chooseSingle(found: readonly FoundPrimary[]): FoundPrimary | null {
    const byIdentity = new Map(found.map((one) => [one.state.identity, one]));
    const [first = null, ...others] = byIdentity.values();
    const names =
      others.length === 0 ? [] : Array.from(byIdentity.values(), ({ server }) => nameOf(server));
    if (names.length > 0) this.failure = new Error(`several servers do: ${names.join(', ')}`);
    if (names.length > 0 && names.join() !== this.reportedServers) this.onSeveral(names);
    this.reportedServers = names.join();
    return others.length === 0 ? first : null;
  }
}

export function nameOf({ host, port }: MysqlServer): string {
  return `${host}:${port}`;
}

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
  private isRunning = false;
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
    if (!this.isRunning) void this.run();
    const until = performance.now() + Math.min(deadline.leftMs(), MAX_WAIT_MS);
    const { rounds } = this.search;
    for (;;) {
      const { connections } = this;
      if (connections !== null) return connections;
      const leftMs = until - performance.now();
      if (leftMs <= 0 || this.isClosed || this.search.lastSilentRound > rounds)
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
    this.isRunning = true;
    while (!this.isClosed) {
      const found = await this.search.once();
      if (found !== null) await this.keepChecking(found);
      else {
        this.notify();
        await this.pause.for(SEARCH_EVERY_MS, { keepsAlive: false });
      }
    }
  }

  /** Checks the server every second until another server is the primary. */
  private async keepChecking(found: FoundPrimary): Promise<void> {
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
      const waitMs = Math.max(0, inUse.checkedAt + CHECK_EVERY_MS - performance.now());
      await this.pause.for(waitMs, { keepsAlive: false });
      if (this.inUse !== inUse) return;
      this.deps.tls?.refresh();
      const askedAt = performance.now();
      const current = await watch
        .readState(Deadline.afterMs(CHECK_TIMEOUT_MS))
        .catch((failure: unknown) => {
          // Without a group, another server cannot take over, so one failed check is forgiven.
          if (state.isGrouped || hasFailedOnce) this.lose(inUse, failure);
          return null;
        });
      hasFailedOnce = current === null;
      if (current === null) continue;
      if (!current.isPrimary)
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
