import { groupBy } from '../../core/collections.js';
import type { Need } from './types.js';

type StoredRow = Readonly<Record<string, unknown>>;
type Properties = readonly string[];

/**
 * The rows read for the group from one table, by the properties that its needs name. Commands of a group may name different
 * ones: each shape of key has rows of its own, and a key is looked up among those of its shape alone.
 */
export class LoadedTable {
  private readonly byShape = new Map<string, { readonly properties: Properties; readonly byKey: RowsByKey }>();

  /** Takes what was read for needs of one shape, also for those without rows. */
  add(needs: readonly Need[], rows: readonly StoredRow[]): void {
    const [first] = needs;
    if (first === undefined) return;
    const properties = propertiesOf(first.key);
    const found = groupBy(rows, (row) => nameOf(properties, row));
    const byKey = needs.map(({ key }) => nameOf(properties, key)).map((name) => [name, found.get(name) ?? []] as const);
    this.byShape.set(shapeOf(first.key), { properties, byKey: new Map(byKey) });
  }

  /** Undefined when nobody asked: that a row was not read must never look like "there is none". */
  get(key: object): readonly StoredRow[] | undefined {
    const shape = this.byShape.get(shapeOf(key));
    return shape?.byKey.get(nameOf(shape.properties, key as StoredRow));
  }

  /** Takes a new or changed row, for those of the group who come later and asked for it. `identity` tells rows apart. */
  put(row: StoredRow, identity: Properties): void {
    const name = nameOf(identity, row);
    for (const { properties, byKey } of this.byShape.values()) {
      const known = byKey.get(nameOf(properties, row));
      if (known === undefined) continue;
      const at = known.findIndex((one) => nameOf(identity, one) === name);
      known[at < 0 ? known.length : at] = row;
    }
  }
}

type RowsByKey = ReadonlyMap<string, StoredRow[]>;

/** Which properties the key names, in whatever order. */
export function shapeOf(key: object): string {
  return propertiesOf(key).join('|');
}

/** What its properties hold: alike for equal keys of one shape. */
export function keyText(key: object): string {
  return nameOf(propertiesOf(key), key as StoredRow);
}

function propertiesOf(key: object): Properties {
  return Object.keys(key).sort();
}

function nameOf(properties: Properties, row: StoredRow): string {
  return properties.map((property) => String(row[property])).join('|');
}
