import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Rails' own statements. The newest version of a day applies; earlier versions are kept. */

/** A statement of one day (UTC), as imported. */
export const payoutStatements = defineTable(
  'payout_statements',
  {
    id: column.uuid,
    /** As payouts name it. */
    rail: column.ascii(40),
    day: column.day,
    /** From 1; a corrected statement of the day gets the next number. */
    version: column.integer,
    lineCount: column.integer,
    /** Digest of its lines: the same file again is the same version. */
    digest: column.binary(32),
    takenAt: column.time,
    takenBy: column.varchar(80),
    /** When it was last provided: what happened later is not in it. */
    seenAt: column.time,
  },
  { unique: { version: ['rail', 'day', 'version'] } },
);
export type PayoutStatement = RowOf<typeof payoutStatements>;

export const LINE_STATUSES = ['completed', 'failed', 'returned'] as const;
export type LineStatus = (typeof LINE_STATUSES)[number];

/** Outcomes of payouts, by version of the statement. Rows never change. */
export const payoutStatementLines = defineTable(
  'payout_statement_lines',
  {
    statementId: column.uuid,
    /** The line in the file, as an editor numbers it. */
    number: column.integer,
    rail: column.ascii(40),
    /** The payout's id, if it is one of ours. */
    payoutKey: column.uuid,
    status: column.oneOf(LINE_STATUSES),
    raw: column.bigint,
    asset: column.asset,
    /** Null, like `at`, if the rail does not say. */
    reference: column.nullable(column.ascii(64)),
    at: column.nullable(column.time),
  },
  { key: ['statementId', 'number'], indexes: { payment: ['rail', 'payoutKey'] } },
);
export type PayoutStatementLine = RowOf<typeof payoutStatementLines>;

/** The lines of versions that a corrected statement has replaced. */
export const payoutSupersededLines = defineTable(
  'payout_superseded_lines',
  {
    statementId: column.uuid,
    number: column.integer,
    rail: column.ascii(40),
    payoutKey: column.uuid,
  },
  { key: ['statementId', 'number'], indexes: { payment: ['rail', 'payoutKey'] } },
);
