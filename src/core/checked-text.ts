import { z } from 'zod';
import { getCountries } from 'libphonenumber-js';
import { ApiError, invalidField } from './errors.js';
import { reasonInWords } from './field-reasons.js';
import { normaliseText, type TextFault, textFault } from './text.js';

export const MAX_REASON = 140;
export const MAX_DESCRIPTION = 140;

/** Returns the text in NFC with single spaces, or its fault: empty, too long, control characters. */
export function cleanText(
  text: string,
  max: number,
): { readonly clean: string } | { readonly fault: TextFault } {
  const normal = normaliseText(text);
  const fault = textFault(normal, { max: Number.MAX_SAFE_INTEGER });
  if (fault !== null) return { fault };
  const clean = normal.replace(/\s+/gu, ' ').trim();
  const lengthFault = textFault(clean, { min: 1, max });
  return lengthFault === null ? { clean } : { fault: lengthFault };
}

/**
 * Returns a text of several lines, each as `cleanText` returns it, with at most one empty line
 * between them; or its fault.
 */
export function cleanLines(text: string, max: number): ReturnType<typeof cleanText> {
  const lines = text.split(/\r\n?|\n/).map((line) => cleanText(line, max));
  const fault = lines.find((line) => 'fault' in line && line.fault !== 'too_short');
  if (fault !== undefined) return fault;
  const clean = lines
    .map((line) => ('clean' in line ? line.clean : ''))
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  if (clean === '') return { fault: 'too_short' };
  return [...clean].length > max ? { fault: 'too_long' } : { clean };
}

export function faultInWords(fault: TextFault, max: number): string {
  if (fault === 'too_short') return 'it is empty';
  return fault === 'too_long' ? `at most ${max} characters` : reasonInWords(fault);
}

/** Throws ApiError invalid_field for `field`. */
export function checkedText(field: string, text: string, max: number): string {
  const cleaned = cleanText(text, max);
  if ('clean' in cleaned) return cleaned.clean;
  const { fault } = cleaned;
  const message = `${field} is not valid: ${faultInWords(fault, max)}`;
  throw new ApiError({ ...invalidField(field, fault), message });
}

/** Returns a schema that parses text with `parse`, and fails with `reason` if that returns null. */
export function parsedTextSchema<T>(
  parse: (text: string) => T | null,
  reason: string | ((text: string) => string),
  schema: z.ZodString = z.string(),
) {
  return schema.transform((text, context): T => {
    const parsed = parse(text);
    if (parsed !== null) return parsed;
    context.addIssue(typeof reason === 'string' ? reason : reason(text));
    return z.NEVER;
  });
}

/** The library lists regions with a numbering plan; these countries and territories have none. */
const WITHOUT_PHONES = ['AQ', 'BV', 'GS', 'HM', 'PN', 'TF', 'UM'];
const COUNTRIES: ReadonlySet<string> = new Set([...getCountries(), ...WITHOUT_PHONES]);
/** Regions of telephony that are not in ISO 3166. */
const NOT_ISO: ReadonlySet<string> = new Set(['AC', 'TA', 'XK']);

/** Returns true for the two capital letters of a country in ISO 3166. */
export function isCountry(code: string): boolean {
  return COUNTRIES.has(code) && !NOT_ISO.has(code);
}
