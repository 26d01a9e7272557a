import type { FieldProblem } from '../core/errors.js';

interface QueryText {
  /** Without a prototype, because a parameter may have any name. */
  readonly values: Readonly<Record<string, string>>;
  readonly problems: readonly FieldProblem[];
}

const EMPTY: QueryText = { values: Object.freeze({}), problems: [] };

/** Repeated names, and text that is not percent-encoded UTF-8, are problems. */
export function readQuery(search: string): QueryText {
  if (search === '') return EMPTY;
  const values: Record<string, string> = Object.create(null);
  const problems: FieldProblem[] = [];
  for (const pair of search.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    const name = decode(rawName);
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    if (name === null || value === null)
      problems.push({
        code: 'invalid_field',
        field: name ?? rawName,
        reason: 'malformed_encoding',
      });
    else if (name in values)
      problems.push({ code: 'invalid_field', field: name, reason: 'repeated' });
    else values[name] = value;
  }
  return { values, problems };
}

/** Decodes as forms do; a leading `+` stays, for `?phone=+57…`. Null if malformed. */
function decode(text: string): string | null {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replace(/(?!^)\+/g, ' '));
  } catch {
    return null;
  }
}
