import { Batcher } from '../core/batcher.js';
import type { Reader } from './database.js';

/** Bounds the length of one statement. */
const MAX_KEYS = 50;
const READS_AT_A_TIME = 2;

/** Reads the keys of simultaneous requests with one statement, without delay or cache. */
export function coalescedReads<Key, Found>(
  read: (keys: readonly Key[]) => Promise<(key: Key) => Found>,
): Batcher<Key, Found> {
  return new Batcher({ maxWeight: MAX_KEYS, concurrency: READS_AT_A_TIME }, async (keys) => {
    const found = await read(keys);
    return keys.map((key) => found(key));
  });
}

/** Returns a function that keeps one value per database reader. */
export function perReader<T>(make: () => T): (reader: Reader) => T {
  const all = new WeakMap<Reader, T>();
  return (reader) => {
    let own = all.get(reader);
    if (own === undefined) all.set(reader, (own = make()));
    return own;
  };
}
