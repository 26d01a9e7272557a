import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** What accounts are called and who holds them. */

/** Aliases that nobody may take. */
export const reservedAliases = defineTable(
  'reserved_aliases',
  {
    alias: column.string,
    reservedBy: column.string,
    createdAt: column.time,
  },
  ['alias'],
);
export type ReservedAlias = RowOf<typeof reservedAliases>;

/** When each alias of a tenant was last released. */
export const releasedAliases = defineTable(
  'released_aliases',
  {
    tenantId: column.uuid,
    alias: column.string,
    accountId: column.uuid,
    releasedAt: column.time,
  },
  ['tenantId', 'alias'],
);

export const DOCUMENT_TYPES = ['CC', 'CE', 'NIT', 'PASS', 'PEP'] as const;

/** What was declared about an account's holder. */
export const verifications = defineTable(
  'verifications',
  {
    accountId: column.uuid,
    legalName: column.string,
    documentType: column.oneOf(DOCUMENT_TYPES),
    /** Sealed: never in clear text at rest. */
    documentNumber: column.bytes,
    documentKeyId: column.string,
    documentLast4: column.string,
    /** ISO 3166 alpha-2 */
    country: column.string,
    declaredAt: column.time,
    updatedAt: column.time,
  },
  ['accountId'],
);
export type Verification = RowOf<typeof verifications>;

/** A tenant's own quotas, set by operators; null: the default. */
export const tenantQuotas = defineTable(
  'tenant_quotas',
  {
    tenantId: column.uuid,
    openBatches: column.nullable(column.bigint),
    problemRows: column.nullable(column.bigint),
    unpaidRows: column.nullable(column.bigint),
    storedBytes: column.nullable(column.bigint),
    statementRows: column.nullable(column.bigint),
    /** How many new people it, or one of its tokens, may look up at once. */
    newRecipients: column.nullable(column.bigint),
  },
  ['tenantId'],
);
export type TenantQuotas = RowOf<typeof tenantQuotas>;

/** Limits that operators set for one account; null: those of its type. */
export const accountLimits = defineTable(
  'account_limits',
  {
    accountId: column.uuid,
    asset: column.asset,
    minimum: column.nullable(column.bigint),
    maximum: column.nullable(column.bigint),
    month: column.nullable(column.bigint),
  },
  ['accountId', 'asset'],
);
export type AccountLimits = RowOf<typeof accountLimits>;

export const AUDIT_CHANNELS = ['api', 'ops', 'temporal', 'support'] as const;

const actColumns = {
  id: column.uuid,
  tenantId: column.nullable(column.uuid),
  at: column.time,
  channel: column.oneOf(AUDIT_CHANNELS),
  /** `member:<id>`, or a name of the staff; the claimed one in refused acts, and before staff were verified. */
  actorClaimed: column.string,
  /** `token.revoke` */
  action: column.string,
  subjectType: column.string,
  subjectId: column.string,
  /** A flat JSON object: ids, amounts, states and reasons, never secrets or personal data. */
  details: column.string,
};

/** Every privileged act. The application can neither change nor delete a row. */
export const auditLog = defineTable('audit_log', actColumns);
export type AuditRow = RowOf<typeof auditLog>;

/** The same with its place in its chain (db/audit-hash.ts); all null for lines older than the chains. */
export const chainedActs = defineTable('audit_log', {
  ...actColumns,
  chainId: column.nullable(column.uuid),
  /** Gapless in its chain, from 1. */
  sequence: column.nullable(column.bigint),
  previousHash: column.nullable(column.bytes),
  hash: column.nullable(column.bytes),
});
export type ChainedAct = RowOf<typeof chainedActs>;

/** The last act of each chain. Locked after everything else of a transaction. */
export const auditChains = defineTable(
  'audit_chains',
  {
    chainId: column.uuid,
    lastSequence: column.bigint,
    lastHash: column.bytes,
  },
  ['chainId'],
);
export type AuditChain = RowOf<typeof auditChains>;

/** What a chain's first act follows if some are older than the chain: their number and hash. Never written again. */
export const auditAnchors = defineTable(
  'audit_anchors',
  {
    chainId: column.uuid,
    acts: column.bigint,
    hash: column.bytes,
  },
  ['chainId'],
);
export type AuditAnchor = RowOf<typeof auditAnchors>;
