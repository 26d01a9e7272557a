import type { Asset } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import { instant, type Instant, toRfc3339 } from '../core/instant.js';
import { time } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';

/** What a rail's statement of a day and our payouts differ in. (docs/payouts.md) */

/** A line of the statement: one outcome of one payout on the day. */
export interface StatementLine {
  readonly number: number;
  readonly key: Uuid;
  readonly status: 'completed' | 'failed' | 'returned';
  readonly raw: bigint;
  readonly asset: Asset;
}

export type Difference = {
  readonly difference: 'missing_here' | 'missing_there' | 'amount' | 'state' | 'twice';
  readonly payout_id: Uuid;
  /** Of the statement; null where it has none. */
  readonly line: number | null;
  readonly there: string;
  readonly here: string;
};

const DAY_MS = 86_400_000;
const AT_ONCE = 900;

/** The outcomes of our own on a day (UTC) over a rail. */
async function outcomesOf(reader: Reader, rail: string, from: Instant): Promise<readonly Payout[]> {
  const to = instant(from + DAY_MS);
  const within = (column: string): string => `${column}>=${time.literal(from)} AND ${column}<${time.literal(to)}`;
  const named = `rail=${literal(payouts, 'rail', rail)}`;
  const select = `SELECT ${columnList(payouts)} FROM payouts`;
  const rows = [
    ...(await reader.query(`${select} FORCE INDEX (ended) WHERE ${named} AND ${within('ended_at')}`)),
    ...(await reader.query(`${select} FORCE INDEX (returned) WHERE ${named} AND ${within('returned_at')}`)),
  ];
  const byId = new Map(rows.map((row) => parseRow(payouts, row)).map((payout) => [payout.id, payout]));
  return [...byId.values()].filter(({ submittedAt }) => submittedAt !== null);
}

/** Every difference, in the order of the statement, then what it lacks. Throws DatabaseUnavailable. */
export async function reconcile(
  reader: Reader,
  rail: string,
  day: Instant,
  lines: readonly StatementLine[],
): Promise<readonly Difference[]> {
  const known = new Map<Uuid, Payout>();
  const ids = [...new Set(lines.map(({ key }) => key))];
  for (let at = 0; at < ids.length; at += AT_ONCE)
    for (const payout of await reader.select(payouts, { id: ids.slice(at, at + AT_ONCE), rail }))
      known.set(payout.id, payout);
  const seen = new Set<string>();
  const differences = lines.flatMap((line) => {
    const name = `${line.key} ${line.status}`;
    if (seen.has(name)) return [differenceOf('twice', line, known.get(line.key))];
    seen.add(name);
    return compared(line, known.get(line.key));
  });
  for (const payout of await outcomesOf(reader, rail, day))
    for (const status of happenedOn(payout, day))
      if (!seen.has(`${payout.id} ${status}`))
        differences.push({
          difference: 'missing_there',
          payout_id: payout.id,
          line: null,
          there: 'nothing',
          here: shownHere(payout),
        });
  return differences;
}

function compared(line: StatementLine, payout: Payout | undefined): Difference[] {
  if (payout === undefined) return [differenceOf('missing_here', line, undefined)];
  if (payout.raw !== line.raw || payout.asset !== line.asset) return [differenceOf('amount', line, payout)];
  // What was returned since was completed on its day.
  const agrees = payout.status === line.status || (payout.status === 'returned' && line.status === 'completed');
  return agrees ? [] : [differenceOf('state', line, payout)];
}

/** What of it the statement of the day has to say. */
function happenedOn({ status, endedAt, returnedAt }: Payout, day: Instant): string[] {
  const isOn = (at: Instant | null): boolean => at !== null && at >= day && at < day + DAY_MS;
  const ended = status === 'returned' ? 'completed' : status;
  return [...(isOn(endedAt) ? [ended] : []), ...(isOn(returnedAt) ? ['returned'] : [])];
}

function differenceOf(
  difference: Difference['difference'],
  line: StatementLine,
  payout: Payout | undefined,
): Difference {
  return {
    difference,
    payout_id: line.key,
    line: line.number,
    there: `${line.status} ${line.raw} ${line.asset}`,
    here: payout === undefined ? 'nothing' : shownHere(payout),
  };
}

function shownHere({ status, raw, asset, endedAt }: Payout): string {
  return `${status} ${raw} ${asset}${endedAt === null ? '' : ` at ${toRfc3339(endedAt)}`}`;
}
