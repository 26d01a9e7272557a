import { Deadline } from './deadline.js';
import { DatabaseUnavailable } from './failures.js';
import { connectOptions, type MysqlAddress, type MysqlServer, type MysqlTls } from './servers.js';
import { type ServerState, ServerWatch } from './server-state.js';

/** No server that is named is known to be the primary now: nothing was sent. */
export class NoPrimary extends DatabaseUnavailable {
  override name = 'NoPrimary';
}

/** A server that said it is the primary. */
export interface Found {
  readonly server: MysqlServer;
  readonly watch: ServerWatch;
  readonly state: ServerState;
  readonly askedAt: number;
}

/** What one look at a server may take, connecting included. */
export const LOOK_TIMEOUT_MS = 2_000;
export const SEARCH_EVERY_MS = 200;

/** Asks every server that is named which of them takes writes. */
export class PrimarySearch {
  /** Why the last server that was asked did not answer. */
  failure: unknown;
  /** How often it was begun. */
  rounds = 0;
  /** The last round in which nobody answered: none of them may soon be the primary. */
  unanswered = 0;
  /** The last round in which somebody did. */
  private answered = 0;
  private several = '';

  constructor(
    private readonly address: MysqlAddress,
    private readonly tls: MysqlTls | null,
    /** More than one takes writes, so that none is used. */
    private readonly onSeveral: (servers: readonly string[]) => void,
  ) {}

  /** All at once. A group knows its one writer; of servers without a group, one alone may take writes. */
  async once(): Promise<Found | null> {
    this.tls?.refresh();
    this.rounds += 1;
    const looks = this.address.servers.map((server) => this.lookAt(server));
    const chosen = await new Promise<Found | null>((resolve) => {
      for (const look of looks)
        void look.then((found) => {
          if (found !== null && found.state.group !== 'none') resolve(found);
        });
      void Promise.all(looks).then((all) => resolve(this.onlyOne(all.filter((found) => found !== null))));
    });
    for (const look of looks)
      void look.then((found) => {
        if (found !== chosen) found?.watch.close();
      });
    if (this.answered < this.rounds) this.unanswered = this.rounds;
    return chosen;
  }

  /** For work of its own connections, such as migrations. Throws NoPrimary. */
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
    return new NoPrimary(`no server of MySQL is known to take writes${reason}`, { cause: this.failure });
  }

  private async lookAt(server: MysqlServer): Promise<Found | null> {
    const deadline = Deadline.afterMs(LOOK_TIMEOUT_MS);
    try {
      const watch = await ServerWatch.open(connectOptions(this.address, server, this.tls), deadline);
      try {
        const askedAt = performance.now();
        const state = await watch.look(deadline);
        this.answered = this.rounds;
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

  /** Two names may lead to one server. Names are told once, and again when they change. */
  private onlyOne(found: readonly Found[]): Found | null {
    const byIdentity = new Map(found.map((one) => [one.state.identity, one]));
    const [first = null, ...others] = byIdentity.values();
    const names = others.length === 0 ? [] : Array.from(byIdentity.values(), ({ server }) => nameOf(server));
    if (names.length > 0) this.failure = new Error(`several do: ${names.join(', ')}`);
    if (names.length > 0 && names.join() !== this.several) this.onSeveral(names);
    this.several = names.join();
    return others.length === 0 ? first : null;
  }
}

export function nameOf({ host, port }: MysqlServer): string {
  return `${host}:${port}`;
}
