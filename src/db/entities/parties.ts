import { ROLES, SCOPES } from '../../core/permissions.js';
import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Tenants, and their accounts, members, roles and tokens. */

export const tenants = defineTable(
  'tenants',
  {
    id: column.uuid,
    name: column.varchar(80),
    /** Tenants of one network can pay one another. */
    network: column.nullable(column.ascii(64)),
    timeZone: column.ascii(64),
    feeAccountId: column.nullable(column.uuid),
    /** How long a change that weakens an approval policy waits; 0: not at all. */
    policyDelayS: column.integer,
    createdAt: column.time,
  },
  { unique: { name: ['name'] }, indexes: { network: ['network'] } },
);
export type Tenant = RowOf<typeof tenants>;

const ACCOUNT_TYPES = ['person', 'business', 'system'] as const;
export const ACCOUNT_STATUSES = ['active', 'frozen', 'closed'] as const;
export const SYSTEM_ROLES = ['pay_in', 'pay_out', 'adjustment'] as const;

/** The row is the lock on everything that belongs to the account. */
export const accounts = defineTable(
  'accounts',
  {
    id: column.uuid,
    tenantId: column.uuid,
    type: column.oneOf(ACCOUNT_TYPES),
    systemRole: column.nullable(column.oneOf(SYSTEM_ROLES)),
    status: column.oneOf(ACCOUNT_STATUSES),
    /** The name given at opening, from which the display name is derived. */
    name: column.varchar(120),
    alias: column.nullable(column.ascii(32)),
    /** E.164 */
    phone: column.nullable(column.ascii(20)),
    verifiedAt: column.nullable(column.time),
    /** The `seq` of the account's last entry; 0 before the first. */
    seq: column.bigint,
    /**
     * The instant of the last command that posted to the account, or of a later change of policy
     * that took effect.
     */
    lastPostedAt: column.time,
    createdAt: column.time,
  },
  {
    unique: {
      alias: ['tenantId', 'alias'],
      phone: ['tenantId', 'phone'],
      systemRole: ['tenantId', 'systemRole'],
    },
    indexes: { byName: ['name'], byPhone: ['phone'], created: ['tenantId', 'createdAt', 'id'] },
  },
);
export type Account = RowOf<typeof accounts>;
export type SystemRole = (typeof SYSTEM_ROLES)[number];

/** Fee that a tenant charges: at most one row for each operation and asset. */
export const FEE_OPERATIONS = ['transfer', 'bonus', 'payout'] as const;
export type FeeOperation = (typeof FEE_OPERATIONS)[number];
/**
 * Everything that a fee depends on besides the amount: the key of a schedule, everywhere.
 * (CONTRIBUTING.md)
 */
export const FEE_KEY = ['tenantId', 'operation', 'asset'] as const;

export const feeSchedules = defineTable(
  'fee_schedules',
  {
    tenantId: column.uuid,
    operation: column.oneOf(FEE_OPERATIONS),
    asset: column.asset,
    flatRaw: column.bigint,
    basisPoints: column.bigint,
    floorRaw: column.bigint,
    capRaw: column.nullable(column.bigint),
  },
  { key: FEE_KEY },
);
export type FeeScheduleRow = RowOf<typeof feeSchedules>;
export type FeeKey = Pick<FeeScheduleRow, (typeof FEE_KEY)[number]>;

/** Only the key of a larger object. */
export function feeKeyOf(schedule: FeeKey): FeeKey {
  return Object.fromEntries(FEE_KEY.map((property) => [property, schedule[property]])) as FeeKey;
}

export function isFeeOf(schedule: FeeScheduleRow, key: FeeKey): boolean {
  return FEE_KEY.every((property) => schedule[property] === key[property]);
}

export const members = defineTable(
  'members',
  {
    id: column.uuid,
    tenantId: column.uuid,
    name: column.varchar(80),
    createdAt: column.time,
  },
  { unique: { memberName: ['tenantId', 'name'] } },
);
export type Member = RowOf<typeof members>;

export const memberRoles = defineTable(
  'member_roles',
  {
    accountId: column.uuid,
    memberId: column.uuid,
    role: column.oneOf(ROLES),
  },
  { key: ['accountId', 'memberId'], indexes: { member: ['memberId', 'accountId'] } },
);
export type MemberRole = RowOf<typeof memberRoles>;

export const tokens = defineTable(
  'tokens',
  {
    /** The part of the token that identifies it; not secret. */
    keyId: column.ascii(32),
    tenantId: column.uuid,
    memberId: column.uuid,
    name: column.varchar(80),
    /** SHA-256 of the whole token. */
    secretHash: column.binary(32),
    scopes: column.listOf(SCOPES, 100),
    /** Comma-separated address ranges from which it may be used; empty: anywhere. */
    cidrs: column.ascii(1000),
    expiresAt: column.nullable(column.time),
    revokedAt: column.nullable(column.time),
    createdAt: column.time,
    /** Approximate: minutes behind. */
    lastUsedAt: column.nullable(column.time),
  },
  { key: ['keyId'], indexes: { member: ['tenantId', 'memberId'] } },
);
export type Token = RowOf<typeof tokens>;

/**
 * Accounts that a tenant has found before: naming them again reveals nothing new. Never removed.
 */
export const knownRecipients = defineTable(
  'known_recipients',
  {
    tenantId: column.uuid,
    accountId: column.uuid,
  },
  { key: ['tenantId', 'accountId'] },
);

/** Number of people that may still be named for the first time. */
export const recipientBudgets = defineTable(
  'recipient_budgets',
  {
    /** `tenant/<id>` or `token/<key id>`. */
    name: column.ascii(60),
    /** When it is full again. */
    fullAt: column.time,
  },
  { key: ['name'] },
);
