import { isUtf8 } from 'node:buffer';
import { ApiError, fieldRefusal, type FieldProblem, invalidField } from '../core/errors.js';
import { FORBIDDEN_NAMES } from '../core/metadata.js';
import type { z } from './zod.js';

const MAX_DEPTH = 8;
/** Far more than any valid body has. More values would occupy the thread for milliseconds. */
const MAX_VALUES = 1_000;
const [QUOTE, BACKSLASH, COMMA] = Buffer.from('"\\,');

/** Throws invalid_field: not JSON, too deep, too many values, a forbidden name. */
export function readJson(bytes: Buffer): unknown {
  const value = parse(bytes);
  assertStructure(value);
  return value;
}

function parse(bytes: Buffer): unknown {
  // Decoding would replace invalid UTF-8.
  if (!isUtf8(bytes)) throw new ApiError(invalidField('', 'not_utf8'));
  if (bytes.length > 2 * MAX_VALUES && countSeparators(bytes) >= MAX_VALUES)
    throw new ApiError(invalidField('', 'too_many_values'));
  try {
    return JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, ''));
  } catch {
    throw new ApiError(invalidField('', 'not_json'));
  }
}

/** Returns whether the body is `{}`, which some clients send where no body is expected. */
export function isEmptyObject(bytes: Buffer): boolean {
  return /^\ufeff?[\t\n\r ]*\{[\t\n\r ]*\}[\t\n\r ]*$/.test(bytes.toString('utf8'));
}

/** Counts the commas outside of texts. */
function countSeparators(json: Buffer): number {
  let count = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) isText = !isText;
    else if (byte === BACKSLASH) at += 1;
    else if (byte === COMMA && !isText) count += 1;
  }
  return count;
}

/** Throws 400 `invalid_field` if the value is too deep or has a forbidden name. */
export function assertStructure(value: unknown, level = 1, path = ''): void {
  if (typeof value !== 'object' || value === null) return;
  if (level > MAX_DEPTH) throw new ApiError(invalidField(path, 'nested_too_deep'));
  for (const [name, inner] of Object.entries(value)) {
    const field = path === '' ? name : `${path}.${name}`;
    if (!Array.isArray(value) && FORBIDDEN_NAMES.includes(name))
      throw new ApiError(invalidField(field, 'forbidden_name'));
    assertStructure(inner, level + 1, field);
  }
}

interface QueryText {
  /** Without a prototype, because a parameter may have any name. */
  readonly values: Readonly<Record<string, string>>;
  readonly problems: readonly FieldProblem[];
}

const EMPTY: QueryText = { values: Object.freeze({}), problems: [] };

/** Parses a query. Repeated names, and text that is not percent-encoded UTF-8, are problems. */
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

const PAIR = /^metadata\[(.*)\]$/s;

/** Collects the parameters `metadata[key]` as the fields of `metadata`, if the query has it. */
export function foldMetadata(schema: z.ZodType, values: QueryText['values']): unknown {
  const pairs = Object.entries(values).filter(([name]) => PAIR.test(name));
  const takesMetadata = 'shape' in schema && 'metadata' in Object(schema.shape);
  if (pairs.length === 0 || 'metadata' in values || !takesMetadata) return values;
  const metadata: Record<string, string> = Object.create(null);
  for (const [name, value] of pairs) metadata[PAIR.exec(name)?.[1] ?? ''] = value;
  assertStructure(metadata, 1, 'metadata');
  const others = Object.entries(values).filter(([name]) => !PAIR.test(name));
  return { ...Object.fromEntries(others), metadata };
}

type Issue = z.core.$ZodRawIssue;

const PARSE_CONTEXT: z.core.ParseContext<z.core.$ZodIssue> = { reportInput: true, error: reasonOf };

type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

export function check<S extends z.ZodType>(schema: S, input: unknown): Checked<z.output<S>> {
  const result = schema.safeParse(input, PARSE_CONTEXT);
  if (result.success) return { ok: true, value: result.data };
  const { issues } = result.error;
  const wrongTypes = new Set(issues.filter(({ code }) => code === 'invalid_type').map(pathOf));
  // zod also checks the length of values of a wrong type.
  const rest = issues.filter(
    (issue) => issue.code === 'invalid_type' || !wrongTypes.has(pathOf(issue)),
  );
  return { ok: false, problems: rest.flatMap(problemsOf) };
}

/** Throws the 400 that lists the problems; `message` replaces that of the first problem. */
export function refuseFor(problems: readonly FieldProblem[], message?: string): never {
  const [first, ...rest] = problems;
  if (first === undefined) throw new TypeError('a refusal needs a problem');
  const refusal = fieldRefusal([first, ...rest]);
  throw new ApiError(message === undefined ? refusal : { ...refusal, message });
}

function pathOf({ path }: z.core.$ZodIssue): string {
  return path.map(String).join('.');
}

function problemsOf(issue: z.core.$ZodIssue): FieldProblem[] {
  const field = pathOf(issue);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      code: 'invalid_field',
      field: field === '' ? key : `${field}.${key}`,
      reason: 'unknown',
    }));
  // A null field counts as missing. A null item of a list does not.
  const isListed = typeof issue.path.at(-1) === 'number';
  const value = issue.code === 'invalid_union' ? chosenForm(issue) : issue.input;
  if (
    (value === undefined || value === null) &&
    !isListed &&
    issue.code !== 'custom' &&
    field !== ''
  )
    return [{ code: 'missing_field', field, reason: 'required' }];
  return [{ code: 'invalid_field', field, reason: issue.message }];
}

/** Returns the field that chooses among several forms of an object, which is the issue's input. */
function chosenForm({ input, discriminator = '' }: z.core.$ZodIssueInvalidUnion): unknown {
  return discriminator === '' ? input : Reflect.get(Object(input), discriminator);
}

/** Reasons by the kind of the value that is too big or too small; else `out_of_range`. */
const SIZE_REASONS: Readonly<Record<string, Readonly<Record<'too_big' | 'too_small', string>>>> = {
  string: { too_big: 'too_long', too_small: 'too_short' },
  array: { too_big: 'too_many', too_small: 'too_few' },
};

/** Returns the reason if the field's own schema gives none. */
function reasonOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `not_${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'}_${issue.expected}`;
    case 'invalid_value':
      return `not_one_of: ${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return Array.isArray(issue.options) ? `not_one_of: ${issue.options.join(', ')}` : 'malformed';
    case 'too_big':
    case 'too_small':
      return SIZE_REASONS[issue.origin]?.[issue.code] ?? 'out_of_range';
    case 'unrecognized_keys':
      return 'unknown';
    default:
      return 'malformed';
  }
}
