import { parsePhoneNumberFromString } from 'libphonenumber-js';

/** How people name an account: by alias or phone, in canonical form. */

const ALIAS = /^\$[a-z0-9][a-z0-9._-]{1,28}[a-z0-9]$/;
const HOME_REGION = 'CO';
/** Nobody writes a number longer than this. */
const MAX_PHONE_TEXT = 64;

/** The alias in lower case, or null when it is malformed. (docs/contract.md, Alias) */
export function parseAlias(text: string): string | null {
  // ASCII only: toLowerCase would turn the Kelvin sign into a k.
  const alias = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return ALIAS.test(alias) ? alias : null;
}

/**
 * The number as E.164 (`+573001112233`), or null if it is not one. Any notation will do; without a country code it is
 * Colombian. A well-formed number that no operator has assigned yet is accepted.
 */
export function parsePhone(text: string): string | null {
  if (text.length > MAX_PHONE_TEXT) return null;
  // 00 as most of the world dials it: by Colombian rules, 0057… would be carrier 5 and a Russian number.
  const written = text.trim().replace(/^tel:/i, '').replace(/^00/, '+');
  const phone = parsePhoneNumberFromString(written, { defaultCountry: HOME_REGION, extract: false });
  return phone !== undefined && phone.isPossible() && phone.ext === undefined ? phone.number : null;
}
