import { type Asset, LISTED_ASSETS, parseRaw } from '../core/amount.js';

/** `1500.00` in the asset's smallest unit; null if it is malformed or has too many decimals. */
export function parseUnits(text: string, asset: Asset): bigint | null {
  const { scale } = LISTED_ASSETS[asset];
  const [, whole = '', decimals = ''] = /^(0|[1-9][0-9]{0,18})(?:\.([0-9]{1,18}))?$/.exec(text.trim()) ?? [];
  if (whole === '' || decimals.length > scale) return null;
  const digits = `${whole}${decimals.padEnd(scale, '0')}`.replace(/^0+(?=\d)/, '');
  return parseRaw(digits);
}
