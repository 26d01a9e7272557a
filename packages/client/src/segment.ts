/** A parameter as a part of a path. Throws TypeError for what would be another path. */
export function segment(value: string): string {
  if (['', '.', '..'].includes(value)) throw new TypeError(`no id: "${value}"`);
  return encodeURIComponent(value);
}
