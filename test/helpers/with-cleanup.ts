/** Registers how to close what has been opened, and returns it. */
export type Open = <T>(opening: T | Promise<T>, close: (opened: T) => unknown) => Promise<T>;

/** Runs the work, and then closes what it opened, the last first, whether it succeeded or not. */
export async function withCleanup<R>(work: (open: Open) => Promise<R>): Promise<R> {
  const closing: (() => unknown)[] = [];
  try {
    return await work(async (opening, close) => {
      const opened = await opening;
      closing.push(() => close(opened));
      return opened;
    });
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}
