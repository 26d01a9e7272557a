const graphemes = new Intl.Segmenter('es', { granularity: 'grapheme' });

/** Returns "Ana M. P." for a person, the full name for others. (docs/contract.md, Lookup) */
export function displayName(type: string, name: string): string {
  if (type !== 'person') return name;
  const [first = '', ...others] = name.split(/\s+/u).filter((word) => word !== '');
  return [first, ...others.map(initial)].join(' ');
}

/** Most words begin like this. The segmenter, needed for others, is slow on pages of names. */
const PLAIN_INITIAL = /^[!-~\p{sc=Latn}](?=$|[!-~\p{sc=Latn}])/u;

/** An initial is a whole letter, which may consist of several code points. */
function initial(word: string): string {
  const plain = PLAIN_INITIAL.exec(word)?.[0];
  if (plain !== undefined) return `${plain.toUpperCase()}.`;
  const [first] = graphemes.segment(word);
  return `${(first?.segment ?? '').toUpperCase()}.`;
}
