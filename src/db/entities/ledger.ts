import type { Asset } from '../../core/amount.js';
import { maxInstant } from '../../core/instant.js';
import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';
import type { Account } from './parties.js';

/** Kinds that owners see (docs/contract.md, Movements), and those of system accounts. */
export const MOVEMENT_KINDS = [
  'transfer_in',
  'transfer_out',
  'bonus_in',
  'bonus_out',
  'payin_in',
  'payout_out',
  'fee_out',
  'adjustment_in',
  'adjustment_out',
] as const;
export type MovementKind = (typeof MOVEMENT_KINDS)[number];
export const ENTRY_KINDS = [...MOVEMENT_KINDS, 'system_in', 'system_out'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** Types of the operations that post movements. */
export const POSTED_TYPES = ['transfer', 'bonus', 'payout', 'payin', 'adjustment'] as const;
export type PostedType = (typeof POSTED_TYPES)[number];

export const RESOURCE_TYPES = [...POSTED_TYPES, 'bonus_batch', 'payout_batch'] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** Types of resources that an idempotency key creates, inside and outside the ledger. */
export const KEY_RESOURCE_TYPES = [
  ...RESOURCE_TYPES,
  'webhook_endpoint',
  'statement',
  'schedule',
  'account',
  'member',
  'token',
] as const;

export type KeyResourceType = (typeof KEY_RESOURCE_TYPES)[number];

export const ledgerTransactions = defineTable('ledger_transactions', {
  id: column.uuid,
  tenantId: column.uuid,
  relatedType: column.oneOf(RESOURCE_TYPES),
  relatedId: column.uuid,
  description: column.nullable(column.varchar(140)),
  createdAt: column.time,
});
export type LedgerTransaction = RowOf<typeof ledgerTransactions>;

export const entries = defineTable(
  'entries',
  {
    accountId: column.uuid,
    /** Gapless for each account, from 1, across all assets. */
    seq: column.bigint,
    id: column.uuid,
    transactionId: column.uuid,
    asset: column.asset,
    kind: column.oneOf(ENTRY_KINDS),
    raw: column.bigint,
    /** Available and held, in the asset, after this entry. */
    totalAfter: column.bigint,
    counterpartyAccountId: column.nullable(column.uuid),
    createdAt: column.time,
  },
  { key: ['accountId', 'seq'], indexes: { assetKind: ['accountId', 'asset', 'kind', 'seq'] } },
);
export type Entry = RowOf<typeof entries>;

export const balances = defineTable(
  'balances',
  {
    accountId: column.uuid,
    asset: column.asset,
    available: column.bigint,
    held: column.bigint,
    /** Only system accounts may go below zero. */
    overdraft: column.boolean,
    /** Sequence of the account's last entry in this asset; 0 before the first. */
    seq: column.bigint,
    /** When a command last changed the balance, or operators the account's date. */
    lastPostedAt: column.time,
  },
  { key: ['accountId', 'asset'] },
);
export type Balance = RowOf<typeof balances>;

/** Returns the balance of an account that is older than the asset, and so has no row for it. */
export function noBalance(
  { id, type, createdAt }: Pick<Account, 'id' | 'type' | 'createdAt'>,
  asset: Asset,
): Balance {
  return {
    accountId: id,
    asset,
    available: 0n,
    held: 0n,
    overdraft: type === 'system',
    seq: 0n,
    lastPostedAt: createdAt,
  };
}

/** The sequence of an account's last entry, and the instant of its last change. */
export type LastPosting = Pick<Balance, 'seq' | 'lastPostedAt'>;

/** Returns the latest of all balances of an account. Throws without balances. */
export function lastPostingOf(own: readonly LastPosting[]): LastPosting {
  return own.reduce((one, other) => ({
    seq: one.seq > other.seq ? one.seq : other.seq,
    lastPostedAt: maxInstant(one.lastPostedAt, other.lastPostedAt),
  }));
}

/** Holds, at most one per resource. `remaining` is 0 once the hold has ended. */
export const holds = defineTable(
  'holds',
  {
    resourceId: column.uuid,
    resourceType: column.oneOf(RESOURCE_TYPES),
    accountId: column.uuid,
    asset: column.asset,
    raw: column.bigint,
    remaining: column.bigint,
    createdAt: column.time,
    /** When a transfer that waits for approval or capture expires; null for everything else. */
    expiresAt: column.nullable(column.time),
  },
  {
    key: ['resourceId'],
    indexes: {
      account: ['accountId', 'asset', 'remaining'],
      expiring: ['resourceType', 'expiresAt'],
    },
  },
);
export type Hold = RowOf<typeof holds>;

/** Monthly outflow of an account, including pending operations, excluding fees. */
export const monthTotals = defineTable(
  'month_totals',
  {
    accountId: column.uuid,
    asset: column.asset,
    month: column.asciiChar(7),
    used: column.bigint,
  },
  { key: ['accountId', 'asset', 'month'] },
);
export type MonthTotal = RowOf<typeof monthTotals>;

export const idempotencyKeys = defineTable(
  'idempotency_keys',
  {
    tenantId: column.uuid,
    idempotencyKey: column.ascii(100),
    /** HMAC of the request, or a plain SHA-256 for the service's own commands. */
    fingerprint: column.varbinary(32),
    fingerprintKeyId: column.ascii(32),
    resourceType: column.oneOf(KEY_RESOURCE_TYPES),
    /** Null if the request was refused. */
    resourceId: column.nullable(column.uuid),
    refusal: column.nullable(column.string),
    createdAt: column.time,
    /** Id of the transaction that bound the key. Shows whether an unknown COMMIT was executed. */
    commitId: column.nullable(column.binary(8)),
  },
  { key: ['tenantId', 'idempotencyKey'] },
);
export type IdempotencyKey = RowOf<typeof idempotencyKeys>;
