import { currentTraceparent, untraced } from '../core/trace.js';
import type { Entry, Relay } from './relay.js';

/** Further entries are left to the sweeper, so that a burst does not slow down the process. */
const MAX_WAITING = 500;
const AT_ONCE = 100;

/** Relays entries in the background, right after their commit. */
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

  /** Leaves queued entries to the sweeper. Resolves after the running relay. */
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
