import { isUtf8 } from 'node:buffer';
import { ApiError, invalidField, type Refusal } from '../core/errors.js';

export interface JsonContent {
  readonly value: unknown;
  /** The value with the keys of every object sorted. */
  readonly canonical: string;
}

const DEEPEST = 8;
/** Many times what any body of ours has. Within the limit in bytes, tens of thousands would hold the thread for 20 ms. */
const MAX_VALUES = 1_000;
const [QUOTE, BACKSLASH, COMMA] = Buffer.from('"\\,');
const PLAIN_NAME = /^[A-Za-z0-9_]{1,64}$/;

/** The JSON in the bytes. Throws 400 `invalid_field` if it is not JSON, too deep, too much or has a forbidden name. */
export function readJson(bytes: Buffer): JsonContent {
  return jsonContent(parse(bytes));
}

/** The same for content that was not sent as JSON. Throws like readJson. */
export function jsonContent(value: unknown): JsonContent {
  const canonical = canonicalText(value, 1);
  if (canonical === null) throw new ApiError(structureRefusal(value, 1, ''));
  return { value, canonical };
}

function parse(bytes: Buffer): unknown {
  // Checked separately: decoding would replace invalid UTF-8 by U+FFFD.
  if (!isUtf8(bytes)) throw new ApiError(invalidField('', 'not_utf8'));
  if (bytes.length > 2 * MAX_VALUES && separators(bytes) >= MAX_VALUES)
    throw new ApiError(invalidField('', 'too_many_values'));
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new ApiError(invalidField('', 'not_json'));
  }
}

/** The commas outside texts. */
function separators(json: Buffer): number {
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

/** Null if the structure is refused. Recursion stops at the deepest level allowed, however deep the value is. */
function canonicalText(value: unknown, level: number): string | null {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (level > DEEPEST) return null;
  const isArray = Array.isArray(value);
  let text = '';
  for (const name of isArray ? value.keys() : Object.keys(value).sort()) {
    const inner = canonicalText((value as Readonly<Record<string | number, unknown>>)[name], level + 1);
    if (inner === null || isForbidden(name)) return null;
    if (text !== '') text += ',';
    text += isArray ? inner : `${quoted(String(name))}:${inner}`;
  }
  return isArray ? `[${text}]` : `{${text}}`;
}

/** Names that reach into JavaScript's own objects in careless code; none of our fields is called that. */
function isForbidden(name: string | number): boolean {
  return name === '__proto__' || name === 'constructor';
}

function quoted(name: string): string {
  return PLAIN_NAME.test(name) ? `"${name}"` : JSON.stringify(name);
}

function structureRefusal(value: unknown, level: number, path: string): Refusal {
  if (level > DEEPEST) return invalidField(path, 'nested_too_deep');
  for (const [name, inner] of Object.entries(value ?? {})) {
    const field = path === '' ? name : `${path}.${name}`;
    if (!Array.isArray(value) && isForbidden(name)) return invalidField(field, 'forbidden_name');
    if (typeof inner === 'object' && canonicalText(inner, level + 1) === null)
      return structureRefusal(inner, level + 1, field);
  }
  throw new TypeError('the structure is not refused');
}
