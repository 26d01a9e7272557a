/** Text as the API takes it: NFC, counted in code points, no control characters, no lone surrogates. (decisions.md, Conventions) */

const FORBIDDEN = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

export type TextFault = 'control_character' | 'too_long' | 'too_short';

export function normaliseText(text: string): string {
  return text.normalize('NFC');
}

/** What is wrong with a normalised text, or null. Lengths are in code points. */
export function textFault(text: string, limits: { min?: number; max: number }): TextFault | null {
  if (FORBIDDEN.test(text)) return 'control_character';
  // A code point takes at most two units, so most texts need no counting.
  const length = text.length <= limits.max && text.length >= 2 * (limits.min ?? 0) ? limits.max : [...text].length;
  if (length > limits.max) return 'too_long';
  if (length < (limits.min ?? 0)) return 'too_short';
  return null;
}
