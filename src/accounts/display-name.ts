const graphemes = new Intl.Segmenter('es', { granularity: 'grapheme' });

/** "Ana M. P." of a person; a business or a system account is shown by its name. (docs/contract.md, Lookup) */
export function displayName(type: string, name: string): string {
  if (type !== 'person') return name;
  const [first = '', ...others] = name.split(/\s+/u).filter((word) => word !== '');
  return [first, ...others.map(initial)].join(' ');
}

/**
 * A Latin letter, digit or sign with nothing combined with it, as nearly every word begins. For any other the segmenter
 * makes an iterator outside the heap: pages of a hundred of these keep the collector busy.
 */
const PLAIN_INITIAL = /^[!-~\p{sc=Latn}](?=$|[!-~\p{sc=Latn}])/u;

/** A letter may be several code points: an initial is always a whole one. */
function initial(word: string): string {
  const plain = PLAIN_INITIAL.exec(word)?.[0];
  if (plain !== undefined) return `${plain.toUpperCase()}.`;
  const [first] = graphemes.segment(word);
  return `${(first?.segment ?? '').toUpperCase()}.`;
}
