import type { Asset } from '../../core/amount.js';
import type { Outcome, Refusal } from '../../core/errors.js';
import type { Fingerprint } from '../../core/fingerprint.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import type { EntryKind, PostedType, ResourceType } from '../../db/entities/ledger.js';
import type { LockableAccount } from '../../db/entities/parties.js';
import type { Table } from '../../db/table.js';
import type { EventDraft } from '../event-log.js';

/** Properties of every command. A command is plain data and contains the ids of what it touches. */
export interface Command {
  readonly tenantId: Uuid;
  /** Idempotency key. A repeated key returns the same result and moves no money. */
  readonly key: string;
  readonly fingerprint: Fingerprint;
}

/** Each feature defines its kinds. `Row` is the resource that the command creates or changes. */
export interface CommandKind<C extends Command, Row extends { readonly id: Uuid }> {
  readonly name: string;
  readonly resourceType: ResourceType;
  /** Table from which a replay reads the resource. */
  readonly table: Table<Row>;
  /**
   * Determines the accounts that each command posts to or whose state its decision reads, before
   * locking. Omits accounts that the command's tenant may not touch, so that no tenant waits for
   * another's locks. May use cached data unless `isRetry` is set.
   */
  accounts(commands: readonly C[], reader: Reader, isRetry: boolean): Promise<CommandAccounts>;
  /**
   * Returns keys of the rows that `decide` reads. The writer reads them under the locks, once for the
   * whole group. `at` is close to the time of the decision.
   */
  rowKeys(command: C, at: Instant, ownerOf: OwnerFinder): readonly RowKey[];
  /** Must be pure. Throws only because of a bug, which then fails only this command. */
  decide(command: C, state: LockedState): Decision<Row>;
}

export type OwnerFinder = (accountId: Uuid) => Uuid | undefined;

export const NO_OWNERS: OwnerFinder = () => undefined;

interface CommandAccounts {
  readonly ids: readonly (readonly Uuid[])[];
  /** Required by kinds whose `rowKeys` depend on the owners of accounts. */
  readonly ownerOf?: OwnerFinder;
}

/** Implements `accounts` for kinds whose commands contain the ids of all their accounts. */
export function accountsFrom<C>(
  idsOf: (command: C) => readonly Uuid[],
): (commands: readonly C[]) => Promise<CommandAccounts> {
  return (commands) => Promise.resolve({ ids: commands.map(idsOf) });
}

/** Rows to read: those with these values. `LockedState` returns only rows of requested keys. */
export interface RowKey {
  readonly table: Table<unknown>;
  readonly key: Readonly<Record<string, unknown>>;
}

export function rowKey<Row>(table: Table<Row>, key: Partial<Row>): RowKey {
  return { table, key };
}

interface AssetBalance {
  readonly available: bigint;
  readonly held: bigint;
}

export interface LockedAccount {
  readonly account: LockableAccount;
  readonly overdraft: boolean;
  readonly balances: Readonly<Record<Asset, AssetBalance>>;
}

/** Locked accounts and requested rows, as earlier commands of the group have left them. */
export interface LockedState {
  /** Time of this command, and `created_at` of its resource and entries. */
  readonly at: Instant;
  /** Undefined if the account does not exist. Restarts the group if the account is not locked. */
  account(id: Uuid): LockedAccount | undefined;
  /** Returns undefined if the account does not exist or `accounts` omitted it. */
  accountIfLocked(id: Uuid): LockedAccount | undefined;
  rows<Row>(table: Table<Row>, key: Partial<Row>): readonly Row[];
  row<Row>(table: Table<Row>, key: Partial<Row>): Row | undefined;
}

export interface EntryDraft {
  readonly accountId: Uuid;
  readonly asset: Asset;
  readonly raw: bigint;
  readonly kind: EntryKind;
  readonly counterpartyAccountId: Uuid | null;
}

/** A ledger transaction to post. Its entries sum to zero for each asset. */
export interface Posting {
  readonly relatedType: PostedType;
  readonly relatedId: Uuid;
  readonly description: string | null;
  readonly entries: readonly EntryDraft[];
}

export type HoldChange =
  | {
      readonly change: 'place';
      readonly resourceId: Uuid;
      readonly resourceType: ResourceType;
      readonly accountId: Uuid;
      readonly asset: Asset;
      readonly raw: bigint;
      /** Set only if a sweep finds expired resources by their holds. */
      readonly expiresAt?: Instant | null;
    }
  | { readonly change: 'extend'; readonly resourceId: Uuid; readonly expiresAt: Instant }
  /** To spend held money, a decision releases it and posts. */
  | { readonly change: 'release'; readonly resourceId: Uuid; readonly raw: bigint };

interface MonthChange {
  readonly accountId: Uuid;
  readonly asset: Asset;
  readonly month: string;
  readonly raw: bigint;
}

/** A new row, or all columns of a changed one. Made by `insertRow` and `changeRow`. */
export interface RowWrite {
  readonly table: Table<unknown>;
  readonly row: Readonly<Record<string, unknown>> & { readonly id: Uuid };
  readonly isNew: boolean;
}

export function insertRow<Row extends { readonly id: Uuid }>(
  table: Table<Row>,
  row: Row,
): RowWrite {
  return { table, row, isNew: true };
}

export function changeRow<Row extends { readonly id: Uuid }>(
  table: Table<Row>,
  row: Row,
): RowWrite {
  return { table, row, isNew: false };
}

export interface Writes {
  readonly postings?: readonly Posting[];
  readonly holds?: readonly HoldChange[];
  readonly months?: readonly MonthChange[];
  readonly rows?: readonly RowWrite[];
  readonly events?: readonly EventDraft[];
}

export interface Decision<Row> {
  readonly outcome: Outcome<Row>;
  /** A refusal may have writes too. */
  readonly writes: Writes;
  /** Whether the key is bound to this outcome permanently. */
  readonly bindsKey: boolean;
}

/** Refuses the command without writes and binds no key. Business rules (422) set `bindsKey`. */
export function refuse(refusal: Refusal): Decision<never> {
  return { outcome: { done: false, refusal }, writes: {}, bindsKey: false };
}

/** Does the command and binds its key. */
export function accept<Row>(resource: Row, writes: Writes): Decision<Row> {
  return { outcome: { done: true, resource }, writes, bindsKey: true };
}

/** Does nothing, because the resource needs no change, and binds no key. */
export function leaveUnchanged<Row>(resource: Row): Decision<Row> {
  return { outcome: { done: true, resource }, writes: {}, bindsKey: false };
}
