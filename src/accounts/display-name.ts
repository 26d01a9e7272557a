const graphemes = new Intl.Segmenter('es', { granularity: 'grapheme' });

/** "Ana M. P." of a person, the trade name of a business, from the name at opening. (docs/contract.md, Lookup) */
export function displayName(type: 'person' | 'business', name: string): string {
  if (type === 'business') return name;
  const [first = '', ...others] = name.split(/\s+/u).filter((word) => word !== '');
  return [first, ...others.map(initial)].join(' ');
}

/** A plain letter not followed by a combining mark: what nearly every name begins with. */
const PLAIN_INITIAL = /^[A-Za-zÀ-ÖØ-öø-ÿ](?=$|[A-Za-zÀ-ÖØ-öø-ÿ'.-])/;

/** A letter may be several code points: an initial is always a whole one. */
function initial(word: string): string {
  const plain = PLAIN_INITIAL.exec(word)?.[0];
  if (plain !== undefined) return `${plain.toUpperCase()}.`;
  const [first] = graphemes.segment(word);
  return `${(first?.segment ?? '').toUpperCase()}.`;
}
