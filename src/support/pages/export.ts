import { formatSums } from '../../core/amount.js';
import { type Column, csvOf } from '../../spreadsheets/writing/cells.js';
import type { SignedInPerson } from '../desk.js';
import { html, type Html, type Values, valuesOf } from '../html.js';
import { type Row, tokenField } from './layout.js';

export type RowAmount = Parameters<typeof formatSums>[0][number];

/** A part of a list: the id and the cells of each row, and the position of the next part. */
export interface ListRows {
  readonly ids: readonly (string | null)[];
  readonly rows: readonly Row[];
  /** The amounts of the rows, if they have any. */
  readonly amounts?: readonly RowAmount[];
  /** Null after the last row. */
  readonly next: string | null;
  /** Message about a wrong filter, for which `rows` is empty. */
  readonly fault?: string;
}

export const NO_ROWS: ListRows = { ids: [], rows: [], next: null };

/** Reads rows after a position, which is '' for the first rows. */
export type ReadRows = (after: string, limit: number) => Promise<ListRows>;

const MAX_EXPORTED = 10_000;
const SLICE = 1_000;
/** A filter without an index may read 10,000 rows for each slice, and find none. */
const MAX_SLICES = 25;

/** Reads a list up to its 10,000th row. A filter, or `isLate`, may end it earlier, after some slices. */
async function readAll(read: ReadRows, first: ListRows | null = null, isLate = () => false) {
  const all: Row[] = [];
  const amounts: RowAmount[] = [];
  let part = first ?? (await read('', SLICE));
  for (let slices = first === null ? 1 : 0; ; slices += 1) {
    const { ids, rows } = part;
    all.push(...rows.map((row, index): Row => [['Id', ids[index]], ...row]));
    amounts.push(...(part.amounts ?? []));
    const left = MAX_EXPORTED - all.length;
    if (part.next === null || left === 0 || slices === MAX_SLICES || isLate()) break;
    part = await read(part.next, Math.min(SLICE, left));
  }
  return { all, amounts, isWhole: part.next === null };
}

/** A page waits no longer for further slices, of which one may take as long again. */
const SUMMARY_MS = 2_000;

/** Returns how many rows a list has, of which the first are known, and their sum in each asset. */
export async function summaryOf(
  first: ListRows,
  read: ReadRows,
  now: () => number = () => performance.now(),
): Promise<string> {
  const until = now() + SUMMARY_MS;
  const { all, amounts, isWhole } = await readAll(read, first, () => now() > until);
  const total = formatSums(amounts);
  const least = isWhole ? '' : all.length < MAX_EXPORTED ? 'At least ' : 'More than ';
  return `${least}${all.length} found${total && `, in total ${total}`}${isWhole ? '' : ' so far'}.`;
}

const OPERATION = 'Amount, Asset, From, To, Description';
const REQUEST = 'Tenant, Requested, Requested by';
const TRANSFER = `${OPERATION}, Status, Details, Expires, ${REQUEST}`;
const PAYOUT = `${OPERATION}, Status, Details, Expires, At the rail since, Stuck since, ${REQUEST}`;
const BATCH = 'Batch, Rows, Total, Asset, From, Status, Details, Tenant, Requested by, Uploaded';
const COLUMNS: Readonly<Record<string, string>> = {
  ...{ transfers: TRANSFER, refunds: TRANSFER, batches: BATCH, rejected: BATCH },
  ...{ payouts: PAYOUT, proposals: PAYOUT, stuck: PAYOUT, unanswered: PAYOUT },
  schedules: `${OPERATION}, Status, Next run, Tenant`,
  bonuses: `${OPERATION}, Reference, Tenant, Paid, Paid by`,
  rows: 'Row, Recipient, Amount, Asset, Fee, Description, Reference, Status, Payout, Details, Reason, Message, Settled',
  problems: 'Row, Column, Code, Problem, Value',
  adjustments:
    'Amount, Asset, Direction, Account, Reason, Reference, Status, Details, Tenant, Proposed by, Proposed',
  movements:
    'Movement, Related id, Direction, Amount, Asset, Balance after, With, Description, Time',
  endpoints: 'Address, Status, Details, Disabled, Tenant, Failing since, Last success',
  deliveries: 'Event, Event id, Cause, State, Details, Next attempt, Attempts',
  accounts: 'Account, Alias, Type, Status, Tenant',
  tenants: 'Tenant, Network, Time zone, Moved today, Asset, Pending, Failed today',
  decided:
    'Item, Item id, Amount, Asset, From, To, From → to, Description, Action, By, Time, Tenant, Reason, Details',
};

/** Returns the columns after `Id`, the same for any content of the list. (docs/support.md) */
export function columnsOf(list: string, isOfResource: boolean): readonly string[] {
  // Refunds may be of another tenant than their resource.
  const isOfOneTenant = isOfResource && list !== 'refunds';
  const names = COLUMNS[list]?.split(', ') ?? [];
  return names.filter((name) => name !== 'Tenant' || !isOfOneTenant);
}

/** Returns a list as CSV with the number of lines, as far as `readAll` reads it. */
export async function listCsv(
  read: ReadRows,
  header: readonly string[],
): Promise<{ readonly csv: string; readonly lines: number }> {
  const { all } = await readAll(read);
  const kinds = new Map(all.flat().map(([label, , kind]) => [label, kind]));
  const lines = all.flatMap(linesOf);
  const names = ['Id', ...header];
  const columns = names.map((name): Column => ({
    name,
    kind: kinds.get(name) ?? 'text',
    width: 0,
  }));
  const cells = lines.map((line) => names.map((name) => line[name] ?? null));
  return { csv: csvOf(columns, cells), lines: lines.length };
}

/** Returns a line for each value of the cell that has most values. */
function linesOf(row: Row): readonly Values[] {
  const cells = row.map(([label, value]) =>
    valuesOf(value).map(({ '': own, ...others }) =>
      own === undefined ? others : { [label]: own, ...others },
    ),
  );
  const count = Math.max(...cells.map(({ length }) => length));
  return Array.from({ length: count }, (_, index) =>
    cells.reduce<Values>((line, values) => ({ ...line, ...(values[index] ?? values[0]) }), {}),
  );
}

/** Shows the button that downloads a list. `path` is that of its page, with its filter. */
export function downloadForm(path: string, { secret }: SignedInPerson): Html {
  return html`<form method="post" action="${path.replace(/(?=\?|$)/, '/csv')}">
    ${tokenField(secret)} <button class="quiet">Download as CSV</button>
  </form>`;
}
