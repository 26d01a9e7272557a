import assert from 'node:assert/strict';
import { displayName } from '../../src/accounts/identifiers.js';

describe('a display name', () => {
  for (const [name, shown] of [
    ['Ana María Pérez', 'Ana M. P.'],
    ['Ana', 'Ana'],
    ['Juan de la Cruz', 'Juan D. L. C.'],
    ['  Ana   Pérez ', 'Ana P.'],
    ['Óscar ñañez', 'Óscar Ñ.'],
    ['María-José O’Neill', 'María-José O.'],
    // The accent is a code point of its own: it belongs to its letter.
    ['Ana E\u0301lvira', 'Ana E\u0301.'],
    ['Ana 👩‍👩‍👧 Ruiz', 'Ana 👩‍👩‍👧. R.'],
    ['Ana Pérez 2nd', 'Ana P. 2.'],
    ['', ''],
  ] as const)
    it(`a display name of a person ${JSON.stringify(name)} is ${JSON.stringify(shown)}`, () =>
      assert.equal(displayName('person', name), shown));

  it('a display name abbreviates a word to what is read as one letter, whatever follows in the word', () => {
    const graphemes = new Intl.Segmenter('es', { granularity: 'grapheme' });
    const words = [...'aZñ1-!~ªﬁ×한กक👩'].flatMap((letter) =>
      ['', 'b', '7', 'é', '́', 'ำ', '्', '\u200d', '\u20e3', '\ufe0f', 'ᆨ'].map(
        (next) => letter + next,
      ),
    );
    for (const word of words) {
      const [first] = graphemes.segment(word);
      assert.equal(
        displayName('person', `Ana ${word}`),
        `Ana ${first?.segment.toUpperCase()}.`,
        word,
      );
    }
  });

  it('a display name of a business is its trade name', () =>
    assert.equal(displayName('business', 'Panadería La Nueva'), 'Panadería La Nueva'));
});
