import type { Instant } from '../core/instant.js';
import type { TemporalClient, WorkflowRun } from './client.js';
import type { StaffSignal } from './contracts.js';

type Signals = Awaited<ReturnType<TemporalClient['signalsOf']>>;

type ExpectedSignal = Pick<StaffSignal, 'action' | 'number' | 'actor' | 'reason' | 'code'>;

const MAX_CACHED_RUNS = 100;

/**
 * Reads from a workflow's history when signals were received. The workflow's own clock would be
 * late if no worker was running.
 */
export class SignalTimes {
  private readonly cache = new Map<string, Promise<Signals>>();

  constructor(private readonly client: Pick<TemporalClient, 'signalsOf'>) {}

  /**
   * Returns when the run's `number`th signal of this name arrived. Null if its content differs: an
   * activity's input can be invented, but not the history. Throws `TemporalUnavailable`.
   */
  async receivedAt(
    run: WorkflowRun,
    { action, number = 0, ...expected }: ExpectedSignal,
  ): Promise<Instant | null> {
    const cached = this.cache.get(run.runId);
    const find = (signals: Signals | undefined) => signals?.get(action)?.[number - 1];
    const found = find(await cached?.catch(() => undefined)) ?? find(await this.read(run, cached));
    const isExpected =
      found?.actor === expected.actor &&
      found.reason === expected.reason &&
      found.code === expected.code;
    return isExpected ? found.at : null;
  }

  /** Reads the history, unless another call is reading it. */
  private read(run: WorkflowRun, outdated: Promise<Signals> | undefined): Promise<Signals> {
    const current = this.cache.get(run.runId);
    if (current !== undefined && current !== outdated) return current;
    const reading = this.client.signalsOf(run);
    this.cache.delete(run.runId);
    this.cache.set(run.runId, reading);
    for (const oldest of this.cache.keys()) {
      if (this.cache.size <= MAX_CACHED_RUNS) break;
      this.cache.delete(oldest);
    }
    return reading;
  }
}
