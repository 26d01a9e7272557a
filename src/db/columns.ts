import { escape } from 'mysql2';
import { type Instant, instant } from '../core/instant.js';
import { type Asset, ASSETS } from '../core/amount.js';
import { isCanonicalUuid, type Uuid } from '../core/ids.js';
import type { Metadata } from '../core/metadata.js';

/**
 * A column's storage, and how its values are written as SQL literals and read from results. Bound
 * text is not used, because MySQL would compute with it as doubles, which corrupts large amounts.
 */
export interface Column<T> extends ColumnStorage {
  readonly literal: (value: T) => string;
  readonly parse: (stored: unknown) => T;
}

export interface ColumnStorage {
  readonly type: ColumnType;
  /** Maximum length: of text in characters, of binary values in bytes. Null if the type has none. */
  readonly length: number | null;
  readonly isAscii: boolean;
  readonly isNullable: boolean;
  /** The values of an ENUM, or of text with a fixed set of values. */
  readonly values: readonly string[] | null;
}

type ColumnType =
  | 'bigint'
  | 'binary'
  | 'char'
  | 'date'
  | 'datetime'
  | 'enum'
  | 'int'
  | 'mediumblob'
  | 'mediumtext'
  | 'text'
  | 'tinyint'
  | 'varbinary'
  | 'varchar';

function storedAs(type: ColumnType, options: Partial<ColumnStorage> = {}): ColumnStorage {
  return { type, length: null, isAscii: false, isNullable: false, values: null, ...options };
}

const asText = (stored: unknown): string => {
  if (typeof stored !== 'string')
    throw new TypeError(`expected text from the database, got ${typeof stored}`);
  return stored;
};

export const uuid: Column<Uuid> = {
  ...storedAs('binary', { length: 16 }),
  // Slices are faster than a search for dashes. The check keeps any other text out of SQL.
  literal: (id) => {
    if (!isCanonicalUuid(id)) throw new TypeError('not a UUID');
    return `X'${id.slice(0, 8)}${id.slice(9, 13)}${id.slice(14, 18)}${id.slice(19, 23)}${id.slice(24)}'`;
  },
  parse: (stored) => {
    if (!Buffer.isBuffer(stored) || stored.length !== 16)
      throw new TypeError('expected 16 bytes from the database');
    const hex = stored.toString('hex');
    // Any 16 bytes are a UUID. A further check would cost time for every id of every row.
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as Uuid;
  },
};

/** An amount of money or a sequence number. */
export const bigint: Column<bigint> = {
  ...storedAs('bigint'),
  literal: (value) => value.toString(),
  parse: (stored) => BigInt(typeof stored === 'number' ? stored : asText(stored)),
};

/** A count or a setting that stays far below 2^53. */
export const integer: Column<number> = {
  ...storedAs('int'),
  literal: (value) => {
    if (!Number.isSafeInteger(value)) throw new RangeError('not a safe integer');
    return String(value);
  },
  parse: (stored) => {
    const value = typeof stored === 'string' ? Number.parseInt(stored, 10) : stored;
    if (typeof value !== 'number' || !Number.isSafeInteger(value))
      throw new TypeError('expected an integer');
    return value;
  },
};

let lastTime = { value: Number.NaN, literal: '' };

/** DATETIME(3), always UTC. Caches the last literal, because a group's rows share an instant. */
export const time: Column<Instant> = {
  ...storedAs('datetime'),
  literal: (value) => {
    if (value !== lastTime.value)
      lastTime = {
        value,
        literal: `'${new Date(value).toISOString().slice(0, 23).replace('T', ' ')}'`,
      };
    return lastTime.literal;
  },
  parse: (stored) => instant(Date.parse(`${asText(stored).replace(' ', 'T')}Z`)),
};

/** DATE: the UTC day that begins at this instant. */
export const day: Column<Instant> = {
  ...storedAs('date'),
  literal: (value) => `'${new Date(value).toISOString().slice(0, 10)}'`,
  parse: (stored) => instant(Date.parse(`${asText(stored)}T00:00:00Z`)),
};

/** Text without these is its own literal. The driver would also escape each quotation mark of JSON. */
const NEEDS_ESCAPE = /[\\'\0]/;

export const string: Column<string> = {
  ...storedAs('text'),
  literal: (value) => (NEEDS_ESCAPE.test(value) ? escape(value) : `'${value}'`),
  parse: asText,
};

/** Pairs of texts, stored as JSON. Null without pairs. */
export const metadata: Column<Metadata | null> = nullable({
  ...string,
  literal: (pairs: Metadata) => escape(JSON.stringify(pairs)),
  parse: (stored) => JSON.parse(asText(stored)) as Metadata,
});

export const mediumtext: Column<string> = { ...string, type: 'mediumtext' };

export function varchar(length: number): Column<string> {
  return { ...string, ...storedAs('varchar', { length }) };
}

/** VARCHAR of ASCII characters. */
export function ascii(length: number): Column<string> {
  return { ...string, ...storedAs('varchar', { length, isAscii: true }) };
}

/** CHAR of ASCII characters. */
export function asciiChar(length: number): Column<string> {
  return { ...string, ...storedAs('char', { length, isAscii: true }) };
}

export const bytes: Column<Buffer> = {
  ...storedAs('mediumblob'),
  literal: (value) => `X'${value.toString('hex')}'`,
  parse: (stored) => {
    if (!Buffer.isBuffer(stored)) throw new TypeError('expected bytes from the database');
    return stored;
  },
};

export function binary(length: number): Column<Buffer> {
  return { ...bytes, ...storedAs('binary', { length }) };
}

export function varbinary(length: number): Column<Buffer> {
  return { ...bytes, ...storedAs('varbinary', { length }) };
}

export const boolean: Column<boolean> = {
  ...storedAs('tinyint'),
  literal: (value) => (value ? '1' : '0'),
  parse: (stored) => stored === 1,
};

export function oneOf<const W extends readonly string[]>(values: W): Column<W[number]> {
  const literals = new Map<string, string>(values.map((value) => [value, escape(value)]));
  return {
    ...storedAs('enum', { values }),
    literal: (value) => literals.get(value) ?? escape(value),
    parse: (stored) => {
      const value = asText(stored);
      if (!values.includes(value)) throw new TypeError(`unexpected value ${value}`);
      return value;
    },
  };
}

/** ENUM read as text, because a later release may have stored a value that this one lacks. */
export function openEnum(values: readonly string[]): Column<string> {
  return { ...string, ...storedAs('enum', { values }) };
}

/** VARCHAR that the application limits to `values`, so that a new value does not change the schema. */
export function asciiEnum<const W extends readonly string[]>(
  values: W,
  length: number,
): Column<W[number]> {
  return { ...oneOf(values), ...storedAs('varchar', { length, isAscii: true, values }) };
}

export const asset: Column<Asset> = oneOf(ASSETS);

/** Some of `values`, stored as comma-separated text. */
export function listOf<const W extends readonly string[]>(values: W): Column<readonly W[number][]> {
  const item = oneOf(values);
  return {
    ...storedAs('varchar', { length: 100, isAscii: true }),
    literal: (items) => escape(items.join(',')),
    parse: (stored) => (stored === '' ? [] : asText(stored).split(',').map(item.parse)),
  };
}

/** Texts, stored as JSON. */
export const texts: Column<readonly string[]> = {
  ...storedAs('text'),
  literal: (values) => escape(JSON.stringify(values)),
  parse: (stored) => {
    const values: unknown = JSON.parse(asText(stored));
    if (!Array.isArray(values)) throw new TypeError('expected a list of texts from the database');
    return values.map(asText);
  },
};

/** Integers, stored as comma-separated text. */
export function integers(length: number): Column<readonly number[]> {
  return {
    ...storedAs('varchar', { length, isAscii: true }),
    literal: (values) => escape(values.map(integer.literal).join(',')),
    parse: (stored) => (stored === '' ? [] : asText(stored).split(',').map(integer.parse)),
  };
}

export function nullable<T>(column: Column<T>): Column<T | null> {
  return {
    ...column,
    isNullable: true,
    literal: (value) => (value === null ? 'NULL' : column.literal(value)),
    parse: (stored) => (stored === null ? null : column.parse(stored)),
  };
}
