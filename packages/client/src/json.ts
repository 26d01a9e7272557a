import { AMOUNT_FIELDS } from './generated/constants.js';

/** JSON with amounts as bigint here and decimal text on the wire. */

/** `requested` occurs only in the details of errors. */
const FIELDS: ReadonlySet<string> = new Set([...AMOUNT_FIELDS, 'requested']);
const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;

/** Throws SyntaxError if it is not JSON. */
export function readJson(text: string): unknown {
  return JSON.parse(text, (key, value: unknown) =>
    typeof value === 'string' && FIELDS.has(key) && INTEGER.test(value) ? BigInt(value) : value,
  );
}

export function writeJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'bigint' ? inner.toString() : inner,
  );
}
