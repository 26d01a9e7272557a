import { Deadline } from './deadline.js';
import { DatabaseUnavailable, isConnectionRefused } from './failures.js';
import { connectOptions, type MysqlAddress, type MysqlServer, type MysqlTls } from './servers.js';
import { type ServerState, ServerWatch } from './server-state.js';

/** Failure to find a primary among the named servers. No statement was sent. */
export class NoPrimary extends DatabaseUnavailable {
  override name = 'NoPrimary';
}

export interface FoundPrimary {
  readonly server: MysqlServer;
  readonly watch: ServerWatch;
  readonly state: ServerState;
  readonly askedAt: number;
}

/** A server that may be the primary, one that accepts no writes, or one of unknown state. */
type CheckResult = FoundPrimary | 'refuses' | 'unknown';

const isFound = (check: CheckResult): check is FoundPrimary => typeof check === 'object';

export const CHECK_TIMEOUT_MS = 2_000;
export const SEARCH_EVERY_MS = 200;

export class PrimarySearch {
  /** Why the last round found no primary. */
  failure: unknown;
  rounds = 0;
  /** Last round in which no server responded. */
  unanswered = 0;
  private answered = 0;
  private several = '';

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
      for (const check of checks)
        void check.then((found) => {
          if (isFound(found) && found.state.group !== 'none' && found.state.before === 0)
            resolve(found);
        });
      void Promise.all(checks).then((all) => resolve(this.choose(all)));
    });
    for (const check of checks)
      void check.then((found) => {
        if (isFound(found) && found !== chosen) found.watch.close();
      });
    if (this.answered < this.rounds) this.unanswered = this.rounds;
    return chosen;
  }

  /** Returns whether no earlier member of the group accepts writes. */
  async isStillFirst({ server, state }: Pick<FoundPrimary, 'server' | 'state'>): Promise<boolean> {
    if (state.before === 0) return true;
    const others = this.address.servers.filter((one) => one !== server);
    const checks = await Promise.all(others.map((other) => this.check(other)));
    for (const found of checks) if (isFound(found)) found.watch.close();
    return checks.every(
      (found) => found === 'refuses' || (isFound(found) && found.state.before > state.before),
    );
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
    return new NoPrimary(`no server of MySQL is known to take writes${reason}`, {
      cause: this.failure,
    });
  }

  private async check(server: MysqlServer): Promise<CheckResult> {
    const deadline = Deadline.afterMs(CHECK_TIMEOUT_MS);
    try {
      const watch = await ServerWatch.open(
        connectOptions(this.address, server, this.tls),
        deadline,
      );
      try {
        const askedAt = performance.now();
        const state = await watch.readState(deadline);
        this.answered = this.rounds;
        if (state.isPrimary) return { server, watch, state, askedAt };
      } catch (failure) {
        watch.close();
        throw failure;
      }
      watch.close();
      return 'refuses';
    } catch (failure) {
      this.failure = failure;
      return isConnectionRefused(failure) ? 'refuses' : 'unknown';
    }
  }

  /** Chooses the first member of a group, unless a member of unknown state may accept writes. */
  private choose(checks: readonly CheckResult[]): FoundPrimary | null {
    const found = checks.filter(isFound);
    const grouped = found.filter(({ state }) => state.group !== 'none');
    if (grouped.length === 0) return this.onlyOne(found);
    const [first = null] = grouped.toSorted((one, other) => one.state.before - other.state.before);
    return checks.includes('unknown') ? null : first;
  }

  /** Two names may lead to the same server. Names are reported once, and again when they change. */
  private onlyOne(found: readonly FoundPrimary[]): FoundPrimary | null {
    const byIdentity = new Map(found.map((one) => [one.state.identity, one]));
    const [first = null, ...others] = byIdentity.values();
    const names =
      others.length === 0 ? [] : Array.from(byIdentity.values(), ({ server }) => nameOf(server));
    if (names.length > 0) this.failure = new Error(`several do: ${names.join(', ')}`);
    if (names.length > 0 && names.join() !== this.several) this.onSeveral(names);
    this.several = names.join();
    return others.length === 0 ? first : null;
  }
}

export function nameOf({ host, port }: MysqlServer): string {
  return `${host}:${port}`;
}
