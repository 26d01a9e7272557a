import type { Uuid } from '../../core/ids.js';
import { Pause } from '../../core/pause.js';
import type { WebhookDelivery } from '../../db/entities/webhooks.js';
import { attempt, type Flying } from '../drain/attempting.js';
import type { Wanted } from '../drain/near.js';
import type { OpenDelivery } from '../drain/open-deliveries.js';
import type { Outcome } from '../drain/outcomes.js';
import type { WebhookDeps } from '../deps.js';
import { isSuccess, PROMPT_MS, WINDOW } from '../rules.js';

/** First attempts of a few events, in order. It starts no more once time is up or one has failed. */
export class Flight {
  readonly sends = new AbortController();
  private readonly line: OpenDelivery[];
  private readonly flying = new Map<Uuid, Flying>();
  private readonly cutOff: WebhookDelivery[] = [];
  private readonly outcomes: Outcome[] = [];
  private mayBegin = true;
  private fault: Error | null = null;
  private readonly pause = new Pause();

  constructor(
    private readonly deps: WebhookDeps,
    readonly wanted: Wanted,
  ) {
    this.line = [...wanted.deliveries];
    this.begin();
  }

  /** Resolves when all that began have ended, or time is up. Throws failures that are our own fault. */
  async landed(): Promise<void> {
    if (this.flying.size > 0) await this.pause.for(PROMPT_MS);
    this.mayBegin = false;
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
    const untried = [...left, ...this.line].map(({ delivery }) => delivery);
    return { ended: this.outcomes, left, untried: [...untried, ...this.cutOff] };
  }

  private begin(): void {
    while (this.mayBegin && this.flying.size < WINDOW) {
      const open = this.line.shift();
      if (open === undefined) return;
      const landing = attempt(this.deps, this.wanted.state, open, false, this.sends.signal);
      const flying = { delivery: open.delivery, landing };
      this.flying.set(open.delivery.id, flying);
      void this.land(flying);
    }
  }

  private async land({ delivery, landing }: Flying): Promise<void> {
    try {
      const outcome = await landing;
      if (!this.flying.delete(delivery.id)) return;
      if (outcome === null) this.cutOff.push(delivery);
      else this.outcomes.push(outcome);
      const isWell = outcome !== null && (outcome.result === null || isSuccess(outcome.result));
      this.mayBegin &&= isWell;
    } catch (fault) {
      // Its fault may come after the last look at it: it is kept as untried.
      if (this.flying.delete(delivery.id)) this.cutOff.push(delivery);
      this.mayBegin = false;
      this.fault ??= fault instanceof Error ? fault : new Error(String(fault));
    }
    this.begin();
    if (this.flying.size === 0) this.pause.end();
  }
}
