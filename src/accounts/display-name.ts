const graphemes = new Intl.Segmenter('es', { granularity: 'grapheme' });

/**
 * Returns "Ana M. P." for a person; a business and a system account have their full name.
 * (docs/contract.md, Lookup)
 */
export function displayName(type: string, name: string): string {
  if (type !== 'person') return name;
  const [first = '', ...others] = name.split(/\s+/u).filter((word) => word !== '');
  return [first, ...others.map(initial)].join(' ');
}

/**
 * A Latin letter, digit or sign without combining marks, with which nearly every word begins. Other
 * words need the segmenter, which allocates outside the heap and keeps the collector busy on pages
 * of a hundred names.
 */
const PLAIN_INITIAL = /^[!-~\p{sc=Latn}](?=$|[!-~\p{sc=Latn}])/u;

/** A letter may consist of several code points, and an initial is a whole letter. */
function initial(word: string): string {
  const plain = PLAIN_INITIAL.exec(word)?.[0];
  if (plain !== undefined) return `${plain.toUpperCase()}.`;
  const [first] = graphemes.segment(word);
  return `${(first?.segment ?? '').toUpperCase()}.`;
}
