import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/**
 * All staff have `read`. `cancel` includes batches, and `adjust` includes pay-ins. `pause` is for
 * batches and endpoints, `resolve` for payouts, and `manage` for everything else.
 */
export const STAFF_RIGHTS = [
  'read',
  'approve',
  'cancel',
  'pause',
  'adjust',
  'resolve',
  'manage',
] as const;
export type StaffRight = (typeof STAFF_RIGHTS)[number];

const STAFF_KINDS = ['person', 'service'] as const;

export const staff = defineTable(
  'staff',
  {
    id: column.uuid,
    name: column.varchar(80),
    /** The name without case, width, accents and look-alike letters. Null if an older row has it. */
    foldedName: column.nullable(column.varchar(240)),
    /** A service signs in with a key, and never counts as a person. */
    kind: column.oneOf(STAFF_KINDS),
    rights: column.listOf(STAFF_RIGHTS),
    active: column.boolean,
    /** Encrypted. Null before enrolment. */
    factorKeyId: column.nullable(column.ascii(40)),
    factorSecret: column.nullable(column.varbinary(255)),
    keyHash: column.nullable(column.binary(32)),
    /** Hash of issuer and subject at the company's identity provider. Null if not linked. */
    subjectHash: column.nullable(column.binary(32)),
    failedCodes: column.integer,
    lockedUntil: column.nullable(column.time),
    /** Failed codes on the command line, which outsiders cannot reach. */
    opsFailedCodes: column.integer,
    opsLockedUntil: column.nullable(column.time),
    lastUsedAt: column.nullable(column.time),
    createdAt: column.time,
  },
  {
    unique: {
      foldedName: ['foldedName'],
      keyHash: ['keyHash'],
      name: ['name'],
      subjectHash: ['subjectHash'],
    },
  },
);
export type Staff = RowOf<typeof staff>;

const SESSION_CHANNELS = ['ops', 'support'] as const;

export const staffSessions = defineTable(
  'staff_sessions',
  {
    id: column.uuid,
    staffId: column.uuid,
    channel: column.oneOf(SESSION_CHANNELS),
    tokenHash: column.binary(32),
    /** The machine of the command line, or the browser's address at the support desk. */
    place: column.varchar(140),
    createdAt: column.time,
    lastUsedAt: column.time,
    expiresAt: column.time,
    /** Rights that the identity provider's groups allow. Null for all rights of the person. */
    rights: column.nullable(column.listOf(STAFF_RIGHTS)),
    revokedAt: column.nullable(column.time),
  },
  { unique: { token: ['tokenHash'] }, indexes: { staff: ['staffId', 'expiresAt'] } },
);
export type StaffSession = RowOf<typeof staffSessions>;

/** The result of each code. A person can use each step of the authenticator once. */
export const staffChecks = defineTable(
  'staff_checks',
  {
    /** SHA-256 of the action for which the code was given. */
    purpose: column.binary(32),
    staffId: column.nullable(column.uuid),
    /** In units of 30 seconds; null if the code was refused. */
    step: column.nullable(column.bigint),
    refused: column.nullable(column.varchar(300)),
    at: column.time,
  },
  { key: ['purpose'], unique: { step: ['staffId', 'step'] }, indexes: { at: ['at'] } },
);
export type StaffCheck = RowOf<typeof staffChecks>;

const FACTOR_RESET_STATUSES = ['proposed', 'done', 'withdrawn'] as const;

/** Replacements of lost authenticators: proposed by one person, performed by another. */
export const staffFactorResets = defineTable(
  'staff_factor_resets',
  {
    id: column.uuid,
    staffId: column.uuid,
    status: column.oneOf(FACTOR_RESET_STATUSES),
    reason: column.varchar(140),
    proposedById: column.uuid,
    decidedById: column.nullable(column.uuid),
    createdAt: column.time,
    decidedAt: column.nullable(column.time),
  },
  { indexes: { staff: ['staffId', 'status'] } },
);
export type StaffFactorReset = RowOf<typeof staffFactorResets>;
