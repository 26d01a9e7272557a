import type { Amount } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { PayoutDestination, RailStatement } from '../rules.js';
import type { ClearSecrets } from '../secrets.js';

/** What a rail is given. Whoever gives it again under the same key asks for nothing new. */
export interface RailOrder {
  /** The payout's id: a rail acts on it once, however often it comes. */
  readonly key: Uuid;
  readonly amount: Amount;
  readonly destination: Omit<PayoutDestination, 'accountEnd'> & ClearSecrets;
  readonly description: string | null;
}

/**
 * A way by which money reaches bank accounts. Every operation may be repeated without harm, and throws RailSilent where it
 * does not learn what the rail did.
 */
export interface Rail {
  submit(order: RailOrder): Promise<RailStatement>;
  /** What became of it; null where the rail says that it never heard of the key. */
  status(key: Uuid): Promise<RailStatement | null>;
  /**
   * Asks the rail never to pay the key, whether it heard of it or not. `voided` is for ever, for submissions that are still
   * on their way, too; any other statement is what became of it instead. Null where the rail says that it cannot void.
   */
  void(key: Uuid): Promise<RailStatement | null>;
}

/** What a rail has of one order, as it lists it. */
export interface ListedPayment extends RailStatement {
  readonly key: Uuid;
  readonly amount: Amount;
}

/** A page of that, by key. */
export interface RailPage {
  readonly items: readonly ListedPayment[];
  /** The key behind which the next page begins; null on the last. */
  readonly next: Uuid | null;
}

/** A rail that says what it was given, whoever remembers it here. */
export interface ListingRail extends Rail {
  /** The orders that first came at `since` or later, behind the key `after`. Null where the rail says that it cannot list. */
  list(since: Instant, after: Uuid | null): Promise<RailPage | null>;
}

export function canList(rail: Rail): rail is ListingRail {
  return 'list' in rail;
}

/** No answer, or none that tells: what the rail did is not known. The message is for operators and holds no personal data. */
export class RailSilent extends Error {
  override name = 'RailSilent';
}

/** The rails of this installation, by the names that payouts have. */
export type Rails = ReadonlyMap<string, Rail>;
