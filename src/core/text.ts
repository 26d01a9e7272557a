/**
 * Text that the API accepts. People decide by names and reasons, so a character is refused if it
 * changes the direction of its neighbours, has no width or is not assigned yet, unless a name or
 * emoji needs it. (docs/contract.md, Text)
 */

const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** Scripts in which a (non-)joiner changes the shape of letters. */
const JOINING_SCRIPTS = [
  'Arabic Syriac Mongolian Nko Mandaic Khmer Myanmar Tibetan Sinhala Devanagari Bengali Gurmukhi',
  'Gujarati Oriya Tamil Telugu Kannada Malayalam',
]
  .flatMap((line) => line.split(' '))
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');

/** Characters that spell the region of a flag. */
const TAG = '[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]';

/** Positions at which an invisible character changes something visible, and is allowed. */
const VISIBLE_EFFECT = [
  `(?<=[${JOINING_SCRIPTS}])[\\u200c\\u200d](?=[${JOINING_SCRIPTS}])`,
  // 👩‍👧, ❤️, 1️⃣
  '(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})',
  '(?<=\\p{Extended_Pictographic})[\\ufe0e\\ufe0f]',
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
  // The flag of Scotland: a black flag, three to six letters and digits, and an end mark.
  `(?<=\\u{1f3f4}${TAG}{0,5})${TAG}(?=${TAG}{0,5}\\u{e007f})`,
  `(?<=\\u{1f3f4}${TAG}{3,6})\\u{e007f}`,
  // Variants of a character, as in Japanese and Mongolian names.
  '(?<=\\p{Unified_Ideograph})[\\u{e0100}-\\u{e01ef}]',
  '(?<=\\p{Script=Mongolian})(?<=\\p{L})[\\u180b-\\u180f]',
].join('|');

/** Unassigned pictographs are the emoji of a Unicode newer than this process. */
const FORMAT_CLASS =
  // A braille pattern without dots and a null notehead are symbols by class, but just as empty.
  '(?!\\p{Extended_Pictographic})[\\p{Cf}\\p{Co}\\p{Cn}\\p{Default_Ignorable_Code_Point}\\u2800\\u{1d159}]';
const FORMAT = new RegExp(`(?!${VISIBLE_EFFECT})${FORMAT_CLASS}`, 'u');
const INVISIBLE = new RegExp(`${CONTROL.source}|${FORMAT.source}`, 'gu');
/** Most texts are plain and need no further check. */
const PLAIN = /^[\x20-\x7e]*$/;

export type TextFault = 'control_character' | 'format_character' | 'too_long' | 'too_short';

export function normaliseText(text: string): string {
  return text.normalize('NFC');
}

/** Returns why the text is refused, or null. Lengths are in code points. */
export function textFault(text: string, limits: { min?: number; max: number }): TextFault | null {
  if (!PLAIN.test(text)) {
    if (CONTROL.test(text)) return 'control_character';
    if (FORMAT.test(text)) return 'format_character';
  }
  // A code point takes at most two units, so most texts need no counting.
  const length =
    text.length <= limits.max && text.length >= 2 * (limits.min ?? 0)
      ? limits.max
      : [...text].length;
  if (length > limits.max) return 'too_long';
  if (length < (limits.min ?? 0)) return 'too_short';
  return null;
}

/** Writes characters that are invisible or change the direction of text as in JSON (`\u202e`). */
export function escapeInvisible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(INVISIBLE, (unseen) =>
    Array.from({ length: unseen.length }, (_, index) => escapeOf(unseen.charCodeAt(index))).join(
      '',
    ),
  );
}

function escapeOf(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

/** Letters and digits of scripts that are written from right to left. */
export const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
