import type { Amount, Asset } from '../../core/amount.js';
import type { BANK_ACCOUNT_TYPES, KeyType } from '../../db/entities/payouts.js';

/** The destinations of payouts, and which of them a rail takes. Pure. (docs/payouts.md, Rails) */

export const DESTINATION_TYPES = ['bank_account', 'bre_b_key'] as const;
export type DestinationType = (typeof DESTINATION_TYPES)[number];

export type BankAccountType = (typeof BANK_ACCOUNT_TYPES)[number];

/** A bank account in clear text, as the rail receives it. */
export interface BankAccount {
  readonly type: 'bank_account';
  readonly country: string;
  readonly bankCode: string;
  readonly accountType: BankAccountType;
  readonly accountNumber: string;
  readonly holderName: string;
  readonly holderDocument: string;
}

/** A key of Bre-B in clear text. */
export interface RecipientKey {
  readonly type: 'bre_b_key';
  readonly keyType: KeyType;
  readonly key: string;
}

/** A key as the rail receives it in an order. */
export interface KeyDestination extends RecipientKey {
  /** The rail's id of the holder that the tenant has checked. Null if it checked none. */
  readonly holder: string | null;
}

export type Destination = BankAccount | KeyDestination;

/** The country of Bre-B, by which the rail of a key is chosen. */
export const KEY_COUNTRY = 'CO';

/** Inclusive bounds of an amount in the asset's smallest unit. `max` is null without a maximum. */
interface AmountBounds {
  readonly min: bigint;
  readonly max: bigint | null;
}

/** An asset without bounds is taken in any amount. */
type AmountLimits = Readonly<Partial<Record<Asset, AmountBounds>>>;

/** The operator's settings of a rail: what it takes, and how long it may take to resolve a key. */
export interface RailTerms {
  /** A type without an entry is not taken. */
  readonly limits: Readonly<Partial<Record<DestinationType, AmountLimits>>>;
  /** A key has the first type whose format it has. */
  readonly keyFormats: ReadonlyMap<KeyType, RegExp>;
  readonly resolveWithinMs: number;
}

/** By the rail's name. A rail without terms pays any amount to bank accounts. */
export type AllRailTerms = ReadonlyMap<string, RailTerms>;

export const DEFAULT_RESOLVE_WITHIN_MS = 2_500;

/** The formats of a rail that has no formats of its own, in the order in which they are tried. */
export const DEFAULT_KEY_FORMATS: Readonly<Record<KeyType, string>> = {
  email: '[A-Za-z0-9._%+-]{1,30}@[A-Za-z0-9-]{1,40}(?:[.][A-Za-z0-9-]{2,20}){1,2}',
  alias: '@[A-Za-z0-9]{5,20}',
  phone: '(?:[+]57)?3[0-9]{9}',
  merchant: '00[0-9]{8}',
  document: '[0-9A-Z]{6,15}',
};

/** Compiles formats, which match whole keys. Throws SyntaxError if one is not a pattern. */
export function keyFormats(
  sources: Readonly<Partial<Record<KeyType, string>>>,
): ReadonlyMap<KeyType, RegExp> {
  const types = Object.keys(DEFAULT_KEY_FORMATS) as KeyType[];
  return new Map(
    types.flatMap((type) => {
      const source = sources[type];
      return source === undefined ? [] : [[type, new RegExp(`^(?:${source})$`, 'u')] as const];
    }),
  );
}

/** The terms of a gateway for which the operator has set none. */
export const GATEWAY_TERMS: RailTerms = {
  limits: { bank_account: {} },
  keyFormats: keyFormats(DEFAULT_KEY_FORMATS),
  resolveWithinMs: DEFAULT_RESOLVE_WITHIN_MS,
};
export const SIMULATED_TERMS: RailTerms = {
  ...GATEWAY_TERMS,
  limits: { bank_account: {}, bre_b_key: {} },
};

export function takesPayment(
  { limits }: RailTerms,
  type: DestinationType,
  { raw, asset }: Amount,
): boolean {
  const { min, max } = limits[type]?.[asset] ?? { min: 0n, max: null };
  return limits[type] !== undefined && raw >= min && (max === null || raw <= max);
}

/** Returns null if the key has none of the rail's formats. */
export function keyTypeOf({ keyFormats: formats }: RailTerms, key: string): KeyType | null {
  for (const [type, format] of formats) if (format.test(key)) return type;
  return null;
}
