/** Options and results of a drain. */

export interface DrainOptions {
  /** No new send begins after it; those in flight finish within their own time limit. */
  readonly signal: AbortSignal;
  /** Called every second while the drain lives. */
  readonly heartbeat: () => void;
  /** No new send begins after this many milliseconds. */
  readonly maxMs: number;
  /** How many milliseconds it keeps looking for new work before it ends. */
  readonly lookOnMs: number;
  /** Whether it ends near the end of the log, and leaves the rest to the senders. */
  readonly leavesRest: boolean;
  /** Whether the endpoint's workflow does this, and so need not be told what is left. */
  readonly isWorkflow: boolean;
}

export interface DrainResult {
  /** time: `maxMs` is over; held: disabled, paused or deleted; taken_over: another run sends to it. */
  readonly ended: 'idle' | 'time' | 'stopped' | 'held' | 'taken_over';
  readonly attempts: number;
  /** RFC 3339. Null: only a new event, a request or an operator makes it due again. */
  readonly nextDueAt: string | null;
}

/** From 0 to 1; spreads the retries. */
export type Random = () => number;
