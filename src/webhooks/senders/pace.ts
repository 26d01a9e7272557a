/** From the end of a round to the start of the next: after one that found something, and one that did not. */
export interface Pauses {
  readonly busyMs: number;
  readonly idleMs: number;
}

export const PAUSES: Pauses = { busyMs: 25, idleMs: 100 };

/**
 * The share of the time that looking may take, unless it is slow because others are busy. Sending may take all of it.
 */
const LOOK_SHARE = 1 / 4;
const MAX_PAUSE_MS = 100;

/** How long senders pause between their rounds. */
export class Pace {
  private lookedMs = 0;

  constructor(private readonly pauses: Pauses) {}

  /**
   * The shortest pause, and the longest if nothing wakes them. What a look costs is the quicker of the last two: one alone may have been held
   * up, and a long pause after it makes the next round a burst, which is held up as well.
   */
  after(
    isBusy: boolean,
    lookedMs: number,
  ): { readonly atLeastMs: number; readonly atMostMs: number } {
    const costMs = Math.min(lookedMs, this.lookedMs);
    this.lookedMs = lookedMs;
    const atLeastMs = Math.max(
      this.pauses.busyMs,
      Math.min(costMs * (1 / LOOK_SHARE - 1), MAX_PAUSE_MS),
    );
    return { atLeastMs, atMostMs: isBusy ? atLeastMs : Math.max(this.pauses.idleMs, atLeastMs) };
  }
}
