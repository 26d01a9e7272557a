/** Encodes a parameter as one segment of a path. Throws TypeError if the path would change. */
export function segment(value: string): string {
  if (['', '.', '..'].includes(value)) throw new TypeError(`"${value}" is not an id`);
  return encodeURIComponent(value);
}
