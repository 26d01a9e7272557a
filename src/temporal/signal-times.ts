import type { Instant } from '../core/instant.js';
import type { TemporalClient, WorkflowRun } from './client.js';
import type { SignedAct } from './contracts.js';

type Signals = Awaited<ReturnType<TemporalClient['signalsOf']>>;

type Said = Pick<SignedAct, 'action' | 'number' | 'actor' | 'reason' | 'code'>;

const RUNS_KEPT = 100;

/** When signals arrived, by the run's history: a workflow's own clock is late if a worker was away. Cached. */
export class SignalTimes {
  private readonly known = new Map<string, Promise<Signals>>();

  constructor(private readonly client: Pick<TemporalClient, 'signalsOf'>) {}

  /**
   * For the run's `number`th signal of this name, from 1, if it said this; null if it said something else, or there is
   * none: whoever may run an activity chooses its input, but not the history. Throws TemporalUnavailable.
   */
  async receivedAt(
    run: WorkflowRun,
    { action, number = 0, ...said }: Said,
  ): Promise<Instant | null> {
    const kept = this.known.get(run.runId);
    const find = (signals: Signals | undefined) => signals?.get(action)?.[number - 1];
    const found = find(await kept?.catch(() => undefined)) ?? find(await this.read(run, kept));
    const isSaid =
      found?.actor === said.actor && found.reason === said.reason && found.code === said.code;
    return isSaid ? found.at : null;
  }

  /** Reads again, unless somebody has already begun to. */
  private read(run: WorkflowRun, outdated: Promise<Signals> | undefined): Promise<Signals> {
    const current = this.known.get(run.runId);
    if (current !== undefined && current !== outdated) return current;
    const reading = this.client.signalsOf(run);
    this.known.delete(run.runId);
    this.known.set(run.runId, reading);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= RUNS_KEPT) break;
      this.known.delete(oldest);
    }
    return reading;
  }
}
