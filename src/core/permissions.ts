import type { Uuid } from './ids.js';
import type { Deadline } from './timers.js';

/** The table of docs/contract.md, Roles and scopes. Checks, tests and documents all read it. */

export const SCOPES = [
  'read',
  'lookup',
  'transfers',
  'bonuses',
  'payouts',
  'webhooks',
  'access',
] as const;
export type Scope = (typeof SCOPES)[number];

export const ROLES = ['viewer', 'operator', 'approver', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

const EVERY_ROLE = ROLES;
const MANAGERS = ['admin', 'owner'] as const satisfies readonly Role[];
const APPROVERS = ['approver', 'admin', 'owner'] as const satisfies readonly Role[];
const OWNERS = ['owner'] as const satisfies readonly Role[];
const CREATORS = ['operator', 'admin', 'owner'] as const satisfies readonly Role[];

export interface Permission {
  /** The token needs one of these scopes. */
  readonly scopes: readonly [Scope, ...Scope[]];
  /** The member needs one of these roles in the account that `roleIn` names; null if none. */
  readonly roles: readonly Role[] | null;
  readonly roleIn:
    | 'the account'
    | 'source'
    | 'source, or a destination of the same tenant'
    | 'any account of the tenant'
    | null;
  /** Whom another rule admits in addition to the roles, or excludes. */
  readonly rule?: string;
}

export const PERMISSIONS = {
  readAccount: { scopes: ['read'], roles: EVERY_ROLE, roleIn: 'the account' },
  /** With the scope `access` alone, the member must also be the owner of an account. */
  showAccounts: { scopes: ['read', 'access'], roles: EVERY_ROLE, roleIn: 'the account' },
  readLimits: { scopes: ['read', 'transfers'], roles: EVERY_ROLE, roleIn: 'the account' },
  manageAccount: { scopes: ['transfers'], roles: MANAGERS, roleIn: 'the account' },
  /** Opening accounts; members and tokens. */
  manageAccess: {
    scopes: ['access'],
    roles: OWNERS,
    roleIn: 'any account of the tenant',
    rule: 'not about a member with a role that the caller lacks',
  },
  /** The account's metadata, and the roles in it. */
  shareAccount: { scopes: ['access'], roles: OWNERS, roleIn: 'the account' },
  lookUp: { scopes: ['lookup'], roles: null, roleIn: null },
  createTransfer: { scopes: ['transfers'], roles: CREATORS, roleIn: 'source' },
  readTransfers: {
    scopes: ['read', 'transfers'],
    roles: EVERY_ROLE,
    roleIn: 'source, or a destination of the same tenant',
  },
  approveTransfer: {
    scopes: ['transfers'],
    roles: APPROVERS,
    roleIn: 'source',
    rule: 'not the creator',
  },
  cancelTransfer: { scopes: ['transfers'], roles: MANAGERS, roleIn: 'source', rule: 'the creator' },
  readSchedules: { scopes: ['read', 'transfers'], roles: EVERY_ROLE, roleIn: 'source' },
  /** Pauses, resumes and cancels. Creation is `createTransfer`. */
  manageSchedule: {
    scopes: ['transfers'],
    roles: CREATORS,
    roleIn: 'source',
    rule: 'the creator',
  },
  manageWebhooks: { scopes: ['webhooks'], roles: MANAGERS, roleIn: 'any account of the tenant' },
  /** Single bonuses, and uploads of batches. */
  createBonus: { scopes: ['bonuses'], roles: CREATORS, roleIn: 'source' },
  readBonuses: {
    scopes: ['read', 'bonuses'],
    roles: EVERY_ROLE,
    roleIn: 'source, or a destination of the same tenant',
  },
  readTemplate: { scopes: ['read', 'bonuses'], roles: null, roleIn: null },
  readBatches: { scopes: ['read', 'bonuses'], roles: EVERY_ROLE, roleIn: 'source' },
  /** A policy may exclude the uploader. */
  executeBatch: { scopes: ['bonuses'], roles: APPROVERS, roleIn: 'source' },
  withdrawBatch: { scopes: ['bonuses'], roles: MANAGERS, roleIn: 'source', rule: 'the uploader' },
  /** Single payouts, and uploads of batches. */
  createPayout: { scopes: ['payouts'], roles: CREATORS, roleIn: 'source' },
  /** Who holds a key of Bre-B. */
  lookUpPayoutRecipient: { scopes: ['payouts'], roles: null, roleIn: null },
  readPayouts: { scopes: ['read', 'payouts'], roles: EVERY_ROLE, roleIn: 'source' },
  approvePayout: {
    scopes: ['payouts'],
    roles: APPROVERS,
    roleIn: 'source',
    rule: 'not the creator',
  },
  cancelPayout: { scopes: ['payouts'], roles: MANAGERS, roleIn: 'source', rule: 'the creator' },
  readPayoutTemplate: { scopes: ['read', 'payouts'], roles: null, roleIn: null },
  readPayoutBatches: { scopes: ['read', 'payouts'], roles: EVERY_ROLE, roleIn: 'source' },
  executePayoutBatch: {
    scopes: ['payouts'],
    roles: APPROVERS,
    roleIn: 'source',
    rule: 'not the uploader',
  },
  withdrawPayoutBatch: {
    scopes: ['payouts'],
    roles: MANAGERS,
    roleIn: 'source',
    rule: 'the uploader',
  },
  readEvents: { scopes: ['read', 'webhooks'], roles: null, roleIn: null },
  /** The member's own requests; the token needs a scope that the request itself required. */
  readRequests: { scopes: SCOPES, roles: null, roleIn: null },
} as const satisfies Record<string, Permission>;

export type Operation = keyof typeof PERMISSIONS;

/** `role` is undefined for a member without a role in the account. */
export function roleAllows(operation: Operation, role: Role | undefined): boolean {
  const permission: Permission = PERMISSIONS[operation];
  return permission.roles === null || (role !== undefined && permission.roles.includes(role));
}

const OPERATIONS = Object.keys(PERMISSIONS) as readonly Operation[];

/** Returns the roles that permit everything that `role` permits, itself included. */
export function rolesCovering(role: Role): readonly Role[] {
  return ROLES.filter((held) =>
    OPERATIONS.every((operation) => !roleAllows(operation, role) || roleAllows(operation, held)),
  );
}

/** The member and tenant that a valid token speaks for. */
export interface TokenHolder {
  readonly tenantId: Uuid;
  readonly memberId: Uuid;
  readonly tokenKeyId: string;
  readonly scopes: readonly Scope[];
}

/** The holder of a request's token. The check of the token allows work to begin until the deadline. */
export interface Caller extends TokenHolder {
  readonly deadline: Deadline;
}
