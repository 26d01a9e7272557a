/** Encodes a parameter as one segment of a path. Throws TypeError if the path would change. */
export function segment(value: string): string {
  if (['', '.', '..'].includes(value)) throw new TypeError(`no id: "${value}"`);
  return encodeURIComponent(value);
}
