import { type AmountRange, ASSETS, disjunction, formatAmount } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import { instant, type Instant, toRfc3339 } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import { equalsSql, type Where } from '../db/statements.js';
import type { Table } from '../db/table.js';
import { OpsError, UsageError } from './failures.js';
import { idBeginsSql } from '../support/reading/search.js';
import { amounts, limit, option, text, wholeNumber } from './inputs.js';
import { named } from './lookups.js';
import { time, untilTime } from './times.js';

/** Options of lists that are ordered by creation, newest first. */

export const cursor = option(
  '<id> only what came before this one, the last of a list: its id or the beginning of it',
  text.refine((given) => idBeginsSql(given) !== null, 'must be an id').optional(),
);

export const fromAccount = option(
  '<account> only those that pay from this account: id, alias or phone',
  named.account.optional(),
);

export const toAccount = option(
  '<account> only those to this account: id, alias or phone',
  named.account.optional(),
);

export const ofAmount = option('<amount> only with this amount', amounts.optional());

export const timeInput = {
  since: option('<time> only what was created from this time on', time.optional()),
  until: untilTime('was created'),
};

/** The last row of a list that is ordered by numbers of up to nine digits. */
export const numberCursor = (what: string) =>
  option(
    `<number> only what came before the ${what}, the last of a list`,
    wholeNumber(1, 999_999_999).optional(),
  );

export const pageInput = {
  ...timeInput,
  amount: ofAmount,
  cursor,
  limit,
};

/** Returns how digits without separators were read; undefined for another form of an amount. */
export function amountHint(ranges: readonly AmountRange[] | undefined): string | undefined {
  const raw = ranges?.[0]?.least ?? 0n;
  const isExact = ranges?.every(({ least, most }) => least === raw && most === raw);
  if (isExact !== true || ranges?.length !== ASSETS.length) return undefined;
  const read = disjunction(ASSETS.map((asset) => formatAmount({ raw, asset })));
  const shown = `${raw.toString().replace(/\B(?=(...)+$)/g, ',')}.00`;
  return `${raw} was read as ${read}; for ${shown} write ${shown}`;
}

interface TimeRange {
  readonly since?: Instant | undefined;
  readonly until?: Instant | undefined;
}

/** Throws UsageError if the range ends before it begins. */
export function assertRange({ since, until }: TimeRange): void {
  if (since !== undefined && until !== undefined && since > until)
    throw new UsageError(
      `--since ${toRfc3339(since)} is after --until ${toRfc3339(until)}: give a range that begins before it ends`,
    );
}

/** Returns the bounds of a list. `to` is inclusive. Throws UsageError. */
export function boundsOf({
  amount: amounts,
  ...range
}: TimeRange & { readonly amount?: readonly AmountRange[] | undefined }) {
  assertRange(range);
  const { since: from, until } = range;
  return { from, to: until && instant(until - 1), amounts };
}

/** Returns the row after which a list continues; null without a cursor. Throws OpsError. */
export async function positionOf<Row extends { readonly id: Uuid }>(
  reader: Reader,
  table: Table<Row>,
  own: Where<Row>,
  after: string | undefined,
): Promise<Row | null> {
  const begins = after === undefined ? null : idBeginsSql(after);
  if (after === undefined || begins === null) return null;
  const conditions = [begins, ...(Object.keys(own).length > 0 ? [equalsSql(table, own)] : [])];
  const [row, ...others] = await reader.list(table, `WHERE ${conditions.join(' AND ')} LIMIT 2`);
  if (row === undefined) throw new OpsError(`the list has no ${after}`);
  if (others.length > 0) throw new OpsError(`${after} is the beginning of several ids of the list`);
  return row;
}
