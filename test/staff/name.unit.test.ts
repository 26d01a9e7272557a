import assert from 'node:assert/strict';
import { foldedName } from '../../src/staff/rules.js';

/** The same to whoever reads it quickly. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  'upper case': 'MARIA',
  'an accent': 'María',
  'an accent of its own character': 'Mari\u0301a',
  'full width': 'ＭＡＲＩＡ',
  'a Cyrillic а': 'mari\u0430',
  'Cyrillic letters alone': 'м\u0430ri\u0430',
  'a space of no width': 'ma\u200bria',
  'a soft hyphen': 'ma\u00adria',
  'spaces around': '  maria ',
  'mathematical letters': '𝐦𝐚𝐫𝐢𝐚',
};

describe('the folded name of one of the staff', () => {
  for (const [what, name] of Object.entries(LOOK_ALIKES))
    it(`the folded name of one of the staff is the same with ${what}`, () =>
      assert.equal(foldedName(name), foldedName('maria')));

  it('the folded name of one of the staff keeps people apart who are called differently', () => {
    const names = [
      'maria',
      'marta',
      'mario',
      'maria c',
      'maria.c',
      'mariana',
      'ana',
      'josé',
      'joan',
    ];
    assert.equal(new Set(names.map(foldedName)).size, names.length);
  });

  it('the folded name of one of the staff treats consecutive spaces as one, and folds to itself', () => {
    assert.equal(foldedName('Ana  \t María'), foldedName('ana maria'));
    for (const name of [...Object.values(LOOK_ALIKES), 'Ana María', 'Łukasz', 'Ñandú 7'])
      assert.equal(foldedName(foldedName(name)), foldedName(name), name);
  });

  it('the folded name of one of the staff is empty if there is nothing to read', () => {
    for (const name of ['', ' ', '\u200b', '\u0301']) assert.equal(foldedName(name), '');
  });
});
