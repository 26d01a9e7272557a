import type { ActorName, AssetName, ReadFilter } from './operations.js';

/** What a model run does with batches: by members, by the workflow that works on them, by support and by time. */

/** What can be wrong with a row, beside what its numbers say. */
export const ROW_FAULTS = [
  'nobody',
  'formula',
  'decimals',
  'no amount',
  'no asset',
  'other asset',
] as const;

export interface WantedRow {
  readonly to: number;
  /** How the recipient is named; whoever has no alias is named by the id. */
  readonly by: 'account_id' | 'alias';
  readonly raw: bigint;
  readonly fault: (typeof ROW_FAULTS)[number] | null;
  readonly description: string | null;
  readonly reference: string | null;
}

export interface UploadOperation {
  readonly op: 'upload';
  readonly actor: ActorName;
  readonly from: number;
  readonly asset: AssetName;
  readonly description: string | null;
  readonly rows: readonly WantedRow[];
  /** Whether the header names the column of the amounts. */
  readonly hasAmounts: boolean;
}

/** How far it comes, or what stands in its way. */
export const BATCH_WAYS = [
  ...([
    'ready',
    'by its uploader',
    'withdrawn',
    'withdrawn',
    'lapsed',
    'lapsed',
    'executed',
  ] as const),
  ...([
    'paused',
    'paused',
    'canceled',
    'canceled',
    'canceled',
    'frozen',
    'paid',
    'paid',
    'paid',
    'paid',
  ] as const),
] as const;
export type BatchWay = (typeof BATCH_WAYS)[number];

export type BatchOperation =
  | UploadOperation
  /** An earlier file under its key: the same bytes, or one row more. */
  | {
      readonly op: 'upload again';
      readonly nth: number;
      readonly actor: ActorName;
      readonly isSame: boolean;
    }
  /** One that goes a whole way. Its clerk, of that role, executes what the owner has uploaded. */
  | {
      readonly op: 'batch';
      readonly from: number;
      readonly asset: AssetName;
      readonly rows: readonly WantedRow[];
      readonly role: string;
      /** A last row asks for all that the account has, or for what the others leave of it: then all is held. */
      readonly last: 'all' | 'rest' | null;
      readonly way: BatchWay;
    }
  | { readonly op: 'validate'; readonly nth: number }
  /** With `isAny` whichever batch there is, else one that is ready. */
  | {
      readonly op: 'execute';
      readonly nth: number;
      readonly actor: ActorName;
      readonly isAny: boolean;
    }
  /** An earlier execution under its key. */
  | { readonly op: 'execute again'; readonly nth: number; readonly actor: ActorName }
  /** So many rows, null for all up to the end, while the source is frozen or not. */
  | {
      readonly op: 'pay rows';
      readonly nth: number;
      readonly count: number | null;
      readonly isFrozen: boolean;
    }
  | {
      readonly op: 'withdraw';
      readonly nth: number;
      readonly actor: ActorName;
      readonly isAny: boolean;
    }
  | {
      readonly op: 'steer';
      readonly nth: number;
      readonly act: 'pause' | 'resume' | 'cancel';
      readonly of: 'ready' | 'executing' | null;
    }
  /** By time, when it has been ready for so long. */
  | {
      readonly op: 'lapse';
      readonly nth: number;
      readonly readyForMs: number;
      readonly isAny: boolean;
    }
  | { readonly op: 'read batch' | 'read rows'; readonly nth: number; readonly actor: ActorName }
  | {
      readonly op: 'read file';
      readonly nth: number;
      readonly actor: ActorName;
      readonly file: 'errors' | 'result';
    }
  | ({ readonly op: 'read batches' } & ReadFilter);
