import type { Need } from './types.js';

type StoredRow = Readonly<Record<string, unknown>>;
type Properties = readonly string[];

/** Rows of one table, by keys that consist of the same properties. */
export class RowsByKey {
  private readonly byKey = new Map<string, StoredRow[]>();
  readonly keys: StoredRow[] = [];

  constructor(readonly properties: Properties) {}

  /** Runs for every lookup of every command, so it allocates no list. */
  fits(key: object): boolean {
    for (const property of this.properties) if (!(property in key)) return false;
    let count = 0;
    for (const _ in key) count += 1;
    return count === this.properties.length;
  }

  request(key: StoredRow): void {
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

/** Rows of one table, read for a group, and found only by keys like those requested. */
export class LoadedTable {
  readonly shapes: RowsByKey[] = [];

  request({ key }: Need): void {
    let rows = this.shapes.find((shape) => shape.fits(key));
    if (rows === undefined) this.shapes.push((rows = new RowsByKey(Object.keys(key))));
    rows.request(key);
  }

  /** Undefined if the key was not requested: an unread row is not a missing one. */
  get(key: object): readonly StoredRow[] | undefined {
    return this.shapes.find((shape) => shape.fits(key))?.get(key as StoredRow);
  }

  /** Stores a new or changed row for later commands, identified by these properties. */
  put(row: StoredRow, identity: Properties): void {
    for (const shape of this.shapes) shape.put(row, identity);
  }
}

function nameOf(properties: Properties, row: StoredRow): string {
  let name = '';
  for (const property of properties) name += `${String(row[property])}|`;
  return name;
}
