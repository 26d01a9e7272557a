import { isUtf8 } from 'node:buffer';
import { ApiError, invalidField } from '../core/errors.js';

const DEEPEST = 8;
/** Many times the values of any valid body. More would occupy the thread for milliseconds. */
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
  if (bytes.length > 2 * MAX_VALUES && separators(bytes) >= MAX_VALUES)
    throw new ApiError(invalidField('', 'too_many_values'));
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new ApiError(invalidField('', 'not_json'));
  }
}

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

/** Names that reach into JavaScript's own objects in careless code. */
const FORBIDDEN: readonly string[] = ['__proto__', 'constructor'];

/** Throws 400 `invalid_field` if the value is too deep or has a forbidden name. */
export function assertStructure(value: unknown, level = 1, path = ''): void {
  if (typeof value !== 'object' || value === null) return;
  if (level > DEEPEST) throw new ApiError(invalidField(path, 'nested_too_deep'));
  for (const [name, inner] of Object.entries(value)) {
    const field = path === '' ? name : `${path}.${name}`;
    if (!Array.isArray(value) && FORBIDDEN.includes(name))
      throw new ApiError(invalidField(field, 'forbidden_name'));
    assertStructure(inner, level + 1, field);
  }
}
