import type { Uuid } from '../../core/ids.js';
import type { WebhookDelivery } from '../../db/entities/webhooks.js';
import { attempt, type Flying } from '../drain/attempting.js';
import type { Wanted } from '../drain/near.js';
import type { Outcome } from '../drain/outcomes.js';
import type { WebhookDeps } from '../deps.js';

/** How long an endpoint may take for a handful of events; what takes longer gets its own run. */
const SHORT_MS = 500;

/** First attempts of a handful of events, all begun at once, in order. */
export class Flight {
  /** Aborts all of them. */
  readonly sends = new AbortController();
  private readonly flying = new Map<Uuid, Flying>();
  private readonly cutOff: WebhookDelivery[] = [];
  private readonly outcomes: Outcome[] = [];
  private fault: Error | null = null;

  constructor(
    deps: WebhookDeps,
    readonly wanted: Wanted,
  ) {
    for (const open of wanted.deliveries) {
      const { delivery } = open;
      const landing = attempt(deps, wanted.state, open, false, this.sends.signal);
      this.flying.set(delivery.id, { delivery, landing });
    }
  }

  /** Resolves when all have ended or time is up. Throws failures that are our own fault. */
  async landed(): Promise<void> {
    const all = Promise.all(Array.from(this.flying.values(), (flying) => this.land(flying)));
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, SHORT_MS)));
    await Promise.race([all, over]);
    clearTimeout(timer);
    if (this.fault !== null) throw this.fault;
  }

  /** The results so far. Later results are not returned again: the caller takes over `left`. */
  take(): {
    readonly ended: readonly Outcome[];
    readonly left: readonly Flying[];
    readonly untried: readonly WebhookDelivery[];
  } {
    const left = [...this.flying.values()];
    this.flying.clear();
    return { ended: this.outcomes, left, untried: [...left.map(({ delivery }) => delivery), ...this.cutOff] };
  }

  private async land({ delivery, landing }: Flying): Promise<void> {
    try {
      const outcome = await landing;
      if (!this.flying.delete(delivery.id)) return;
      if (outcome === null) this.cutOff.push(delivery);
      else this.outcomes.push(outcome);
    } catch (fault) {
      this.fault ??= fault instanceof Error ? fault : new Error(String(fault));
    }
  }
}
