import { Together } from '../core/together.js';

/** The most keys of one read: the list of a statement stays short. */
const MAX_KEYS = 50;
const READS_AT_A_TIME = 2;

/** Simultaneous requests share a statement; a single one waits for nobody. What was read is kept by nobody. */
export function coalescedReads<Key, Found>(
  read: (keys: readonly Key[]) => Promise<(key: Key) => Found>,
): Together<Key, Found> {
  return new Together({ most: MAX_KEYS, atATime: READS_AT_A_TIME }, async (keys) => {
    const found = await read(keys);
    return keys.map((key) => found(key));
  });
}
