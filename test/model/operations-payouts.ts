import type { ActorName, AssetName, ReadFilter } from './operations.js';

/** What a model run does with payouts: by members, and by the rail that they are given to. */

/** One word of the rail. `unknown`: it never heard of the payout; of an order it is as good as `silent`. */
export interface RailWord {
  readonly said: 'accepted' | 'completed' | 'failed' | 'returned' | 'voided' | 'unknown' | 'silent';
  readonly failure: 'account_closed' | 'bank_unavailable' | null;
  /** The rail's name for it. There is a second one where the rail mistakes it for another payment. */
  readonly reference: 'R-1' | 'R-2' | null;
}

export interface WantedPayout {
  readonly op: 'payout';
  readonly actor: ActorName;
  readonly from: number;
  readonly asset: AssetName;
  readonly raw: bigint;
  readonly description: string | null;
}

/** How far it comes; `lost`: its rail never heard of it, `refused`: its source is frozen when it is approved. */
export const PAYOUT_WAYS = [
  ...([
    'handed over',
    'handed over',
    'completed',
    'failed',
    'failed',
    'lost',
    'lost',
    'lost',
    'returned',
  ] as const),
  ...([
    'canceled once approved',
    'approved',
    'approved',
    'refused',
    'rejected',
    'canceled',
    'canceled',
  ] as const),
] as const;
export type PayoutWay = (typeof PAYOUT_WAYS)[number];

export type PayoutOperation =
  | WantedPayout
  /** An earlier one once more: word for word, or with its key for another amount. */
  | {
      readonly op: 'payout again';
      readonly nth: number;
      readonly actor: ActorName;
      readonly more: bigint;
    }
  /** A small one that goes a whole way, of an account that is funded for it. Its clerk approves or rejects. */
  | {
      readonly op: 'pay out';
      readonly from: number;
      readonly asset: AssetName;
      readonly raw: bigint;
      readonly role: string;
      readonly way: PayoutWay;
      readonly words: readonly [RailWord, RailWord];
    }
  /** One that was approved and is not with its rail yet. */
  | { readonly op: 'cancel approved'; readonly nth: number; readonly actor: ActorName }
  /**
   * What its workflow does, and what the rail says to the first and the second question. `open`: one that is approved or in
   * progress. Of one that has ended the rail is asked by nobody's workflow.
   */
  | {
      readonly op: 'hand over';
      readonly nth: number;
      readonly of: 'open' | 'ended' | 'any';
      readonly isAsked: boolean;
      readonly words: readonly [RailWord, RailWord];
    }
  /** What the rail tells by itself. */
  | {
      readonly op: 'callback';
      readonly nth: number;
      readonly of: 'open' | 'ended' | 'any';
      readonly word: RailWord;
    }
  /** An earlier one once more: word for word, or with its id for something else. */
  | { readonly op: 'callback again'; readonly nth: number; readonly isSame: boolean }
  | { readonly op: 'read payout'; readonly nth: number; readonly actor: ActorName }
  | ({ readonly op: 'read payouts' } & ReadFilter);
