import { currentTraceparent, untraced } from '../core/trace.js';
import type { Entry, Relay } from './relay.js';

/**
 * Maximum of queued entries. Further entries are left to the sweeper, so that a burst does not slow
 * down the process that answers requests.
 */
const MAX_WAITING = 500;
/** Maximum of entries relayed in one group. */
const AT_ONCE = 100;

/** Relays entries in the background, right after the process that wrote them has committed. */
export class OutboxNotifier {
  private waiting: Entry[] = [];
  private running: Promise<void> | null = null;
  private isStopped = false;

  constructor(
    private readonly relay: Pick<Relay, 'relayNew'>,
    private readonly onFault: (fault: unknown) => void,
  ) {}

  /** Queues an entry. Never throws. */
  notify(entry: Entry): void {
    if (this.isStopped || this.waiting.length >= MAX_WAITING) return;
    this.waiting.push({ traceparent: currentTraceparent(), ...entry });
    this.running ??= untraced(() => this.run()).finally(() => (this.running = null));
  }

  /** Leaves queued entries to the sweeper. Resolves once the running relay has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.waiting = [];
    await this.running;
  }

  private async run(): Promise<void> {
    // Entries written in this turn of the event loop share a group.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) {
      try {
        await this.relay.relayNew(this.waiting.splice(0, AT_ONCE));
      } catch (fault) {
        this.onFault(fault);
      }
    }
  }
}
