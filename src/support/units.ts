import {
  type Amount,
  type Asset,
  ASSETS,
  isAsset,
  LISTED_ASSETS,
  MAX_RAW,
  parseRaw,
} from '../core/amount.js';
import type { AmountRange } from './reading/operation-search.js';

/** Parses `1500.00` to the smallest unit. Returns null for malformed text. */
export function parseUnits(text: string, asset: Asset): bigint | null {
  const { scale } = LISTED_ASSETS[asset];
  const [, whole = '', decimals = ''] =
    /^(0|[1-9][0-9]{0,18})(?:\.([0-9]{1,18}))?$/.exec(text.trim()) ?? [];
  if (whole === '' || decimals.length > scale) return null;
  const digits = `${whole}${decimals.padEnd(scale, '0')}`.replace(/^0+(?=\d)/, '');
  return parseRaw(digits);
}

/**
 * Parses an amount as the desk prints it, with commas and the asset, or as `parseUnits` reads it.
 * Without an asset in the text, the amount is in `asset`. Returns null for malformed text.
 */
export function parsePrinted(text: string, asset: Asset): Amount | null {
  const [number = '', named = asset, ...rest] = text.trim().split(/\s+/);
  if (rest.length > 0 || !isAsset(named)) return null;
  const isGrouped = /^[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?$/.test(number);
  const raw = parseUnits(isGrouped ? number.replaceAll(',', '') : number, named);
  return raw === null ? null : { raw, asset: named };
}

/**
 * Returns the amounts whose printed form begins with this text: `25,000` means 25,000.00 to
 * 25,000.99, and `25,000.5` means 25,000.50 to 25,000.59. Searches all assets unless the text or
 * `asset` names one. Returns an empty list for malformed text.
 */
export function amountsBeginning(text: string, asset: Asset | null): readonly AmountRange[] {
  const decimals = /\.([0-9]*)/.exec(text)?.[1] ?? '';
  const complete = text.replace(/\.(?=\s|$)/, '');
  return ASSETS.flatMap((one): AmountRange[] => {
    const parsed = parsePrinted(complete, asset ?? one);
    if (parsed?.asset !== one) return [];
    const step = 10n ** BigInt(LISTED_ASSETS[one].scale - decimals.length);
    const most = parsed.raw + step - 1n;
    return [{ asset: one, least: parsed.raw, most: most > MAX_RAW ? MAX_RAW : most }];
  });
}
