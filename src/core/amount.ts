/** Amounts count the smallest unit: bigint in code, text in JSON. (docs/contract.md, Amount) */

interface ListedAsset {
  /** Decimals of the unit shown to people. */
  readonly scale: number;
  readonly smallestUnit: string;
  /** Limits of a person's account, in the smallest unit: per operation and per month. */
  readonly limits: { readonly minimum: bigint; readonly maximum: bigint; readonly month: bigint };
}

/** A new asset is a line here and a migration. (CONTRIBUTING.md, An asset) */
const ASSET_DETAILS = {
  COPM: listed(2, 'centavos of a Colombian peso', 100_000n, 1_200_000_000n, 5_000_000_000n),
  DUSD: listed(6, 'millionths of a dollar', 100_000n, 3_000_000_000n, 12_000_000_000n),
} as const;

function listed(
  scale: number,
  smallestUnit: string,
  minimum: bigint,
  maximum: bigint,
  month: bigint,
): ListedAsset {
  return { scale, smallestUnit, limits: { minimum, maximum, month } };
}

export type Asset = keyof typeof ASSET_DETAILS;
export const LISTED_ASSETS: Readonly<Record<Asset, ListedAsset>> = ASSET_DETAILS;
export const ASSETS = Object.keys(ASSET_DETAILS) as [Asset, ...Asset[]];
export const EXAMPLE_ASSET = ASSETS[0];

/** Amounts of an asset, with both bounds. */
export interface AmountRange {
  readonly asset: Asset;
  readonly least: bigint;
  readonly most: bigint;
}

export const ASSET_NAMES = disjunction(ASSETS);
export const ASSET_UNITS = ASSETS.map(
  (asset) => `${asset} counts ${ASSET_DETAILS[asset].smallestUnit}`,
).join(', ');

/** Joins words for a message: "a", "a or b", "a, b or c". */
export function disjunction(words: readonly string[]): string {
  // Every process calls this as it starts, and Intl.ListFormat takes long to load.
  return [words.slice(0, -1).join(', '), ...words.slice(-1)]
    .filter((part) => part !== '')
    .join(' or ');
}

export const MAX_RAW = 9_223_372_036_854_775_807n;

export interface Amount {
  readonly raw: bigint;
  readonly asset: Asset;
}

interface AmountJson {
  readonly raw: string;
  readonly asset: Asset;
}

const RAW_PATTERN = /^(0|[1-9][0-9]{0,18})$/;

/** Returns null for decimals, signs, spaces, exponents and values beyond 64 bits. */
export function parseRaw(text: string): bigint | null {
  if (!RAW_PATTERN.test(text)) return null;
  const raw = BigInt(text);
  return raw <= MAX_RAW ? raw : null;
}

export function isAsset(text: string): text is Asset {
  return Object.hasOwn(ASSET_DETAILS, text);
}

export function eachAsset<T>(valueOf: (asset: Asset) => T): Record<Asset, T> {
  return Object.fromEntries(ASSETS.map((asset) => [asset, valueOf(asset)])) as Record<Asset, T>;
}

export function amountJson(amount: Amount): AmountJson {
  return { raw: amount.raw.toString(), asset: amount.asset };
}

export function fitsColumn(value: bigint): boolean {
  return value <= MAX_RAW && value >= -MAX_RAW;
}

/** Returns an amount for messages: "1,234.50 COPM". */
export function formatAmount(amount: Amount): string {
  const { scale } = ASSET_DETAILS[amount.asset];
  const digits = amount.raw
    .toString()
    .replace('-', '')
    .padStart(scale + 1, '0');
  const point = digits.length - scale;
  const whole = digits.slice(0, point).replace(/\B(?=(\d{3})+$)/g, ',');
  const decimals = scale === 0 ? '' : `.${digits.slice(point)}`;
  return `${amount.raw < 0n ? '-' : ''}${whole}${decimals} ${amount.asset}`;
}

/** Returns an amount for files: "1234.50". */
export function decimalText(amount: Amount): string {
  return formatAmount(amount).replace(/,| .*/g, '');
}

/** Returns the sum in each asset for messages: "1,234.50 COPM and 2.000000 DUSD". */
export function formatSums(
  rows: readonly { readonly raw?: bigint; readonly asset?: Asset | null }[],
): string {
  const sums = ASSETS.flatMap((asset) => {
    const own = rows.flatMap((row) => (row.asset === asset ? (row.raw ?? 0n) : []));
    const raw = own.reduce((one, other) => one + other, 0n);
    return own.length === 0 ? [] : [formatAmount({ raw, asset })];
  });
  return sums.join(' and ');
}

/** `flatRaw` plus `basisPoints` of the amount, from `floorRaw` to `capRaw`. */
export interface FeeSchedule {
  readonly flatRaw: bigint;
  readonly basisPoints: bigint;
  readonly floorRaw: bigint;
  readonly capRaw: bigint | null;
}

const BASIS = 10_000n;

/** Returns the fee; rounds the share of the amount half up. (docs/contract.md, Limits and fees) */
export function calculateFee(schedule: FeeSchedule, raw: bigint): bigint {
  const share = (raw * schedule.basisPoints + BASIS / 2n) / BASIS;
  const floored = maxRaw(schedule.flatRaw + share, schedule.floorRaw);
  const capped = schedule.capRaw !== null && floored > schedule.capRaw ? schedule.capRaw : floored;
  return capped > MAX_RAW ? MAX_RAW : capped;
}

function maxRaw(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
