import { AMOUNT_FIELDS } from './generated/constants.js';

const FIELDS: ReadonlySet<string> = new Set(AMOUNT_FIELDS);
const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;

/**
 * Parses JSON, with amounts as bigint. An object with amounts has a hidden `toJSON`, so
 * JSON.stringify writes them as text. Throws SyntaxError if the text is not JSON.
 */
export function readJson(text: string): unknown {
  return JSON.parse(text, (key, value: unknown) => {
    // Names and values of metadata are the tenant's own, so none of them is an amount.
    if (key === 'metadata' && typeof value === 'object' && value !== null)
      return withTextAmounts.call(value);
    if (typeof value === 'string' && FIELDS.has(key) && INTEGER.test(value)) return BigInt(value);
    if (typeof value === 'object' && value !== null && Object.values(value).some(isBigInt))
      Object.defineProperty(value, 'toJSON', { value: withTextAmounts });
    return value;
  });
}

export function writeJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (isBigInt(inner) ? inner.toString() : inner));
}

function withTextAmounts(this: object): object {
  return Object.fromEntries(
    Object.entries(this).map(([key, value]) => [key, isBigInt(value) ? value.toString() : value]),
  );
}

function isBigInt(value: unknown): value is bigint {
  return typeof value === 'bigint';
}
