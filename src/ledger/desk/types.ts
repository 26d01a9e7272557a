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

/** What every command to the desk has: plain data that names what it touches. */
export interface Command {
  readonly tenantId: Uuid;
  /** Binds the result: asked again, the same key gives the same result and moves nothing. */
  readonly key: string;
  readonly fingerprint: Fingerprint;
}

/**
 * One kind of command, given to the desk by the feature that it belongs to, so that the ledger knows no feature.
 * `Row` is the resource that the command makes or changes.
 */
export interface CommandKind<C extends Command, Row extends { readonly id: Uuid }> {
  readonly name: string;
  readonly resourceType: ResourceType;
  /** Where the resource is read from when its key is asked again. */
  readonly table: Table<Row>;
  /**
   * For each command the accounts it will touch: every one that it posts to, or whose state it decides by. Runs before the
   * lock. What is no business of the command's tenant is left out, so that nobody waits for a stranger's lock.
   */
  accounts(commands: readonly C[], reader: Reader): Promise<Naming>;
  /**
   * What `decide` will ask the locked state for, at about this instant. One SELECT for each table and shape of key reads it for the whole
   * group, behind the locks and in one text with them.
   */
  needs(command: C, at: Instant, ownerOf: OwnerFinder): readonly Need[];
  /** Pure. May throw only for a fault of ours, which then fails this command alone. */
  decide(command: C, state: LockedState): Decision<Row>;
}

/** Whose account it is, which never changes. */
export type OwnerFinder = (accountId: Uuid) => Uuid | undefined;

export const NO_OWNERS: OwnerFinder = () => undefined;

export interface Naming {
  /** For each command. */
  readonly ids: readonly (readonly Uuid[])[];
  /** For kinds whose needs ask for the owners of accounts. */
  readonly ownerOf?: OwnerFinder;
}

/** For kinds whose commands say themselves which accounts they touch. */
export function naming<C>(idsOf: (command: C) => readonly Uuid[]): (commands: readonly C[]) => Promise<Naming> {
  return (commands) => Promise.resolve({ ids: commands.map(idsOf) });
}

/** Rows that equal `key`. The locked state finds them by the same properties alone. Made by `need`. */
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

/** What a decision may know: the locked accounts and the rows it needs, as earlier commands of the group left them. */
export interface LockedState {
  /** The instant of this command; its resource's and entries' `created_at`. */
  readonly at: Instant;
  /** Undefined when there is no such account. Asking for one that `accounts` did not name makes the group lock again. */
  account(id: Uuid): LockedAccount | undefined;
  /** The same for an account that `accounts` may have left out: undefined then. */
  named(id: Uuid): LockedAccount | undefined;
  rows<Row>(table: Table<Row>, key: Partial<Row>): readonly Row[];
  row<Row>(table: Table<Row>, key: Partial<Row>): Row | undefined;
}

export interface EntryDraft {
  readonly accountId: Uuid;
  readonly asset: Asset;
  /** Signed: what the account gains. */
  readonly raw: bigint;
  readonly kind: EntryKind;
  readonly counterpartyAccountId: Uuid | null;
}

/** A ledger transaction to be: its entries sum to zero for each asset. */
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
      /** By when something has to be decided about it; left out: by nothing that is found by its hold. */
      readonly expiresAt?: Instant | null;
    }
  /** Gives back a part or all. What is spent is released and posted in one decision. */
  | { readonly change: 'release'; readonly resourceId: Uuid; readonly raw: bigint };

export interface MonthChange {
  readonly accountId: Uuid;
  readonly asset: Asset;
  readonly month: string;
  /** Signed: negative gives back. */
  readonly raw: bigint;
}

/** A resource row to insert, or the whole of a changed one. Made by `insertRow` and `changeRow`. */
export interface RowWrite {
  readonly table: Table<unknown>;
  readonly row: Readonly<Record<string, unknown>> & { readonly id: Uuid };
  readonly isNew: boolean;
}

export function insertRow<Row extends { readonly id: Uuid }>(table: Table<Row>, row: Row): RowWrite {
  return { table: table, row, isNew: true };
}

export function changeRow<Row extends { readonly id: Uuid }>(table: Table<Row>, row: Row): RowWrite {
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
  { readonly done: true; readonly resource: Row } | { readonly done: false; readonly refusal: Refusal };

export interface Decision<Row> {
  readonly outcome: Outcome<Row>;
  /** May accompany any outcome: a refusal can settle something too. */
  readonly writes: Writes;
  /** Whether the key gives this outcome for ever. */
  readonly bindsKey: boolean;
}

export interface Answer<Row> {
  readonly outcome: Outcome<Row>;
  /** True when the key had been used before: nothing happened now. */
  readonly replayed: boolean;
}

/** Nothing is written and the key stays free, unless the refusal is a rule's (422), which binds. */
export function refuse(refusal: Refusal, bindsKey: boolean): Decision<never> {
  return { outcome: { done: false, refusal }, writes: {}, bindsKey };
}
