import type { RowKey } from './types.js';

type StoredRow = Readonly<Record<string, unknown>>;
type Properties = readonly string[];

/** Rows of one table, by the values of these properties. */
export class RowsByKey {
  private readonly byKey = new Map<string, StoredRow[]>();
  readonly keys: StoredRow[] = [];

  constructor(readonly properties: Properties) {}

  /** Compares without a list, because every lookup of every command runs it. */
  hasProperties(key: object): boolean {
    for (const property of this.properties) if (!(property in key)) return false;
    let count = 0;
    for (const _ in key) count += 1;
    return count === this.properties.length;
  }

  addKey(key: StoredRow): void {
    const name = nameOf(this.properties, key);
    if (this.byKey.has(name)) return;
    this.byKey.set(name, []);
    this.keys.push(key);
  }

  add(row: StoredRow): void {
    this.byKey.get(nameOf(this.properties, row))?.push(row);
  }

  /** Returns undefined for a key that was not requested. */
  get(key: StoredRow): readonly StoredRow[] | undefined {
    return this.byKey.get(nameOf(this.properties, key));
  }

  put(row: StoredRow, identity: Properties): void {
    const known = this.byKey.get(nameOf(this.properties, row));
    if (known === undefined) return;
    const name = nameOf(identity, row);
    const at = known.findIndex((one) => nameOf(identity, one) === name);
    known[at < 0 ? known.length : at] = row;
  }
}

/** Rows of one table that were read for a group, by the requested keys. */
export class LoadedTable {
  readonly rowsByKey: RowsByKey[] = [];

  addKey({ key }: RowKey): void {
    let rows = this.rowsByKey.find((known) => known.hasProperties(key));
    if (rows === undefined) this.rowsByKey.push((rows = new RowsByKey(Object.keys(key))));
    rows.addKey(key);
  }

  /** Returns undefined for a key that was not requested, because its rows were not read. */
  get(key: object): readonly StoredRow[] | undefined {
    return this.rowsByKey.find((rows) => rows.hasProperties(key))?.get(key as StoredRow);
  }

  /** Stores a new or changed row for later commands, identified by these properties. */
  put(row: StoredRow, identity: Properties): void {
    for (const rows of this.rowsByKey) rows.put(row, identity);
  }
}

function nameOf(properties: Properties, row: StoredRow): string {
  let name = '';
  for (const property of properties) name += `${String(row[property])}|`;
  return name;
}
