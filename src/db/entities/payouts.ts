import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';
import { approvalColumns, spendingColumns } from './operations.js';

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

/** The kinds of a key of Bre-B, Colombia's instant payments. */
export const KEY_TYPES = ['document', 'phone', 'email', 'alias', 'merchant'] as const;
export type KeyType = (typeof KEY_TYPES)[number];

/**
 * Why operators must act. `contradiction`: the rail contradicts its own reports or the payout.
 * `account_closed`: the amount was returned to a closed account. `overflow`: a balance would exceed
 * 64 bits.
 */
const STUCK_REASONS = ['no_outcome', 'contradiction', 'account_closed', 'overflow'] as const;

export const payouts = defineTable(
  'payouts',
  {
    ...spendingColumns,
    systemAccountId: column.uuid,
    country: column.asciiChar(2),
    /** Null, like the next three columns, for a payout to a key. */
    bankCode: column.nullable(column.ascii(11)),
    accountType: column.nullable(column.oneOf(BANK_ACCOUNT_TYPES)),
    /** The end of the account number: at most four characters, and at most half of them. */
    accountEnd: column.nullable(column.ascii(4)),
    holderName: column.nullable(column.varchar(80)),
    /** Null, like `keyEnd`, for a payout to a bank account. */
    keyType: column.nullable(column.oneOf(KEY_TYPES)),
    /** The last four characters of the key. */
    keyEnd: column.nullable(column.ascii(4)),
    /** The batch, row and reference of the file that the payout comes from; null for a single payout. */
    batchId: column.nullable(column.uuid),
    batchRow: column.nullable(column.integer),
    reference: column.nullable(column.varchar(64)),
    status: column.oneOf(PAYOUT_STATUSES),
    ...approvalColumns,
    failureCode: column.nullable(column.ascii(40)),
    /** Our own text, never the rail's. */
    failureMessage: column.nullable(column.varchar(140)),
    /** Fixed at creation: `simulated`, or `http:<name>`. */
    rail: column.ascii(40),
    railReference: column.nullable(column.ascii(64)),
    approvedAt: column.nullable(column.time),
    /** When it became `in_progress`. From then on, the rail may have received the payout. */
    submittedAt: column.nullable(column.time),
    /** Number of submissions to the rail, each counted before it is sent. */
    attempts: column.integer,
    /** Time of the last submission. */
    attemptedAt: column.nullable(column.time),
    /** Time of the failure, if the payout was later found to have been paid; otherwise null. */
    failedAt: column.nullable(column.time),
    endedAt: column.nullable(column.time),
    returnedAt: column.nullable(column.time),
    stuckSince: column.nullable(column.time),
    stuckReason: column.nullable(column.oneOf(STUCK_REASONS)),
    /** When the rail is next polled about an ended payout. Null if it is not polled. */
    nextPollAt: column.nullable(column.time),
  },
  {
    unique: { batchRow: ['batchId', 'batchRow'] },
    indexes: {
      batch: ['batchId', 'status', 'createdAt', 'id'],
      polling: ['rail', 'nextPollAt'],
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
 * Secrets of payouts, and of the rows that become payouts with their ids. Stored in a table of its own,
 * so that a key rotation never collides with a change of state.
 */
export const payoutSecrets = defineTable(
  'payout_secrets',
  {
    id: column.uuid,
    /** The account number and the holder's document, or the key and its checked holder, as JSON. */
    destination: column.varbinary(400),
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
  'resolve',
] as const;
/** `unknown`: the rail never received the payout. `voided`: it will never pay. */
export const REPORT_STATUSES = [
  'accepted',
  'completed',
  'failed',
  'returned',
  'unknown',
  'voided',
] as const;
/** `noted`: posts nothing. `settled`: was resolved before. `replayed`: repeats a callback's id. */
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
    /** Null if the message names no payout of ours, or is not trusted. */
    payoutId: column.nullable(column.uuid),
    rail: column.ascii(40),
    kind: column.oneOf(RAIL_EVENT_KINDS),
    reported: column.nullable(column.oneOf(REPORT_STATUSES)),
    effect: column.asciiEnum(RAIL_EFFECTS, 20),
    callbackId: column.nullable(column.ascii(60)),
    railReference: column.nullable(column.ascii(64)),
    /** Raw amount and asset of a statement's line, separated by a space; otherwise null. */
    listedAmount: column.nullable(column.ascii(30)),
    failureCode: column.nullable(column.ascii(40)),
    attempt: column.nullable(column.integer),
    at: column.time,
  },
  { indexes: { at: ['at'], payout: ['payoutId', 'id'], rail: ['rail', 'at'] } },
);
export type PayoutRailEvent = RowOf<typeof payoutRailEvents>;

/** `unchanged`: the payout keeps its state and the flag is removed. */
export const RESOLUTION_OUTCOMES = ['completed', 'failed', 'returned', 'unchanged'] as const;
const RESOLUTION_STATUSES = ['proposed', 'applied', 'rejected'] as const;

/** Proposed by one person, applied by another. */
export const payoutResolutions = defineTable(
  'payout_resolutions',
  {
    id: column.uuid,
    tenantId: column.uuid,
    payoutId: column.uuid,
    outcome: column.oneOf(RESOLUTION_OUTCOMES),
    reason: column.varchar(140),
    status: column.oneOf(RESOLUTION_STATUSES),
    payoutStatus: column.asciiEnum(PAYOUT_STATUSES, 20),
    /** Number of distinct contradictions and statement lines that the proposer could see. */
    contradictions: column.integer,
    proposedBy: column.varchar(80),
    proposedById: column.uuid,
    decidedBy: column.nullable(column.varchar(80)),
    decidedById: column.nullable(column.uuid),
    createdAt: column.time,
    decidedAt: column.nullable(column.time),
  },
  { indexes: { payout: ['payoutId', 'id'], status: ['status', 'createdAt'] } },
);
export type PayoutResolution = RowOf<typeof payoutResolutions>;

/** Orders that the simulated rail has received or voided. */
export const simulatedRailPayments = defineTable(
  'simulated_rail_payments',
  {
    rail: column.ascii(40),
    paymentKey: column.uuid,
    /** Null, like `asset` and `raw`, if the payment was voided before it was submitted. */
    scenario: column.nullable(column.ascii(20)),
    asset: column.nullable(column.asset),
    raw: column.nullable(column.bigint),
    reference: column.ascii(64),
    submissions: column.integer,
    /** When the rail accepted it. Null if it was voided first, or if each submission was lost. */
    acceptedAt: column.nullable(column.time),
    /** Number of later outcomes that were reported. */
    reported: column.integer,
    /** When the next outcome is due to be reported. */
    reportAt: column.nullable(column.time),
    voidedAt: column.nullable(column.time),
  },
  {
    key: ['rail', 'paymentKey'],
    indexes: { accepted: ['rail', 'acceptedAt'], report: ['rail', 'reportAt'] },
  },
);
export type SimulatedRailPayment = RowOf<typeof simulatedRailPayments>;

/** Payments that the simulated rail has made. Two rows with one key mean money paid twice. */
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
