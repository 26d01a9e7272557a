import { type ErrorCode, type ErrorEntry, ERRORS } from '../../../src/core/error-table.js';

/** Lists the fields of an error's `details` with their types, read from its example; empty for a code without details. */
export function detailsOf(code: ErrorCode): string {
  const { details = {} }: ErrorEntry['example'] = ERRORS[code].example;
  return Object.entries(details)
    .map(([name, value]) => `\`${name}\` (${typeOf(value)})`)
    .join(', ');
}

const STRINGS: readonly (readonly [pattern: RegExp, type: string])[] = [
  [/^\d+$/, 'string, int64'],
  [/^\d{4}-\d\d-\d\dT/, 'string, date-time'],
  [/^[\da-f]{8}-[\da-f-]{27}$/, 'string, uuid'],
];

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return `list of ${typeOf(value[0])}`;
  if (typeof value === 'object' && value !== null)
    return `object of ${Object.keys(value)
      .map((name) => `\`${name}\``)
      .join(', ')}`;
  return STRINGS.find(([pattern]) => pattern.test(String(value)))?.[1] ?? 'string';
}
