/**
 * Returns the result of `work`, or `late` if it takes longer than `ms`. The work itself continues.
 */
export async function inTime<T, L>(ms: number, work: () => Promise<T>, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<L>((resolve) => {
    timer = setTimeout(() => resolve(late), ms);
  });
  try {
    return await Promise.race([work(), over]);
  } finally {
    clearTimeout(timer);
  }
}
