/** What a drain is asked, and what it answers. */

export interface DrainOptions {
  /** No new send begins after it; those that are on their way end within their own time. */
  readonly signal: AbortSignal;
  /** Called every second while the drain lives. */
  readonly heartbeat: () => void;
  /** No new send begins after so many milliseconds. */
  readonly maxMs: number;
  /** How many milliseconds it looks on for what comes, when nothing is left, before it ends. */
  readonly lookOnMs: number;
  /** Whether the endpoint's workflow has it done, and so need not be told of what is left. */
  readonly isWorkflow: boolean;
}

export interface DrainResult {
  /**
   * idle: nothing to send now; time: `maxMs` is over; stopped: by the signal; held: disabled, paused or deleted;
   * taken_over: somebody else sends to it.
   */
  readonly ended: 'idle' | 'time' | 'stopped' | 'held' | 'taken_over';
  /** How many attempts it has stored. */
  readonly attempts: number;
  /** RFC 3339; when something is to be sent next. Null: only a new event, a request or an operator makes it due again. */
  readonly nextDueAt: string | null;
}

/** Spreads the retries; from 0 to 1. */
export type Random = () => number;
