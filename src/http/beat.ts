const BEAT_MS = 5;

let waiting: (() => void)[] = [];

/** Resolves at the next multiple of 5 ms: a 404's time tells nothing. (docs/decisions/0043-missing-on-a-beat.md) */
export function nextBeat(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setTimeout(beat, untilBeat(performance.now()));
  });
}

/** In milliseconds; never zero, so that nothing is answered at once. */
export function untilBeat(nowMs: number): number {
  return BEAT_MS - (nowMs % BEAT_MS);
}

/** In random order: the order of arrival would show which was known first to somebody who sends many at a time. */
function beat(): void {
  const all = waiting;
  waiting = [];
  while (all.length > 0) all.splice(Math.floor(Math.random() * all.length), 1)[0]?.();
}
