import type { Reader } from '../db/database.js';

/** Returns a function that keeps one value per database reader. */
export function perReader<T>(make: () => T): (reader: Reader) => T {
  const all = new WeakMap<Reader, T>();
  return (reader) => {
    let own = all.get(reader);
    if (own === undefined) all.set(reader, (own = make()));
    return own;
  };
}
