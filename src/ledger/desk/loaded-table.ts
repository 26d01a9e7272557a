import type { Need } from './types.js';

type StoredRow = Readonly<Record<string, unknown>>;
type Properties = readonly string[];

/** The rows of one table that equal keys which name the same properties, by these. */
export class AlikeRows {
  private readonly byKey = new Map<string, StoredRow[]>();
  /** Each key once. */
  readonly keys: StoredRow[] = [];

  constructor(readonly properties: Properties) {}

  /** Whether the key names these properties and no others. Runs for every look of every command: no list is made for it. */
  fits(key: object): boolean {
    for (const property of this.properties) if (!(property in key)) return false;
    let count = 0;
    for (const _ in key) count += 1;
    return count === this.properties.length;
  }

  ask(key: StoredRow): void {
    const name = nameOf(this.properties, key);
    if (this.byKey.has(name)) return;
    this.byKey.set(name, []);
    this.keys.push(key);
  }

  add(row: StoredRow): void {
    this.byKey.get(nameOf(this.properties, row))?.push(row);
  }

  /** Undefined for a key that nobody has asked for. */
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

/**
 * The rows read for the group from one table, by the properties that its needs name. Commands of a group may name different
 * ones: each shape of key has rows of its own, and a key is looked up among those of its shape alone.
 */
export class LoadedTable {
  readonly shapes: AlikeRows[] = [];

  ask({ key }: Need): void {
    let alike = this.shapes.find((shape) => shape.fits(key));
    if (alike === undefined) this.shapes.push((alike = new AlikeRows(Object.keys(key))));
    alike.ask(key);
  }

  /** Undefined when nobody asked: that a row was not read must never look like "there is none". */
  get(key: object): readonly StoredRow[] | undefined {
    return this.shapes.find((shape) => shape.fits(key))?.get(key as StoredRow);
  }

  /** Takes a new or changed row, for those of the group who come later and asked for it. `identity` tells rows apart. */
  put(row: StoredRow, identity: Properties): void {
    for (const shape of this.shapes) shape.put(row, identity);
  }
}

function nameOf(properties: Properties, row: StoredRow): string {
  let name = '';
  for (const property of properties) name += `${String(row[property])}|`;
  return name;
}
