import type { BatchOperation } from './operations-batches.js';
import type { PayoutOperation } from './operations-payouts.js';

/** What a model run does, as plain data: so that a failing run is printed, shrunk and repeated as it is. */

/** The assets of docs/contract.md with the limits of a person (Amount; Limits and fees). */
export const LIMITS = {
  COPM: { scale: 2, minimum: 100_000n, maximum: 1_200_000_000n, month: 5_000_000_000n },
  DUSD: { scale: 6, minimum: 100_000n, maximum: 3_000_000_000n, month: 12_000_000_000n },
} as const;
export type AssetName = keyof typeof LIMITS;
export const ASSETS = Object.keys(LIMITS) as [AssetName, ...AssetName[]];

/** Who acts: the owner of tenant A's accounts, a member of A whose roles come and go, the owner of tenant B's accounts. */
export const ACTORS = ['owner', 'clerk', 'neighbour'] as const;
export type ActorName = (typeof ACTORS)[number];

/** Accounts by number: 0 to 4 of tenant A, 5 of B in its network, 6 of a stranger, 7 does not exist. */
export const ACCOUNT_COUNT = 8;
export const OWN_ACCOUNTS = 5;

export const MALFORMED = [
  'no key',
  'no amount',
  'decimals',
  'unknown field',
  'no JSON',
  'to itself',
] as const;

/** What is made under a key and listed, by the last part of its address. */
export const KEYED = ['transfers', 'bonuses', 'payouts', 'bonus_batches'] as const;
export type Keyed = (typeof KEYED)[number];

export interface ReadFilter {
  readonly account: number;
  readonly actor: ActorName;
  readonly asset: AssetName | null;
  readonly kind: string | null;
  /** Milliseconds before now, inclusive; null for no bound. */
  readonly sinceMs: number | null;
  readonly limit: number;
  readonly isUpward: boolean;
}

export interface TransferOperation {
  readonly op: 'transfer';
  readonly actor: ActorName;
  readonly from: number;
  readonly to: number;
  readonly asset: AssetName;
  readonly raw: bigint;
  readonly description: string | null;
}

export interface BonusOperation {
  readonly op: 'bonus';
  readonly actor: ActorName;
  readonly from: number;
  readonly to: number;
  /** How the recipient is named; whoever has no alias is named by the id. */
  readonly by: 'account_id' | 'alias';
  readonly asset: AssetName;
  readonly raw: bigint;
  readonly description: string | null;
  readonly reference: string | null;
}

export type Operation =
  | PayoutOperation
  | BatchOperation
  | TransferOperation
  | BonusOperation
  /** An earlier bonus once more: word for word, or with its key for another amount. */
  | {
      readonly op: 'bonus again';
      readonly nth: number;
      readonly actor: ActorName;
      readonly more: bigint;
    }
  /** All that the account has, and so much more. */
  | {
      readonly op: 'sweep';
      readonly from: number;
      readonly to: number;
      readonly asset: AssetName;
      readonly more: bigint;
    }
  /** An earlier request once more, word for word. */
  | { readonly op: 'again'; readonly nth: number; readonly actor: ActorName }
  /** The key of an earlier request for another amount. */
  | {
      readonly op: 'key reused';
      readonly nth: number;
      readonly actor: ActorName;
      readonly more: bigint;
    }
  | { readonly op: 'malformed'; readonly what: (typeof MALFORMED)[number] }
  | {
      readonly op: 'pay in';
      readonly account: number;
      readonly asset: AssetName;
      readonly raw: bigint;
    }
  /** The last pay-in's reference once more, with the same content or another. */
  | { readonly op: 'pay in again'; readonly isSame: boolean }
  | {
      readonly op: 'adjust';
      readonly account: number;
      readonly asset: AssetName;
      readonly raw: bigint;
      readonly direction: 'in' | 'out';
      readonly isPosted: boolean;
    }
  | { readonly op: 'verify'; readonly account: number; readonly actor: ActorName }
  | { readonly op: 'freeze'; readonly account: number; readonly isFrozen: boolean }
  | { readonly op: 'role'; readonly account: number; readonly role: string | null }
  | { readonly op: 'fee account'; readonly account: number }
  | {
      readonly op: 'fee';
      readonly asset: AssetName;
      readonly flat: bigint;
      readonly basisPoints: bigint;
      readonly cap: bigint | null;
    }
  | { readonly op: 'no fee'; readonly asset: AssetName }
  | {
      readonly op: 'policy';
      readonly account: number;
      readonly asset: AssetName;
      readonly actor: ActorName;
      readonly threshold: bigint;
      readonly approvals: number;
      readonly expiresInS: number;
    }
  | {
      readonly op: 'policy delay';
      readonly seconds: number | null;
    }
  | {
      readonly op: 'no policy' | 'read policy';
      readonly account: number;
      readonly asset: AssetName;
      readonly actor: ActorName;
    }
  /** What a member does with one that waits or, with `isAny`, with whichever transfer or payout there is. */
  | {
      readonly op: 'act';
      readonly verb: 'approve' | 'reject' | 'cancel';
      readonly nth: number;
      readonly actor: ActorName;
      readonly isAny: boolean;
      /** And at once again. */
      readonly isTwice: boolean;
      /** What happens before: its time passes, or its source is frozen for as long as the action takes. */
      readonly meanwhile: 'time' | 'freeze' | null;
    }
  /** A small one, of an account that is funded for it and whose policy asks for so many approvals of everything. */
  | {
      readonly op: 'pend';
      readonly what: 'transfer' | 'payout';
      readonly from: number;
      readonly to: number;
      readonly asset: AssetName;
      readonly raw: bigint;
      readonly approvals: number;
      readonly expiresInS: number;
      /** Of the clerk. */
      readonly role: string;
    }
  /** An earlier approve once more, with its key. */
  | { readonly op: 'approve again'; readonly nth: number; readonly actor: ActorName }
  /** The same by somebody of the staff, or somebody who only says so. */
  | {
      readonly op: 'staff action';
      readonly verb: 'approve' | 'reject' | 'cancel';
      readonly nth: number;
      readonly isStaff: boolean;
      readonly isAny: boolean;
    }
  /** The timer of one that waits, whether it is its time or not. */
  | { readonly op: 'timer'; readonly nth: number; readonly isDue: boolean }
  | { readonly op: 'time passes'; readonly ms: number }
  | { readonly op: 'read balances'; readonly account: number; readonly actor: ActorName }
  | { readonly op: 'read limits'; readonly account: number; readonly actor: ActorName }
  | ({ readonly op: 'read movements' } & ReadFilter)
  | ({ readonly op: 'read transfers' } & ReadFilter)
  | { readonly op: 'read transfer'; readonly nth: number; readonly actor: ActorName }
  /** Among those of what the key was for, or of something else. */
  | {
      readonly op: 'find by key';
      readonly nth: number;
      readonly actor: ActorName;
      readonly among: Keyed | null;
    }
  | ({ readonly op: 'read bonuses' } & ReadFilter)
  | { readonly op: 'read bonus'; readonly nth: number; readonly actor: ActorName }
  | ({ readonly op: 'read events' } & ReadFilter)
  | { readonly op: 'read event'; readonly nth: number; readonly actor: ActorName };
