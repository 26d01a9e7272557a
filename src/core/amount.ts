/**
 * Money: an integer count of an asset's smallest unit, always a bigint inside and decimal text outside.
 * (docs/contract.md, Amount)
 */

export const ASSETS = ['COPM', 'DUSD'] as const;
export type Asset = (typeof ASSETS)[number];

/** How many decimals the asset's unit has when shown to a person: COPM in cents, DUSD in millionths. */
export const ASSET_SCALE: Readonly<Record<Asset, number>> = { COPM: 2, DUSD: 6 };

/** The largest amount, total or sum that a signed 64-bit column holds. */
export const MAX_RAW = 9_223_372_036_854_775_807n;

/** `raw` is in the asset's smallest unit. */
export interface Amount {
  readonly raw: bigint;
  readonly asset: Asset;
}

/** An Amount as it travels in JSON. */
export interface AmountJson {
  readonly raw: string;
  readonly asset: Asset;
}

export const RAW_PATTERN = /^(0|[1-9][0-9]{0,18})$/;

/** The amount that the text names exactly, or null: decimals, signs, spaces, exponents and what 64 bits cannot hold are none. */
export function parseRaw(text: string): bigint | null {
  if (!RAW_PATTERN.test(text)) return null;
  const raw = BigInt(text);
  return raw <= MAX_RAW ? raw : null;
}

export function isAsset(text: string): text is Asset {
  return (ASSETS as readonly string[]).includes(text);
}

export function amountJson(amount: Amount): AmountJson {
  return { raw: amount.raw.toString(), asset: amount.asset };
}

/** True when a signed 64-bit column holds the value. */
export function fitsColumn(value: bigint): boolean {
  return value <= MAX_RAW && value >= -MAX_RAW;
}

/** The amount in whole units for a person's eye ("1,234.50 COPM"). For messages only, never for arithmetic. */
export function formatAmount(amount: Amount): string {
  const scale = ASSET_SCALE[amount.asset];
  const digits = amount.raw
    .toString()
    .replace('-', '')
    .padStart(scale + 1, '0');
  const whole = digits.slice(0, -scale).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${amount.raw < 0n ? '-' : ''}${whole}.${digits.slice(-scale)} ${amount.asset}`;
}
