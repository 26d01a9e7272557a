import { escape } from 'mysql2';
import { type Instant, instant } from '../core/instant.js';
import { type Asset, ASSETS } from '../core/amount.js';
import { isCanonicalUuid, type Uuid } from '../core/ids.js';

/**
 * How a column's value is written into a statement and read from a result.
 *
 * Every statement about money is made of these literals, never of bound text: MySQL computes `balance - '1'` as a
 * double, which corrupts amounts above 2^53. An amount is a bigint here and an integer literal in SQL, so the mistake
 * cannot be written.
 */
export interface Column<T> extends Stored {
  readonly literal: (value: T) => string;
  readonly parse: (stored: unknown) => T;
}

/** What the schema may store it in: a test checks every column of every table. */
export interface Stored {
  /** MySQL types, the usual one first. */
  readonly types: readonly [ColumnType, ...ColumnType[]];
  readonly isNullable: boolean;
  /** The values of an ENUM, or of text with a fixed set of values. */
  readonly words: readonly string[] | null;
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
  | 'smallint'
  | 'text'
  | 'tinyint'
  | 'varbinary'
  | 'varchar';

function storedAs(...types: Stored['types']): Stored {
  return { types, isNullable: false, words: null };
}

const text = (stored: unknown): string => {
  if (typeof stored !== 'string') throw new TypeError(`expected text from the database, got ${typeof stored}`);
  return stored;
};

/** BINARY(16). */
export const uuid: Column<Uuid> = {
  ...storedAs('binary'),
  // Slices rather than a search for dashes: a posting writes some thirty of these. Checked despite its type: anything
  // else that passed for an id would become SQL here.
  literal: (id) => {
    if (!isCanonicalUuid(id)) throw new TypeError('not a UUID');
    return `X'${id.slice(0, 8)}${id.slice(9, 13)}${id.slice(14, 18)}${id.slice(19, 23)}${id.slice(24)}'`;
  },
  parse: (stored) => {
    if (!Buffer.isBuffer(stored) || stored.length !== 16) throw new TypeError('expected 16 bytes from the database');
    const hex = stored.toString('hex');
    // Any 16 bytes are a UUID, so there is nothing to check, and this runs for every id of every row.
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as Uuid;
  },
};

/** BIGINT for money or a sequence: a bigint in code. */
export const bigint: Column<bigint> = {
  ...storedAs('bigint'),
  literal: (value) => value.toString(),
  parse: (stored) => BigInt(typeof stored === 'number' ? stored : text(stored)),
};

/** A count or a setting that stays far below 2^53. */
export const integer: Column<number> = {
  ...storedAs('int', 'smallint', 'tinyint', 'bigint'),
  literal: (value) => {
    if (!Number.isSafeInteger(value)) throw new RangeError('not a safe integer');
    return String(value);
  },
  parse: (stored) => {
    const value = typeof stored === 'string' ? Number.parseInt(stored, 10) : stored;
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new TypeError('expected an integer');
    return value;
  },
};

let lastTime = { value: Number.NaN, literal: '' };

/** DATETIME(3), always UTC. The rows of a group mostly share an instant, so the last literal is cached. */
export const time: Column<Instant> = {
  ...storedAs('datetime'),
  literal: (value) => {
    if (value !== lastTime.value)
      lastTime = { value, literal: `'${new Date(value).toISOString().slice(0, 23).replace('T', ' ')}'` };
    return lastTime.literal;
  },
  parse: (stored) => instant(Date.parse(`${text(stored).replace(' ', 'T')}Z`)),
};

/** DATE: the UTC day that begins at this instant. */
export const day: Column<Instant> = {
  ...storedAs('date'),
  literal: (value) => `'${new Date(value).toISOString().slice(0, 10)}'`,
  parse: (stored) => instant(Date.parse(`${text(stored)}T00:00:00Z`)),
};

/** Any character column. */
export const string: Column<string> = {
  ...storedAs('varchar', 'char', 'text', 'mediumtext'),
  literal: (value) => escape(value),
  parse: text,
};

/** BINARY or VARBINARY. */
export const bytes: Column<Buffer> = {
  ...storedAs('varbinary', 'binary', 'mediumblob'),
  literal: (value) => `X'${value.toString('hex')}'`,
  parse: (stored) => {
    if (!Buffer.isBuffer(stored)) throw new TypeError('expected bytes from the database');
    return stored;
  },
};

/** TINYINT(1). */
export const boolean: Column<boolean> = {
  ...storedAs('tinyint'),
  literal: (value) => (value ? '1' : '0'),
  parse: (stored) => stored === 1,
};

/** A value that this process does not know: a newer one wrote it. */
export class UnknownEnumValue extends TypeError {
  override name = 'UnknownEnumValue';
}

export function oneOf<const W extends readonly string[]>(words: W): Column<W[number]> {
  const literals = new Map<string, string>(words.map((word) => [word, escape(word)]));
  return {
    ...storedAs('enum', 'varchar', 'char'),
    words,
    literal: (value) => literals.get(value) ?? escape(value),
    parse: (stored) => {
      const word = text(stored);
      if (!words.includes(word)) throw new UnknownEnumValue(`unexpected value ${word}`);
      return word;
    },
  };
}

/** ENUM of the assets. */
export const asset: Column<Asset> = oneOf(ASSETS);

/** A set of words, stored as comma-separated text. */
export function listOf<const W extends readonly string[]>(words: W): Column<readonly W[number][]> {
  const one = oneOf(words);
  return {
    ...storedAs('varchar'),
    literal: (value) => escape(value.join(',')),
    parse: (stored) => (stored === '' ? [] : text(stored).split(',').map(one.parse)),
  };
}

export const integers: Column<readonly number[]> = {
  ...storedAs('varchar'),
  literal: (values) => escape(values.map(integer.literal).join(',')),
  parse: (stored) => (stored === '' ? [] : text(stored).split(',').map(integer.parse)),
};

export function nullable<T>(column: Column<T>): Column<T | null> {
  return {
    types: column.types,
    words: column.words,
    isNullable: true,
    literal: (value) => (value === null ? 'NULL' : column.literal(value)),
    parse: (stored) => (stored === null ? null : column.parse(stored)),
  };
}
