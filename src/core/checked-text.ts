import { ApiError, invalidField } from './errors.js';
import { normaliseText, textFault } from './text.js';

/**
 * A name as it is stored: NFC, one space between words, 1 to `max` code points, no control characters.
 * Throws ApiError invalid_field for `field`.
 */
export function checkedText(field: string, text: string, max: number): string {
  const fault = textFault(normaliseText(text), { max: Number.MAX_SAFE_INTEGER });
  if (fault !== null) throw new ApiError(invalidField(field, fault));
  const clean = normaliseText(text).replace(/\s+/gu, ' ').trim();
  const length = textFault(clean, { min: 1, max });
  if (length !== null) throw new ApiError(invalidField(field, length));
  return clean;
}
