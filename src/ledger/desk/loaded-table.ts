import { groupBy } from '../../core/collections.js';
import type { Need } from './types.js';

type StoredRow = Readonly<Record<string, unknown>>;

/** The rows read for the group from one table, found by the properties that its needs name. */
export class LoadedTable {
  private readonly properties: readonly string[];
  /** Every key that was asked for, also those without rows. */
  private readonly byKey: Map<string, StoredRow[]>;

  constructor(needs: readonly Need[], rows: readonly StoredRow[]) {
    this.properties = Object.keys(needs[0]?.key ?? {});
    const found = groupBy(rows, (row) => this.keyOf(row));
    this.byKey = new Map(needs.map(({ key }) => [this.keyOf(key), found.get(this.keyOf(key)) ?? []]));
  }

  /** Undefined when nobody asked: that a row was not read must never look like "there is none". */
  get(key: object): readonly StoredRow[] | undefined {
    return this.byKey.get(this.keyOf(key as StoredRow));
  }

  /** Takes a new or changed row, for those of the group who come later and asked for it. */
  put(row: StoredRow): void {
    const known = this.byKey.get(this.keyOf(row));
    if (known === undefined) return;
    // Without an id of its own the row is the only one of its key.
    const at = row.id === undefined ? 0 : known.findIndex((one) => one.id === row.id);
    known[at < 0 ? known.length : at] = row;
  }

  private keyOf(row: StoredRow): string {
    return this.properties.map((property) => String(row[property])).join('|');
  }
}
