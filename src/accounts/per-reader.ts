import type { Reader } from '../db/database.js';

/** What is remembered of a database, found by its reader. */
export function perReader<T>(make: () => T): (reader: Reader) => T {
  const all = new WeakMap<Reader, T>();
  return (reader) => {
    let own = all.get(reader);
    if (own === undefined) all.set(reader, (own = make()));
    return own;
  };
}
