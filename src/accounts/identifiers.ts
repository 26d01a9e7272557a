import { parsePhoneNumberFromString } from 'libphonenumber-js';

const ALIAS = /^\$[a-z0-9][a-z0-9._-]{1,28}[a-z0-9]$/;
const HOME_REGION = 'CO';
const MAX_PHONE_TEXT = 64;
/** A negative number: a spreadsheet computes -3001112176 from `+57-3001112233`. */
const MINUS = /^[\s(]*[\p{Pd}\u2212]/u;

/** Returns the alias in lower case, or null if it is malformed. (docs/contract.md, Alias) */
export function parseAlias(text: string): string | null {
  // ASCII only: toLowerCase would turn the Kelvin sign into a k.
  const alias = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return ALIAS.test(alias) ? alias : null;
}

/** Returns the number as E.164, or null. Without a country code it is Colombian. */
export function parsePhone(text: string): string | null {
  if (text.length > MAX_PHONE_TEXT || MINUS.test(text) || !pointsSeparateGroups(text)) return null;
  // By Colombian rules, 0057… would be carrier 5 and a Russian number.
  const written = text.trim().replace(/^tel:/i, '').replace(/^00/, '+');
  const phone = parsePhoneNumberFromString(written, {
    defaultCountry: HOME_REGION,
    extract: false,
  });
  return phone !== undefined && phone.isPossible() && phone.ext === undefined ? phone.number : null;
}

/**
 * Returns false if a point may be a decimal point, as in `573001112233.0` from a spreadsheet:
 * libphonenumber would append the 0 to the number.
 */
function pointsSeparateGroups(text: string): boolean {
  const groups = text.split(/[.\uff0e]/).map((group) => group.replace(/\P{Nd}/gu, ''));
  if (groups.length === 1) return true;
  // Zeros among all digits that libphonenumber reads: Western, full-width, Arabic and Persian.
  const isZero = /^[0\uff10\u0660\u06f0]*$/.test(groups.at(-1) ?? '');
  return groups.length > 2 && !isZero && groups.every((group) => group.length >= 2);
}

const graphemes = new Intl.Segmenter('es', { granularity: 'grapheme' });

/** Returns "Ana M. P." for a person, the full name for others. (docs/contract.md, Lookup) */
export function displayName(type: string, name: string): string {
  if (type !== 'person') return name;
  const [first = '', ...others] = name.split(/\s+/u).filter((word) => word !== '');
  return [first, ...others.map(initial)].join(' ');
}

/** The beginning of most words. Any other word needs the segmenter, which is slow for many names. */
const PLAIN_INITIAL = /^[!-~\p{sc=Latn}](?=$|[!-~\p{sc=Latn}])/u;

/** An initial is a whole letter, which may consist of several code points. */
function initial(word: string): string {
  const plain = PLAIN_INITIAL.exec(word)?.[0];
  if (plain !== undefined) return `${plain.toUpperCase()}.`;
  const [first] = graphemes.segment(word);
  return `${(first?.segment ?? '').toUpperCase()}.`;
}
