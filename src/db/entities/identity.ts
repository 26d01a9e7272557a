import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Aliases that are not available to accounts. */
export const reservedAliases = defineTable(
  'reserved_aliases',
  {
    alias: column.ascii(32),
    reservedBy: column.varchar(80),
    createdAt: column.time,
  },
  { key: ['alias'] },
);
export type ReservedAlias = RowOf<typeof reservedAliases>;

/** When each alias of a tenant was last released. */
export const releasedAliases = defineTable(
  'released_aliases',
  {
    tenantId: column.uuid,
    alias: column.ascii(32),
    accountId: column.uuid,
    releasedAt: column.time,
  },
  { key: ['tenantId', 'alias'] },
);

export const DOCUMENT_TYPES = ['CC', 'CE', 'NIT', 'PASS', 'PEP'] as const;

/** Declared identity of an account's holder. */
export const verifications = defineTable(
  'verifications',
  {
    accountId: column.uuid,
    legalName: column.varchar(120),
    documentType: column.oneOf(DOCUMENT_TYPES),
    /** Encrypted. */
    documentNumber: column.varbinary(200),
    documentKeyId: column.ascii(32),
    documentLast4: column.ascii(4),
    country: column.asciiChar(2),
    declaredAt: column.time,
    updatedAt: column.time,
  },
  { key: ['accountId'], indexes: { documentKey: ['documentKeyId', 'accountId'] } },
);
export type Verification = RowOf<typeof verifications>;

/** A tenant's own quotas. Null for the default. */
export const tenantQuotas = defineTable(
  'tenant_quotas',
  {
    tenantId: column.uuid,
    openBatches: column.nullable(column.bigint),
    problemRows: column.nullable(column.bigint),
    unpaidRows: column.nullable(column.bigint),
    storedBytes: column.nullable(column.bigint),
    statementRows: column.nullable(column.bigint),
    accounts: column.nullable(column.bigint),
    members: column.nullable(column.bigint),
    tokens: column.nullable(column.bigint),
    /** How many new people the tenant, or one of its tokens, may look up at once. */
    newRecipients: column.nullable(column.bigint),
  },
  { key: ['tenantId'] },
);
export type TenantQuotas = RowOf<typeof tenantQuotas>;

/** Limits of one account. Null for the limit of its type. */
export const accountLimits = defineTable(
  'account_limits',
  {
    accountId: column.uuid,
    asset: column.asset,
    minimum: column.nullable(column.bigint),
    maximum: column.nullable(column.bigint),
    month: column.nullable(column.bigint),
  },
  { key: ['accountId', 'asset'] },
);
export type AccountLimits = RowOf<typeof accountLimits>;

export const AUDIT_CHANNELS = ['api', 'ops', 'temporal', 'support'] as const;

const auditColumns = {
  id: column.uuid,
  tenantId: column.nullable(column.uuid),
  at: column.time,
  channel: column.oneOf(AUDIT_CHANNELS),
  /** `member:<id>`, or a staff name. In refused actions, the name that the caller claimed. */
  actorClaimed: column.varchar(120),
  action: column.ascii(60),
  subjectType: column.ascii(40),
  subjectId: column.varchar(120),
  /** A flat JSON object of ids, amounts, states and reasons, without secrets or personal data. */
  details: column.string,
};

/** Every privileged action. The application can neither change nor delete a row. */
export const auditLog = defineTable('audit_log', auditColumns);
export type AuditRow = RowOf<typeof auditLog>;

/** Lines of the audit log with sequence numbers and hashes (src/db/audit-hash.ts). */
export const chainedAuditLog = defineTable(
  'audit_log',
  {
    ...auditColumns,
    chainId: column.uuid,
    /** Gapless in its chain, from 1. */
    sequence: column.bigint,
    previousHash: column.binary(32),
    hash: column.binary(32),
  },
  {
    unique: { chain: ['chainId', 'sequence'] },
    indexes: {
      channelAction: ['channel', 'action', 'id'],
      subject: ['subjectId', 'id'],
      tenant: ['tenantId', 'id'],
    },
  },
);
export type ChainedAuditRow = RowOf<typeof chainedAuditLog>;

/** The last line of each chain. Locked after everything else of a transaction. */
export const auditChains = defineTable(
  'audit_chains',
  {
    chainId: column.uuid,
    lastSequence: column.bigint,
    lastHash: column.binary(32),
  },
  { key: ['chainId'] },
);
export type AuditChain = RowOf<typeof auditChains>;
