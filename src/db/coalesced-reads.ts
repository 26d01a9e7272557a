import { Together } from '../core/together.js';

/** Bounds the length of one statement. */
const MAX_KEYS = 50;
const READS_AT_A_TIME = 2;

/**
 * Reads the keys of simultaneous requests with one statement. Does not delay a single request or
 * cache results.
 */
export function coalescedReads<Key, Found>(
  read: (keys: readonly Key[]) => Promise<(key: Key) => Found>,
): Together<Key, Found> {
  return new Together({ most: MAX_KEYS, atATime: READS_AT_A_TIME }, async (keys) => {
    const found = await read(keys);
    return keys.map((key) => found(key));
  });
}
