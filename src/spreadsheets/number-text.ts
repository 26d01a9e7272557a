/** Maximum of digits that spreadsheets keep. They change the digits after it. */
export const MAX_DIGITS = 15;

/**
 * A format that pads with zeros (`00000`), optionally with a language before it and sections after
 * it.
 */
const PADDING = /^(?:\[\$-[^\]]*\])?(0+)(?:;|$)/;

/**
 * Returns the digits of a number cell in a text column: an integer with the leading zeros of its
 * format, or else the shortest decimal for the stored number, without an exponent (Excel stores 1.1
 * as 1.1000000000000001). Returns null for more than `MAX_DIGITS` digits.
 */
export function textOfNumber(stored: string, format = ''): string | null {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    SHORTEST.exec(String(Number(stored))) ?? [];
  const shift = -Number.parseInt(exponent, 10);
  if (whole === '' || shift < 0 || `${whole}${fraction}`.replace(/^0+/, '').length > MAX_DIGITS)
    return null;
  if (shift > 0) return `${sign}0.${'0'.repeat(shift - 1)}${whole}${fraction}`;
  if (fraction !== '') return `${sign}${whole}.${fraction}`;
  return `${sign}${whole.padStart(PADDING.exec(format)?.[1]?.length ?? 0, '0')}`;
}

const SHORTEST = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;
