import type { Instant } from '../core/instant.js';
import type { TemporalClient, WorkflowRun } from './client.js';
import type { StaffSignal } from './contracts.js';

type Signals = Awaited<ReturnType<TemporalClient['signalsOf']>>;

type ExpectedSignal = Pick<StaffSignal, 'action' | 'number' | 'actor' | 'reason' | 'code'>;

const RUNS_KEPT = 100;

/** A workflow's own clock is late if no worker was running, so times are from the history. */
export class SignalTimes {
  private readonly known = new Map<string, Promise<Signals>>();

  constructor(private readonly client: Pick<TemporalClient, 'signalsOf'>) {}

  /**
   * Returns when the run's `number`th signal of this name arrived. Null if its content differs: an
   * activity's input can be invented, but not the history. Throws `TemporalUnavailable`.
   */
  async receivedAt(
    run: WorkflowRun,
    { action, number = 0, ...expected }: ExpectedSignal,
  ): Promise<Instant | null> {
    const kept = this.known.get(run.runId);
    const find = (signals: Signals | undefined) => signals?.get(action)?.[number - 1];
    const found = find(await kept?.catch(() => undefined)) ?? find(await this.read(run, kept));
    const isExpected =
      found?.actor === expected.actor &&
      found.reason === expected.reason &&
      found.code === expected.code;
    return isExpected ? found.at : null;
  }

  /** Reads the history, unless another call is reading it. */
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
