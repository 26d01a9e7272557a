import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Who of the operators' people acts, and how each proves it. (docs/contract.md, Staff) */

/**
 * What one of the staff may do: look (everybody of the staff may); approve or reject what waits; cancel it, and batches; pause,
 * resume and retry batches and webhook endpoints; adjust balances and record pay-ins; resolve payouts; manage everything else.
 */
export const STAFF_RIGHTS = ['read', 'approve', 'cancel', 'pause', 'adjust', 'resolve', 'manage'] as const;
export type StaffRight = (typeof STAFF_RIGHTS)[number];

export const STAFF_KINDS = ['person', 'service'] as const;

export const staff = defineTable('staff', {
  id: column.uuid,
  /** As people read it. */
  name: column.string,
  /** As it is looked for, and unique: without case, width, accents and look-alikes. Null: it lost its name to an older row. */
  foldedName: column.nullable(column.string),
  /** A service signs with a key, never with a code, and never counts as a person. */
  kind: column.oneOf(STAFF_KINDS),
  rights: column.listOf(STAFF_RIGHTS),
  active: column.boolean,
  /** The authenticator's secret, sealed; null until there is one. */
  factorKeyId: column.nullable(column.string),
  factorSecret: column.nullable(column.bytes),
  /** Of a service's key; null for a person. */
  keyHash: column.nullable(column.bytes),
  /** Of issuer and subject at the company's identity provider; null: bound to no account there. */
  subjectHash: column.nullable(column.bytes),
  /** Wrong codes since the last right one. */
  failedCodes: column.integer,
  lockedUntil: column.nullable(column.time),
  /** The same of the command line, which needs the database's address: nobody from outside locks anybody out of it. */
  opsFailedCodes: column.integer,
  opsLockedUntil: column.nullable(column.time),
  /** When a code or the key was last right. */
  lastUsedAt: column.nullable(column.time),
  createdAt: column.time,
});
export type Staff = RowOf<typeof staff>;

/** Where somebody signs in and stays: the command line, the support desk. */
export const SESSION_DOORS = ['ops', 'support'] as const;

export const staffSessions = defineTable('staff_sessions', {
  id: column.uuid,
  staffId: column.uuid,
  door: column.oneOf(SESSION_DOORS),
  tokenHash: column.bytes,
  /** Where it was opened from: a machine's name or an address. */
  place: column.string,
  createdAt: column.time,
  lastUsedAt: column.time,
  expiresAt: column.time,
  /** What the provider's groups left of the person's rights; null: all. */
  rights: column.nullable(column.listOf(STAFF_RIGHTS)),
  revokedAt: column.nullable(column.time),
});
export type StaffSession = RowOf<typeof staffSessions>;

/**
 * What became of each code that was given. A step of the authenticator's clock counts once for a person; the same act asked
 * again finds its own check, whatever it came to.
 */
export const staffChecks = defineTable(
  'staff_checks',
  {
    /** SHA-256 of what the code was given for. */
    purpose: column.bytes,
    staffId: column.nullable(column.uuid),
    /** Of the authenticator's clock, in 30 seconds; null where the code was refused. */
    step: column.nullable(column.bigint),
    /** Why it was refused; null where it counted. */
    refused: column.nullable(column.string),
    at: column.time,
  },
  ['purpose'],
);
export type StaffCheck = RowOf<typeof staffChecks>;

export const FACTOR_RESET_STATUSES = ['proposed', 'done', 'withdrawn'] as const;

/** A new authenticator for somebody who lost theirs: proposed by one of the staff, made by another. */
export const staffFactorResets = defineTable('staff_factor_resets', {
  id: column.uuid,
  staffId: column.uuid,
  status: column.oneOf(FACTOR_RESET_STATUSES),
  reason: column.string,
  proposedById: column.uuid,
  decidedById: column.nullable(column.uuid),
  createdAt: column.time,
  decidedAt: column.nullable(column.time),
});
export type StaffFactorReset = RowOf<typeof staffFactorResets>;
