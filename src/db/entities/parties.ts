import { ROLES, SCOPES } from '../../core/permissions.js';
import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';
import { AUDIT_CHANNELS } from './identity.js';

export const tenants = defineTable(
  'tenants',
  {
    id: column.uuid,
    name: column.varchar(80),
    /** Tenants of one network can pay one another. */
    network: column.nullable(column.ascii(64)),
    timeZone: column.ascii(64),
    feeAccountId: column.nullable(column.uuid),
    /** How long a change that weakens an approval policy waits. */
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
    /** As given at opening; the display name is derived from it. */
    name: column.varchar(120),
    alias: column.nullable(column.ascii(32)),
    phone: column.nullable(column.ascii(20)),
    metadata: column.metadata,
    verifiedAt: column.nullable(column.time),
    createdAt: column.time,
  },
  {
    unique: {
      alias: ['tenantId', 'alias'],
      phone: ['tenantId', 'phone'],
      systemRole: ['tenantId', 'systemRole'],
    },
    indexes: { byPhone: ['phone'], created: ['tenantId', 'createdAt', 'id'] },
  },
);
export type Account = RowOf<typeof accounts>;

/** Columns that the ledger reads of the accounts it locks, because no decision needs any other. */
export const LOCKABLE_COLUMNS = [
  'id',
  'tenantId',
  'type',
  'systemRole',
  'status',
  'verifiedAt',
  'createdAt',
] as const satisfies readonly (keyof Account)[];
export type LockableAccount = Pick<Account, (typeof LOCKABLE_COLUMNS)[number]>;

export type SystemRole = (typeof SYSTEM_ROLES)[number];

export const FEE_OPERATIONS = ['transfer', 'bonus', 'payout'] as const;
export type FeeOperation = (typeof FEE_OPERATIONS)[number];
/** The key of a fee schedule: everything besides the amount that a fee depends on. */
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

/** Returns the properties of the key alone. */
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
    /** Null once the member has been removed, so that the name is free again. */
    isActive: column.nullable(column.boolean),
    createdAt: column.time,
  },
  { unique: { memberName: ['tenantId', 'name', 'isActive'] } },
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

/** Roles that wait for the tenant's delay. `memberRoles` has only roles in force. */
export const pendingRoles = defineTable(
  'pending_roles',
  {
    accountId: column.uuid,
    memberId: column.uuid,
    role: column.oneOf(ROLES),
    effectiveAt: column.time,
    requestedChannel: column.oneOf(AUDIT_CHANNELS),
    requestedBy: column.varchar(120),
  },
  {
    key: ['accountId', 'memberId'],
    indexes: { due: ['effectiveAt'], pendingMember: ['memberId', 'effectiveAt'] },
  },
);
export type PendingRole = RowOf<typeof pendingRoles>;

export const tokens = defineTable(
  'tokens',
  {
    /** Identifies the token; not secret. */
    keyId: column.ascii(32),
    /** Orders lists, and names the token as the resource of an idempotency key. */
    id: column.uuid,
    tenantId: column.uuid,
    memberId: column.uuid,
    name: column.nullable(column.varchar(80)),
    secretHash: column.binary(32),
    scopes: column.listOf(SCOPES),
    /** Address ranges from which the token may be used, separated by commas. Empty for any address. */
    cidrs: column.ascii(1000),
    /** Until then the token waits for the tenant's delay. Null without a delay. */
    effectiveAt: column.nullable(column.time),
    expiresAt: column.nullable(column.time),
    revokedAt: column.nullable(column.time),
    createdAt: column.time,
    /** The token with which a member created this one. Null if operators issued it. */
    createdByKey: column.nullable(column.ascii(32)),
    lastUsedAt: column.nullable(column.time),
  },
  {
    key: ['keyId'],
    unique: { id: ['id'] },
    indexes: {
      member: ['tenantId', 'memberId'],
      live: ['tenantId', 'revokedAt', 'createdAt', 'id'],
      creator: ['tenantId', 'createdByKey'],
    },
  },
);
export type Token = RowOf<typeof tokens>;

/** Accounts that a tenant has found before. Finding them again reveals nothing new. */
export const knownRecipients = defineTable(
  'known_recipients',
  {
    tenantId: column.uuid,
    accountId: column.uuid,
  },
  { key: ['tenantId', 'accountId'] },
);

/** New-recipient budgets. (docs/glossary.md) */
export const recipientBudgets = defineTable(
  'recipient_budgets',
  {
    /** `tenant/<id>` or `token/<key id>`. */
    name: column.ascii(60),
    /** When the budget will be full again. Each use moves it later. */
    fullAt: column.time,
  },
  { key: ['name'] },
);
