const BEAT_MS = 5;

let waiting: (() => void)[] = [];

/**
 * Resolves at the next whole 5 ms of the process's clock. MySQL finds another tenant's row some microseconds sooner or later than none:
 * a 404 that waits for this tells nothing of that. (docs/decisions/0043-missing-on-a-beat.md)
 */
export function nextBeat(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setTimeout(beat, untilBeat(performance.now()));
  });
}

/** In milliseconds: more than none, so that nothing is answered at once. */
export function untilBeat(nowMs: number): number {
  return BEAT_MS - (nowMs % BEAT_MS);
}

/** In any order: theirs would tell which was known first to somebody who asks for many at a time. */
function beat(): void {
  const all = waiting;
  waiting = [];
  while (all.length > 0) all.splice(Math.floor(Math.random() * all.length), 1)[0]?.();
}
