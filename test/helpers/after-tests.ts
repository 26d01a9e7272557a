const started = new Set<() => Promise<void>>();

/** Returns `stop`, which acts once, and which is called after the last test of the file at the latest. */
export function stoppedAfterTests(stop: () => Promise<void>): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const once = (): Promise<void> => {
    started.delete(once);
    return (stopping ??= stop());
  };
  started.add(once);
  return once;
}

/** Stops what is left of what the tests of a file started, the latest first. */
export async function stopStarted(): Promise<void> {
  for (const stop of [...started].reverse()) await stop();
}
