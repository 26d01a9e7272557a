import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** A statement of one day (UTC). The newest version applies; earlier ones are kept. */
export const payoutStatements = defineTable(
  'payout_statements',
  {
    id: column.uuid,
    rail: column.ascii(40),
    day: column.day,
    version: column.integer,
    lineCount: column.integer,
    digest: column.binary(32),
    storedAt: column.time,
    storedBy: column.varchar(80),
    /** When exactly these lines were last loaded (`storedAt`: first), so no later payment is in it. */
    lastLoadedAt: column.time,
  },
  { unique: { version: ['rail', 'day', 'version'] } },
);
export type PayoutStatement = RowOf<typeof payoutStatements>;

export const LINE_STATUSES = ['completed', 'failed', 'returned'] as const;

export const payoutStatementLines = defineTable(
  'payout_statement_lines',
  {
    statementId: column.uuid,
    number: column.integer,
    rail: column.ascii(40),
    payoutKey: column.uuid,
    status: column.oneOf(LINE_STATUSES),
    raw: column.bigint,
    asset: column.asset,
    /** Null, like `at`, if the rail does not report it. */
    reference: column.nullable(column.ascii(64)),
    at: column.nullable(column.time),
  },
  { key: ['statementId', 'number'], indexes: { payment: ['rail', 'payoutKey'] } },
);
export type PayoutStatementLine = RowOf<typeof payoutStatementLines>;

/** Lines that a corrected statement has replaced. */
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

/** `half_open`: one payout is being polled or submitted, to see whether the rail responds. */
const BREAKER_STATES = ['closed', 'open', 'half_open'] as const;

/** Circuit breakers of rails, shared by all workers. A rail without a row has always responded. */
export const railBreakers = defineTable(
  'rail_breakers',
  {
    rail: column.ascii(40),
    state: column.oneOf(BREAKER_STATES),
    since: column.time,
    /** Consecutive calls without a response, each about a different payout than the call before. */
    failures: column.integer,
    lastPayoutId: column.nullable(column.uuid),
    /** For operators, without personal data. */
    lastFailure: column.nullable(column.varchar(200)),
    lastFailureAt: column.nullable(column.time),
    probes: column.integer,
    /** When the next probe is due, or the deadline of the current one. Null while closed. */
    probeAt: column.nullable(column.time),
    /** When waiting payouts are notified after the breaker has closed. Null once all have been. */
    resumeAt: column.nullable(column.time),
  },
  { key: ['rail'] },
);
export type RailBreaker = RowOf<typeof railBreakers>;
