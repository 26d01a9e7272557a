import { getCountries } from 'libphonenumber-js';

/** The library lists regions with a numbering plan; these countries and territories have none. */
const WITHOUT_PHONES = ['AQ', 'BV', 'GS', 'HM', 'PN', 'TF', 'UM'];
const COUNTRIES: ReadonlySet<string> = new Set([...getCountries(), ...WITHOUT_PHONES]);
/** Regions of telephony that are not in ISO 3166. */
const NOT_ISO: ReadonlySet<string> = new Set(['AC', 'TA', 'XK']);

/** Returns true for the two capital letters of a country in ISO 3166. */
export function isCountry(code: string): boolean {
  return COUNTRIES.has(code) && !NOT_ISO.has(code);
}
