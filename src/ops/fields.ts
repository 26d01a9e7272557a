import { type Amount, amountJson, decimalText, formatAmount } from '../core/amount.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import type { Words } from '../core/literal-words.js';
import { escapeInvisible } from '../core/text.js';
import type { Table as DatabaseTable } from '../db/table.js';
import { detailAmount } from '../support/reading/timeline.js';
import { UsageError } from './failures.js';
import { didYouMean } from './similar.js';

/** A value as an operator sees it. */
export type Value =
  Plain | Amount | readonly string[] | Readonly<Record<string, Plain>> | Described;

type Plain = string | number | boolean | null;

/** The fields of a resource by snake_case names: columns of a table, or fields of its JSON. */
export type Fields = Readonly<Record<string, Value>>;

/** Properties whose values are shown unchanged: texts, figures, times. */
type PlainProperty<Row> = {
  [K in keyof Row & string]: Row[K] extends string | number | boolean | bigint | null ? K : never;
}[keyof Row & string];

type PropertyOf<Word extends string> = Word extends `${infer Property}:${string}` ? Property : Word;

/** Objects of JSON that people read as lines of text. */
export class Described {
  private constructor(
    readonly lines: readonly string[],
    readonly json: unknown,
  ) {}

  static one(line: string, fields: Fields): Described {
    return new Described([line], toJson(fields));
  }

  /** Describes a time: "now" if it has passed. JSON has the time. */
  static due(at: Instant | null, now: Instant): Described | null {
    if (at === null) return null;
    return new Described([at <= now ? 'now' : toRfc3339(at)], toRfc3339(at));
  }

  /** Describes nested JSON by a line for each value, with its path. */
  static nested(json: object): Described {
    return new Described(pathLines(json, ''), json);
  }

  static each<Item>(
    items: readonly Item[],
    line: (item: Item) => string,
    fields: (item: Item) => Fields,
  ): Described {
    const json = items.map((item) => toJson(fields(item)));
    return new Described(items.map(line), json);
  }
}

/**
 * Returns the fields of a row for operators: these properties, separated by spaces, by the names of
 * their columns or by another name (`probeAt:next_probe_at`). Amounts and lists have fields of
 * their own.
 */
export function rowFields<Row, Text extends string>(
  table: DatabaseTable<Row>,
  row: Row,
  properties: PropertyOf<Words<Text>> extends PlainProperty<Row> ? Text : never,
): Fields {
  return Object.fromEntries(
    properties.split(' ').map((word): [string, Value] => {
      const [property = '', other] = word.split(':');
      const { name, column } = table.column(property as PlainProperty<Row>);
      const value = row[property as PlainProperty<Row>] as
        string | number | boolean | bigint | null;
      if (column.type === 'datetime') return [other ?? name, toRfc3339(value as Instant | null)];
      return [other ?? name, typeof value === 'bigint' ? value.toString() : value];
    }),
  );
}

/** Returns the fields with those of these names, separated by spaces, first and in this order. */
export function beginningWith(names: string, fields: Fields): Fields {
  const first = names.split(' ').filter((name) => name in fields);
  return { ...Object.fromEntries(first.map((name) => [name, fields[name] ?? null])), ...fields };
}

function pathLines(json: object, path: string): string[] {
  const entries = Object.entries(json as Readonly<Record<string, unknown>>);
  return entries.flatMap(([name, value]) => {
    if (value === null) return [];
    if (typeof value === 'object') return pathLines(value, `${path}${name}.`);
    return [`${path}${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`];
  });
}

export function isEmpty(value: Value): boolean {
  if (value instanceof Described) return value.lines.length === 0;
  return (
    value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

export function isAmount(value: Value): value is Amount {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && 'raw' in value && typeof value.raw === 'bigint';
}

/** Returns the rows with only these columns, or for none those without `others`. Throws UsageError. */
export function choose(
  rows: readonly Fields[],
  columns: readonly string[],
  others: readonly string[] = [],
): readonly Fields[] {
  if (rows.length === 0 || (columns.length === 0 && others.length === 0)) return rows;
  if (columns.length === 0)
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !others.includes(name))),
    );
  const names = [...new Set(rows.flatMap(Object.keys))];
  const unknown = columns.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UsageError(
      `--columns: there is no ${unknown}, only ${names.join(', ')}${didYouMean(unknown, names)}`,
    );
  return rows.map((row) => Object.fromEntries(columns.map((name) => [name, row[name] ?? null])));
}

/** Returns the cells of a line by their columns. An amount has its asset in a column beside it. */
export function csvFields(fields: Fields, isRaw: boolean): Readonly<Record<string, string | null>> {
  const cells = Object.entries(fields).flatMap(([name, value]): [string, string | null][] => {
    if (!isAmount(value)) {
      const isText = Array.isArray(value) || value instanceof Described;
      const isRecord = typeof value === 'object' && value !== null && !isText;
      const text = isRecord ? escapeInvisible(JSON.stringify(value)) : textOf(value);
      return [[name, value === null ? null : text]];
    }
    if (isRaw) return [[name, value.raw.toString()]];
    return [
      [name, decimalText(value)],
      ['asset', value.asset],
    ];
  });
  return Object.fromEntries(cells);
}

export function toJson(fields: Fields): Readonly<Record<string, unknown>> {
  const jsonOf = (value: Value): unknown => {
    if (value instanceof Described) return value.json;
    return isAmount(value) ? amountJson(value) : value;
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, jsonOf(value)]));
}

export function textOf(value: Value): string {
  if (value === null) return '–';
  if (typeof value !== 'object') return escapeInvisible(String(value));
  if (isAmount(value)) return `${formatAmount(value)} (raw ${value.raw})`;
  return joinParts(value, '\n');
}

/** Joins the parts of a value by commas if each is a word, otherwise by `separator`. */
function joinParts(
  value: readonly string[] | Readonly<Record<string, Plain>> | Described,
  separator: string,
): string {
  if (value instanceof Described) return joinParts(value.lines, separator);
  const details = Object.fromEntries(Object.entries(value));
  const parts = Array.isArray(value)
    ? value.map((part: string) => textOf(part))
    : Object.entries(details).map(([name, one]) => {
        const amount = detailAmount(details, name);
        if (amount === null) return `${escapeInvisible(name)}: ${textOf(one)}`;
        return `${name === 'raw' ? 'amount' : name}: ${formatAmount(amount)}`;
      });
  const areWords = parts.every((part) => !part.includes(' '));
  return parts.join(areWords ? ', ' : separator) || '–';
}

/** Returns the text of a value on one line, with times in minutes or seconds. */
export function cellOf(value: Value, hasSeconds = false): string {
  if (typeof value === 'object' && value !== null)
    return isAmount(value) ? formatAmount(value) : joinParts(value, '; ');
  const shown = hasSeconds ? '$1 $2$3Z' : '$1 $2Z';
  return textOf(value).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)\.\d{3}Z$/, shown);
}
