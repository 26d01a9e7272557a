import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** What rails' own statements said. The newest version of a day counts; what an earlier one said is kept. */

/** A statement of one day (UTC) as it was taken. */
export const payoutStatements = defineTable('payout_statements', {
  id: column.uuid,
  /** As payouts name it. */
  rail: column.string,
  day: column.day,
  /** From 1; a corrected statement of the day is the next. */
  version: column.integer,
  lineCount: column.integer,
  /** Of its lines: the same file again is the same version. */
  digest: column.bytes,
  takenAt: column.time,
  /** The operator. */
  takenBy: column.string,
  /** When it was last given: what happened after is not in it. */
  seenAt: column.time,
});
export type PayoutStatement = RowOf<typeof payoutStatements>;

export const LINE_STATUSES = ['completed', 'failed', 'returned'] as const;

/** One outcome of one payout, as a version has it. Never changed. */
export const payoutStatementLines = defineTable(
  'payout_statement_lines',
  {
    statementId: column.uuid,
    /** Of the line in the file, as an editor shows it. */
    number: column.integer,
    rail: column.string,
    /** The payout's id, if it is one of ours. */
    payoutKey: column.uuid,
    status: column.oneOf(LINE_STATUSES),
    raw: column.bigint,
    asset: column.asset,
    /** Null, as `at`, where the rail does not say. */
    reference: column.nullable(column.string),
    at: column.nullable(column.time),
  },
  ['statementId', 'number'],
);
export type PayoutStatementLine = RowOf<typeof payoutStatementLines>;
