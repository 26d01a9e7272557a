import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Payouts to bank accounts, and the messages exchanged with the rails. */

export const PAYOUT_STATUSES = [
  'pending_approval',
  'approved',
  'in_progress',
  'completed',
  'returned',
  'rejected',
  'canceled',
  'failed',
] as const;
export type PayoutStatus = (typeof PAYOUT_STATUSES)[number];

export const BANK_ACCOUNT_TYPES = ['savings', 'checking'] as const;

/**
 * Why a payout is raised to operators: its outcome is unknown; its rail contradicts itself or what
 * is known; it was returned to a closed account; or its outcome cannot be posted, because a balance
 * would exceed 64 bits.
 */
const STUCK_REASONS = ['no_outcome', 'contradiction', 'account_closed', 'overflow'] as const;

export const payouts = defineTable(
  'payouts',
  {
    id: column.uuid,
    tenantId: column.uuid,
    sourceAccountId: column.uuid,
    /** The tenant's pay-out account. */
    systemAccountId: column.uuid,
    asset: column.asset,
    raw: column.bigint,
    feeRaw: column.bigint,
    /** Fixed at creation; null without a fee. */
    feeAccountId: column.nullable(column.uuid),
    description: column.nullable(column.varchar(140)),
    /** ISO 3166 alpha-2 */
    country: column.asciiChar(2),
    bankCode: column.ascii(11),
    accountType: column.oneOf(BANK_ACCOUNT_TYPES),
    /** Last characters of the account number: at most four and at most half of them. */
    accountEnd: column.ascii(4),
    holderName: column.varchar(80),
    status: column.oneOf(PAYOUT_STATUSES),
    /** The member who requested it. */
    createdBy: column.uuid,
    /** `2026-11`: the month whose allowance it used, in the tenant's time zone. */
    limitMonth: column.asciiChar(7),
    createdAt: column.time,
    /** How many approvals it needs; null, like the two below, if it needs none. */
    approvalsRequired: column.nullable(column.integer),
    approvalsReceived: column.nullable(column.integer),
    approvalExpiresAt: column.nullable(column.time),
    rejectionCode: column.nullable(column.ascii(40)),
    rejectionReason: column.nullable(column.varchar(300)),
    /** Reason for failure, return or expiry. The message is never the text of the rail. */
    failureCode: column.nullable(column.ascii(40)),
    failureMessage: column.nullable(column.varchar(140)),
    /** Fixed at creation: `simulated`, or `http:<name>`. */
    rail: column.ascii(40),
    /** The rail's own name for it, once the rail has accepted it. */
    railReference: column.nullable(column.ascii(64)),
    approvedAt: column.nullable(column.time),
    /** When it became `in_progress`: from then on the rail may have it. */
    submittedAt: column.nullable(column.time),
    /** How often an order to the rail was permitted, and when last. */
    attempts: column.integer,
    attemptedAt: column.nullable(column.time),
    /** When it failed, if it later turned out to have been paid; null otherwise. */
    failedAt: column.nullable(column.time),
    /** When it was completed, rejected, canceled or failed. */
    endedAt: column.nullable(column.time),
    returnedAt: column.nullable(column.time),
    stuckSince: column.nullable(column.time),
    stuckReason: column.nullable(column.oneOf(STUCK_REASONS)),
    /** When its rail is next asked about it after its end; null if it is not asked. */
    askAt: column.nullable(column.time),
  },
  {
    indexes: {
      asking: ['rail', 'askAt'],
      ended: ['rail', 'endedAt'],
      expiring: ['status', 'approvalExpiresAt'],
      returned: ['rail', 'returnedAt'],
      source: ['sourceAccountId', 'createdAt', 'id'],
      status: ['tenantId', 'status', 'createdAt', 'id'],
      stuck: ['stuckSince'],
      submitted: ['status', 'submittedAt'],
    },
  },
);
export type Payout = RowOf<typeof payouts>;

/**
 * The sealed part of a payout, stored separately so that a key rotation never collides with a
 * change of state.
 */
export const payoutSecrets = defineTable(
  'payout_secrets',
  {
    /** The payout's. */
    id: column.uuid,
    accountNumber: column.varbinary(100),
    holderDocument: column.varbinary(100),
    keyId: column.ascii(32),
  },
  { indexes: { keyId: ['keyId', 'id'] } },
);
export type PayoutSecrets = RowOf<typeof payoutSecrets>;

const RAIL_EVENT_KINDS = [
  'submission',
  'inquiry',
  'callback',
  'statement',
  'resolution',
  'void',
] as const;
/**
 * Reports of a rail. `unknown`: the rail never received the payout. `voided`: the rail will never
 * pay.
 */
export const RAIL_WORDS = [
  'accepted',
  'completed',
  'failed',
  'returned',
  'unknown',
  'voided',
] as const;
export const RAIL_EFFECTS = [
  'sent',
  'no_answer',
  'noted',
  'applied',
  'duplicate',
  'conflict',
  'settled',
  'replayed',
  'late',
  'forged',
  'malformed',
  'unknown_payout',
] as const;

/** Messages to and from a rail, without personal data. Rows never change. */
export const payoutRailEvents = defineTable(
  'payout_rail_events',
  {
    id: column.uuid,
    /** Null if it names none that we know, or is not trusted. */
    payoutId: column.nullable(column.uuid),
    rail: column.ascii(40),
    kind: column.oneOf(RAIL_EVENT_KINDS),
    said: column.nullable(column.oneOf(RAIL_WORDS)),
    effect: column.wordOf(RAIL_EFFECTS, 20),
    callbackId: column.nullable(column.ascii(60)),
    railReference: column.nullable(column.ascii(64)),
    failureCode: column.nullable(column.ascii(40)),
    /** The number of the attempt that was sent. */
    attempt: column.nullable(column.integer),
    at: column.time,
  },
  { indexes: { at: ['at'], payout: ['payoutId', 'id'], rail: ['rail', 'at'] } },
);
export type PayoutRailEvent = RowOf<typeof payoutRailEvents>;

/** Outcomes of a resolution. `unchanged`: the payout keeps its state and the flag is removed. */
export const RESOLUTION_OUTCOMES = ['completed', 'failed', 'returned', 'unchanged'] as const;
const RESOLUTION_STATUSES = ['proposed', 'applied', 'rejected'] as const;

/**
 * The outcome of a payout as established by operators: proposed by one person, applied by another.
 */
export const payoutResolutions = defineTable(
  'payout_resolutions',
  {
    id: column.uuid,
    tenantId: column.uuid,
    payoutId: column.uuid,
    outcome: column.oneOf(RESOLUTION_OUTCOMES),
    reason: column.varchar(140),
    status: column.oneOf(RESOLUTION_STATUSES),
    /** The payout's status at the proposal. */
    payoutStatus: column.wordOf(PAYOUT_STATUSES, 20),
    /** How many different contradictions and lines of statements its proposer could see. */
    contradictions: column.integer,
    proposedBy: column.varchar(80),
    /** A member of staff. */
    proposedById: column.uuid,
    decidedBy: column.nullable(column.varchar(80)),
    decidedById: column.nullable(column.uuid),
    createdAt: column.time,
    decidedAt: column.nullable(column.time),
  },
  { indexes: { payout: ['payoutId', 'id'], status: ['status', 'createdAt'] } },
);
export type PayoutResolution = RowOf<typeof payoutResolutions>;

export const simulatedRailPayments = defineTable(
  'simulated_rail_payments',
  {
    rail: column.ascii(40),
    paymentKey: column.uuid,
    /** Null, like the two below, if it was voided before it was submitted. */
    scenario: column.nullable(column.ascii(20)),
    asset: column.nullable(column.asset),
    raw: column.nullable(column.bigint),
    reference: column.ascii(64),
    submissions: column.integer,
    /** When it was acted on; null if the submission was lost. */
    actedAt: column.nullable(column.time),
    /** How many outcomes were reported by callback. */
    reported: column.integer,
    /** Due time of the next report; null if no report remains. */
    reportAt: column.nullable(column.time),
    /** Time from which the rail ignores further submissions. */
    voidedAt: column.nullable(column.time),
  },
  {
    key: ['rail', 'paymentKey'],
    indexes: { acted: ['rail', 'actedAt'], report: ['rail', 'reportAt'] },
  },
);
export type SimulatedRailPayment = RowOf<typeof simulatedRailPayments>;

/** Payments made by the simulated rail. Two rows for one payment mean money paid twice. */
export const simulatedRailActions = defineTable(
  'simulated_rail_actions',
  {
    id: column.uuid,
    rail: column.ascii(40),
    paymentKey: column.uuid,
    at: column.time,
  },
  { indexes: { payment: ['rail', 'paymentKey'] } },
);
