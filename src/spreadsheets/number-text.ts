/** Significant digits of a number. Spreadsheets change all further digits. */
export const MAX_DIGITS = 15;

/** A format that pads with zeros (`00000`), with an optional language before and sections after. */
const PADDING = /^(?:\[\$-[^\]]*\])?(0+)(?:;|$)/;

/**
 * Returns the digits of a number cell in a text column: an integer with the leading zeros of its
 * format, or else the shortest decimal (Excel stores 1.1 as 1.1000000000000001). Null for more
 * digits.
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
