import type { Instant } from '../core/instant.js';
import type { TemporalClient, WorkflowRun } from './client.js';

type Signals = Awaited<ReturnType<TemporalClient['signalsOf']>>;

const RUNS_KEPT = 100;

/** When signals arrived, by the run's history: a workflow's own clock is late if a worker was away. Cached. */
export class SignalTimes {
  private readonly known = new Map<string, Promise<Signals>>();

  constructor(private readonly client: Pick<TemporalClient, 'signalsOf'>) {}

  /** For the run's `number`th signal of this name, from 1; null if there is none. Throws TemporalUnavailable. */
  async receivedAt(run: WorkflowRun, name: string, number: number): Promise<Instant | null> {
    const kept = this.known.get(run.runId);
    const before = (await kept?.catch(() => undefined))?.get(name)?.[number - 1];
    if (before !== undefined) return before;
    return (await this.read(run, kept)).get(name)?.[number - 1] ?? null;
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
