import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Rails' own statements. The newest version of a day applies; earlier versions are kept. */

/** A statement of one day (UTC), as imported. */
export const payoutStatements = defineTable('payout_statements', {
  id: column.uuid,
  /** As payouts name it. */
  rail: column.string,
  day: column.day,
  /** From 1; a corrected statement of the day gets the next number. */
  version: column.integer,
  lineCount: column.integer,
  /** Digest of its lines: the same file again is the same version. */
  digest: column.bytes,
  takenAt: column.time,
  takenBy: column.string,
  /** When it was last provided: what happened later is not in it. */
  seenAt: column.time,
});
export type PayoutStatement = RowOf<typeof payoutStatements>;

export const LINE_STATUSES = ['completed', 'failed', 'returned'] as const;
export type LineStatus = (typeof LINE_STATUSES)[number];

/** One outcome of one payout in one version. Never changed. */
export const payoutStatementLines = defineTable(
  'payout_statement_lines',
  {
    statementId: column.uuid,
    /** The line in the file, as an editor numbers it. */
    number: column.integer,
    rail: column.string,
    /** The payout's id, if it is one of ours. */
    payoutKey: column.uuid,
    status: column.oneOf(LINE_STATUSES),
    raw: column.bigint,
    asset: column.asset,
    /** Null, like `at`, if the rail does not say. */
    reference: column.nullable(column.string),
    at: column.nullable(column.time),
  },
  ['statementId', 'number'],
);
export type PayoutStatementLine = RowOf<typeof payoutStatementLines>;

/** The lines of versions that a corrected statement has replaced. */
export const payoutSupersededLines = defineTable(
  'payout_superseded_lines',
  { statementId: column.uuid, number: column.integer, rail: column.string, payoutKey: column.uuid },
  ['statementId', 'number'],
);
