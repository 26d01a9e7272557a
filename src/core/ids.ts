import { v7, validate } from 'uuid';

declare const uuidBrand: unique symbol;

/** A UUID in its canonical form: lower case, with dashes. */
export type Uuid = string & { readonly [uuidBrand]: true };

/** A new time-ordered id (UUID v7). */
export function newId(): Uuid {
  return v7() as Uuid;
}

/** The canonical form of a UUID of any version written in any case, or null when the text is none. */
export function parseUuid(text: string): Uuid | null {
  return validate(text) ? (text.toLowerCase() as Uuid) : null;
}

/** A UUID from a place that holds nothing else (our own columns, a checked body). Throws on anything else. */
export function asUuid(text: string): Uuid {
  const id = parseUuid(text);
  if (id === null) throw new TypeError('not a UUID');
  return id;
}
