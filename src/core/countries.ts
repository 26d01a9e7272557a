import { getCountries } from 'libphonenumber-js';

/** The library's list of regions with a numbering plan; these have none and are countries or territories all the same. */
const WITHOUT_PHONES = ['AQ', 'BV', 'GS', 'HM', 'PN', 'TF', 'UM'];
const COUNTRIES: ReadonlySet<string> = new Set([...getCountries(), ...WITHOUT_PHONES]);
/** Regions of telephony that ISO 3166 does not have. */
const NOT_ISO: ReadonlySet<string> = new Set(['AC', 'TA', 'XK']);

/** True for the two letters of ISO 3166 that name a country, in capitals. */
export function isCountry(code: string): boolean {
  return COUNTRIES.has(code) && !NOT_ISO.has(code);
}
