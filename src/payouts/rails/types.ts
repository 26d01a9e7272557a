import type { Amount } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { PayoutDestination, RailStatement } from '../rules.js';
import type { ClearSecrets } from '../secrets.js';

/** What a rail is given. Giving it again under the same key requests nothing new. */
export interface RailOrder {
  /** The payout's id: a rail acts on it once, however often it arrives. */
  readonly key: Uuid;
  readonly amount: Amount;
  readonly destination: Omit<PayoutDestination, 'accountEnd'> & ClearSecrets;
  readonly description: string | null;
}

/** A way for money to bank accounts. Operations may be repeated; RailSilent: it is unknown what the rail did. */
export interface Rail {
  submit(order: RailOrder): Promise<RailStatement>;
  /** The outcome; null if the rail says that it never heard of the key. */
  status(key: Uuid): Promise<RailStatement | null>;
  /** Never to be paid, heard of or not. `voided` is forever; other statements are the outcome. Null: it cannot. */
  void(key: Uuid): Promise<RailStatement | null>;
}

export interface ListedPayment extends RailStatement {
  readonly key: Uuid;
  readonly amount: Amount;
}

export interface RailPage {
  readonly items: readonly ListedPayment[];
  /** The key after which the next page begins; null on the last. */
  readonly next: Uuid | null;
}

/** A rail that can list what it was given, even if we have lost it. */
export interface ListingRail extends Rail {
  /** Orders that first arrived at `since` or later, after the key `after`. Null if the rail cannot list. */
  list(since: Instant, after: Uuid | null): Promise<RailPage | null>;
}

export function canList(rail: Rail): rail is ListingRail {
  return 'list' in rail;
}

/** No conclusive answer: what the rail did is unknown. The message is for operators and contains no personal data. */
export class RailSilent extends Error {
  override name = 'RailSilent';
}

export type Rails = ReadonlyMap<string, Rail>;
