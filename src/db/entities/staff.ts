import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** The staff, and how each proves who they are. (docs/contract.md, Staff) */

/**
 * Rights of a member of staff: read (all staff may); approve or reject what waits; cancel it, and
 * batches; pause, resume and retry batches and webhook endpoints; adjust balances and record
 * pay-ins; resolve payouts; manage everything else.
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
    /** As displayed. */
    name: column.varchar(80),
    /**
     * Unique form of the name, without case, width, accents and look-alikes. Null if an older row
     * has it.
     */
    foldedName: column.nullable(column.varchar(240)),
    /** A service signs with a key, never with a code, and never counts as a person. */
    kind: column.oneOf(STAFF_KINDS),
    rights: column.listOf(STAFF_RIGHTS, 100),
    active: column.boolean,
    /** The authenticator's secret, sealed; null until there is one. */
    factorKeyId: column.nullable(column.ascii(40)),
    factorSecret: column.nullable(column.varbinary(255)),
    /** Hash of a service's key; null for a person. */
    keyHash: column.nullable(column.binary(32)),
    /**
     * Hash of issuer and subject at the company's identity provider; null: not linked to an account
     * there.
     */
    subjectHash: column.nullable(column.binary(32)),
    /** Wrong codes since the last right one. */
    failedCodes: column.integer,
    lockedUntil: column.nullable(column.time),
    /** Failed codes on the command line, counted apart because outsiders cannot reach it. */
    opsFailedCodes: column.integer,
    opsLockedUntil: column.nullable(column.time),
    /** When a code or the key was last correct. */
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

/** Where people sign in: the command line, the support desk. */
const SESSION_DOORS = ['ops', 'support'] as const;

export const staffSessions = defineTable(
  'staff_sessions',
  {
    id: column.uuid,
    staffId: column.uuid,
    door: column.oneOf(SESSION_DOORS),
    tokenHash: column.binary(32),
    /** Where it was opened: a machine's name or an address. */
    place: column.varchar(140),
    createdAt: column.time,
    lastUsedAt: column.time,
    expiresAt: column.time,
    /** The person's rights as limited by the provider's groups; null: all. */
    rights: column.nullable(column.listOf(STAFF_RIGHTS, 100)),
    revokedAt: column.nullable(column.time),
  },
  { unique: { token: ['tokenHash'] }, indexes: { staff: ['staffId', 'expiresAt'] } },
);
export type StaffSession = RowOf<typeof staffSessions>;

/**
 * The result of each code: a step of the authenticator counts once a person, the same act finds its
 * own check.
 */
export const staffChecks = defineTable(
  'staff_checks',
  {
    /** SHA-256 of what the code was given for. */
    purpose: column.binary(32),
    staffId: column.nullable(column.uuid),
    /** The authenticator's clock, in units of 30 seconds; null if the code was refused. */
    step: column.nullable(column.bigint),
    /** Why it was refused; null if it counted. */
    refused: column.nullable(column.varchar(300)),
    at: column.time,
  },
  { key: ['purpose'], unique: { step: ['staffId', 'step'] }, indexes: { at: ['at'] } },
);
export type StaffCheck = RowOf<typeof staffChecks>;

const FACTOR_RESET_STATUSES = ['proposed', 'done', 'withdrawn'] as const;

/** Replacements of lost authenticators: proposed by one member of staff, performed by another. */
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
