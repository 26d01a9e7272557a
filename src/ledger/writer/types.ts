import type { Asset } from '../../core/amount.js';
import type { Refusal } from '../../core/errors.js';
import type { Fingerprint } from '../../core/fingerprint.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import type { EntryKind, ResourceType } from '../../db/entities/ledger.js';
import type { Account } from '../../db/entities/parties.js';
import type { Table } from '../../db/table.js';
import type { EventDraft } from '../event-log.js';

/** The properties of every command: plain data that names what the command touches. */
export interface Command {
  readonly tenantId: Uuid;
  /** Binds the result: repeated, the same key gives the same result and moves nothing. */
  readonly key: string;
  readonly fingerprint: Fingerprint;
}

/** A kind of command, which its feature passes to the ledger writer. `Row` is what the command creates or changes. */
export interface CommandKind<C extends Command, Row extends { readonly id: Uuid }> {
  readonly name: string;
  readonly resourceType: ResourceType;
  /** Where the resource is read from when its key is repeated. */
  readonly table: Table<Row>;
  /**
   * For each command, the accounts it will touch: every one that it posts to, or whose state its decision depends on.
   * Runs before the lock. Accounts outside the reach of the command's tenant are omitted, so that nobody waits for a
   * lock on them. May use what it read a moment ago, unless `isRetry`: an account was missing that the decision found.
   */
  accounts(commands: readonly C[], reader: Reader, isRetry: boolean): Promise<Naming>;
  /**
   * What `decide` will request from the locked state, at about this instant. One SELECT for each table and shape of key
   * reads it for the whole group, after the locks and in the same text.
   */
  needs(command: C, at: Instant, ownerOf: OwnerFinder): readonly Need[];
  /** Pure. May throw only through our own fault, which then fails only this command. */
  decide(command: C, state: LockedState): Decision<Row>;
}

/** The owner of an account, which never changes. */
export type OwnerFinder = (accountId: Uuid) => Uuid | undefined;

export const NO_OWNERS: OwnerFinder = () => undefined;

export interface Naming {
  /** For each command. */
  readonly ids: readonly (readonly Uuid[])[];
  /** For kinds whose needs ask for the owners of accounts. */
  readonly ownerOf?: OwnerFinder;
}

/** For kinds whose commands themselves name the accounts that they touch. */
export function naming<C>(
  idsOf: (command: C) => readonly Uuid[],
): (commands: readonly C[]) => Promise<Naming> {
  return (commands) => Promise.resolve({ ids: commands.map(idsOf) });
}

/** Rows that equal `key`. The locked state finds them only by the same properties. Made by `need`. */
export interface Need {
  readonly table: Table<unknown>;
  readonly key: Readonly<Record<string, unknown>>;
}

export function need<Row>(table: Table<Row>, key: Partial<Row>): Need {
  return { table: table, key };
}

export interface AssetBalance {
  readonly available: bigint;
  readonly held: bigint;
}

export interface LockedAccount {
  readonly account: Account;
  readonly overdraft: boolean;
  readonly balances: Readonly<Record<Asset, AssetBalance>>;
}

/** What a decision may read: the locked accounts and the rows it needs, as left by earlier commands of the group. */
export interface LockedState {
  /** The instant of this command; its resource's and entries' `created_at`. */
  readonly at: Instant;
  /** Undefined if it does not exist. Requesting one that `accounts` did not name makes the group lock again. */
  account(id: Uuid): LockedAccount | undefined;
  /** The same for an account that `accounts` may have omitted, which is then undefined. */
  named(id: Uuid): LockedAccount | undefined;
  rows<Row>(table: Table<Row>, key: Partial<Row>): readonly Row[];
  row<Row>(table: Table<Row>, key: Partial<Row>): Row | undefined;
}

export interface EntryDraft {
  readonly accountId: Uuid;
  readonly asset: Asset;
  /** Signed; positive if the account gains. */
  readonly raw: bigint;
  readonly kind: EntryKind;
  readonly counterpartyAccountId: Uuid | null;
}

/** A ledger transaction to post: its entries sum to zero for each asset. */
export interface Posting {
  readonly relatedType: ResourceType;
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
      /** When it expires; absent unless expiries are found by their holds. */
      readonly expiresAt?: Instant | null;
    }
  /** Releases part or all. Spending is a release and a posting in one decision. */
  | { readonly change: 'release'; readonly resourceId: Uuid; readonly raw: bigint };

export interface MonthChange {
  readonly accountId: Uuid;
  readonly asset: Asset;
  readonly month: string;
  /** Signed; negative restores allowance. */
  readonly raw: bigint;
}

/** A resource row to insert, or a whole changed one. Made by `insertRow` and `changeRow`. */
export interface RowWrite {
  readonly table: Table<unknown>;
  readonly row: Readonly<Record<string, unknown>> & { readonly id: Uuid };
  readonly isNew: boolean;
}

export function insertRow<Row extends { readonly id: Uuid }>(
  table: Table<Row>,
  row: Row,
): RowWrite {
  return { table: table, row, isNew: true };
}

export function changeRow<Row extends { readonly id: Uuid }>(
  table: Table<Row>,
  row: Row,
): RowWrite {
  return { table: table, row, isNew: false };
}

export interface Writes {
  readonly postings?: readonly Posting[];
  readonly holds?: readonly HoldChange[];
  readonly months?: readonly MonthChange[];
  readonly rows?: readonly RowWrite[];
  readonly events?: readonly EventDraft[];
}

export type Outcome<Row> =
  | { readonly done: true; readonly resource: Row }
  | { readonly done: false; readonly refusal: Refusal };

export interface Decision<Row> {
  readonly outcome: Outcome<Row>;
  /** May accompany any outcome: a refusal can also settle something. */
  readonly writes: Writes;
  /** Whether the key is bound to this outcome forever. */
  readonly bindsKey: boolean;
}

export interface Answer<Row> {
  readonly outcome: Outcome<Row>;
  /** True if the key had been used before: nothing happened now. */
  readonly replayed: boolean;
}

/** Writes nothing and leaves the key free, unless the refusal is a rule's (422), which binds. */
export function refuse(refusal: Refusal, bindsKey: boolean): Decision<never> {
  return { outcome: { done: false, refusal }, writes: {}, bindsKey };
}
