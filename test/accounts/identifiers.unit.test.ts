import assert from 'node:assert/strict';
import fc from 'fast-check';
import { displayName, parseAlias, parsePhone } from '../../src/accounts/recipients.js';

describe('an alias', () => {
  for (const [given, stored] of [
    ['$ana', '$ana'],
    ['$ANA.Perez_1-x', '$ana.perez_1-x'],
    [`$${'a'.repeat(30)}`, `$${'a'.repeat(30)}`],
    ['$a1b', '$a1b'],
  ] as const)
    it(`the alias ${given} is stored as ${stored}`, () => assert.equal(parseAlias(given), stored));

  for (const given of [
    ...['', 'ana', '$', '$an', `$${'a'.repeat(31)}`, '$.ana', '$ana.', '$-ana', '$ana-', '$a na'],
    ...['$ana\n', ' $ana', '$$ana', '$ana%', '$jos\u00E9', '$ana\u0301b', '$stra\u00DFe'],
    // Full-width and Cyrillic letters, a long s, a dotless i, and the Kelvin sign, which lower-cases to a k.
    ...['\uFF04ana', '$\uFF41na', '$\u0430na', '$\u017Fara', '$d\u0131ego', '$\u212Aana'],
    // A zero-width space, a right-to-left mark, an Arabic digit, an emoji and a lone surrogate.
    ...['$an\u200Ba', '$ana\u200Fb', '$ana\u0661', '$ana\u{1F600}b', '$an\uD800a'],
  ])
    it(`the alias ${JSON.stringify(given)} is malformed`, () =>
      assert.equal(parseAlias(given), null));

  it('in its stored form is its own stored form', () =>
    fc.assert(
      fc.property(fc.string({ maxLength: 34 }), (text) => {
        const alias = parseAlias(`$${text}`);
        return alias === null || parseAlias(alias) === alias;
      }),
    ));
});

describe('a phone', () => {
  for (const given of [
    ...['3001112233', '300 111 2233', '(300) 111-2233', '+573001112233', '+57 300 111 2233'],
    ...['0057 300 111 2233', ' +57-300-111-22-33 ', 'tel:+573001112233', '300.111.22.33'],
    ...['+57.300.111.22.33', '300．111．22．33', '٣٠٠.١١١.٢٢.٣٣', '(300) 111.22.33'],
    '573.001.112.233',
  ])
    it(`the phone ${JSON.stringify(given)} is stored as +573001112233`, () =>
      assert.equal(parsePhone(given), '+573001112233'));

  it('keeps the country that it names', () =>
    assert.equal(parsePhone('+1 (212) 555-2368'), '+12125552368'));

  for (const given of [
    ...['', 'abc', '123', '+', '+57', '+999 123 4567', '+57 300 111 2233 4455', '3'.repeat(10_000)],
    ...['my phone is 300 111 2233', '+573001112233 ext. 5'],
    // A decimal point or comma, as spreadsheets write numbers.
    ...['+39333123456.0', '+39333123456.00', '+39333123456 .0', '+39333123456. 0'],
    ...['＋３９３３３１２３４５６．０', '+٣٩٣٣٣١٢٣٤٥٦.٠', '+٣٩٣٣٣١٢٣٤٥٦٫٠', '573001112236.0'],
    ...['60123456.75', '60123456,75', '60123456，75', '601.23456', '(300) 111.2233', '3001112233.'],
    ...['.3001112233', '+39.333.123.456.0', '+39.333.123.456.00', '+3.933.312.345.60'],
    ...['+39..333123456', '3,001,112,233', '3.9333E+11', '3.9333e11', '573001112236E0'],
    '3.001.112.233,00',
    // A spreadsheet computes 57 minus the number from +57-3001112233.
    ...['-3001112176', ' - 3001112176', '−3001112176', '(-3001112176)'],
  ])
    it(`the phone ${JSON.stringify(given.slice(0, 40))} is malformed`, () =>
      assert.equal(parsePhone(given), null));

  it('in its stored form is its own stored form', () =>
    fc.assert(
      fc.property(fc.stringMatching(/^[+0-9 ()-]{6,20}$/), (text) => {
        const phone = parsePhone(text);
        return phone === null || (parsePhone(phone) === phone && /^\+[1-9]\d{1,14}$/.test(phone));
      }),
    ));
});

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
    it(`the display name of the person ${JSON.stringify(name)} is ${JSON.stringify(shown)}`, () =>
      assert.equal(displayName('person', name), shown));

  it('abbreviates a word to its first letter with its accents', () => {
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

  it('of a business is its trade name', () =>
    assert.equal(displayName('business', 'Panadería La Nueva'), 'Panadería La Nueva'));
});
