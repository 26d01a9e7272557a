import { isUtf8 } from 'node:buffer';
import { ApiError, type FieldProblem, invalidField } from '../core/errors.js';

/** What JSON text said, and the one text that every spelling of the same content has. */
export interface JsonContent {
  readonly value: unknown;
  /** The value with the keys of every object sorted. */
  readonly canonical: string;
}

const DEEPEST = 8;
/** Names that reach into JavaScript's own objects in careless code; none of our fields has one of them. */
const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor']);
const PLAIN_NAME = /^[A-Za-z0-9_]{1,64}$/;

/** The JSON in the bytes. Throws 400 `invalid_field` for what is no JSON, too deep or holds a forbidden name. */
export function readJson(bytes: Buffer): JsonContent {
  const value = parse(bytes);
  const problems: FieldProblem[] = [];
  const canonical = canonicalText(value, 1, '', problems);
  const [first] = problems;
  if (first !== undefined) throw new ApiError(invalidField(first.field, first.reason));
  return { value, canonical };
}

function parse(bytes: Buffer): unknown {
  // Checked apart: decoding by itself would put U+FFFD in place of what is no UTF-8.
  if (!isUtf8(bytes)) throw new ApiError(invalidField('', 'not_utf8'));
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new ApiError(invalidField('', 'not_json'));
  }
}

/** Recursion ends at the deepest level that is allowed, however deep the value is. */
function canonicalText(value: unknown, level: number, path: string, problems: FieldProblem[]): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (level > DEEPEST) {
    problems.push({ code: 'invalid_field', field: path, reason: 'nested_too_deep' });
    return '';
  }
  if (Array.isArray(value))
    return `[${value.map((item, index) => canonicalText(item, level + 1, join(path, String(index)), problems)).join(',')}]`;
  const parts: string[] = [];
  for (const [name, inner] of Object.entries(value).sort(byName)) {
    const field = join(path, name);
    if (FORBIDDEN_NAMES.has(name)) problems.push({ code: 'invalid_field', field, reason: 'forbidden_name' });
    const quoted = PLAIN_NAME.test(name) ? `"${name}"` : JSON.stringify(name);
    parts.push(`${quoted}:${canonicalText(inner, level + 1, field, problems)}`);
  }
  return `{${parts.join(',')}}`;
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
