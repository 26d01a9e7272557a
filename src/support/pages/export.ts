import { csvLines } from '../../spreadsheets/writing/cells.js';
import type { SignedInPerson } from '../desk.js';
import { html, type Html, plainText } from '../html.js';
import { type Fact, type Row, tokenField } from './layout.js';

/** A part of a list: the id and the cells of each row, and the position of the next part. */
export interface ListRows {
  readonly ids: readonly (string | null)[];
  readonly rows: readonly Row[];
  /** Null after the last row. */
  readonly next: string | null;
  /** Message about a wrong filter, for which `rows` is empty. */
  readonly fault?: string;
}

/** Reads rows after a position, which is '' for the first rows. */
export type ReadRows = (after: string, limit: number) => Promise<ListRows>;

const MAX_EXPORTED = 10_000;
const SLICE = 1_000;

/** Returns a list as CSV, at most 10,000 rows, and the number of rows. */
export async function csvOf(
  read: ReadRows,
): Promise<{ readonly csv: string; readonly rows: number }> {
  const all: Row[] = [];
  for (let after: string | null = ''; after !== null && all.length < MAX_EXPORTED;) {
    const { ids, rows, next } = await read(after, SLICE);
    all.push(...rows.map((row, index): Fact[] => [['Id', ids[index]], ...row]));
    after = next;
  }
  const headings = (all[0] ?? []).map((_, index) =>
    [...new Set(all.map((row) => row[index]?.[0]))].join(' / '),
  );
  const cells = all.map((row) => row.map(([, value]) => plainText(value) || null));
  return { csv: csvLines([headings, ...cells]), rows: all.length };
}

/** Shows the button that downloads a list. `path` is that of its page, with its filter. */
export function downloadForm(path: string, { secret }: SignedInPerson): Html {
  return html`<form method="post" action="${path.replace(/(?=\?|$)/, '/csv')}">
    ${tokenField(secret)} <button class="quiet">Download as CSV</button>
  </form>`;
}
