import type { Amount } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
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

/** No answer, or none that tells: what the rail did is not known. The message is for operators and holds no personal data. */
export class RailSilent extends Error {
  override name = 'RailSilent';
}

/** The rails of this installation, by the names that payouts have. */
export type Rails = ReadonlyMap<string, Rail>;
