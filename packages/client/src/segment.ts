/** A parameter as a segment of a path. Throws TypeError if it would make a different path. */
export function segment(value: string): string {
  if (['', '.', '..'].includes(value)) throw new TypeError(`no id: "${value}"`);
  return encodeURIComponent(value);
}
