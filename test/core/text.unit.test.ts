import assert from 'node:assert/strict';
import { normaliseText, textFault } from '../../src/core/text.js';

describe('text', () => {
  it('is counted in code points', () => {
    assert.equal(textFault('🙂'.repeat(140), { max: 140 }), null);
    assert.equal(textFault('🙂'.repeat(141), { max: 140 }), 'too_long');
    assert.equal(textFault('x'.repeat(140), { max: 140 }), null);
    assert.equal(textFault('x'.repeat(141), { max: 140 }), 'too_long');
    assert.equal(textFault('🙂', { min: 2, max: 5 }), 'too_short');
    assert.equal(textFault('🙂🙂', { min: 2, max: 5 }), null);
  });

  it('may be empty unless it must not', () => {
    assert.equal(textFault('', { max: 5 }), null);
    assert.equal(textFault('', { min: 1, max: 5 }), 'too_short');
  });

  it('with control characters, line separators or lone surrogates is refused', () => {
    for (const text of [
      'a\u0000b',
      'a\nb',
      'a\tb',
      '\u007f',
      '\u0085',
      '\u2028',
      '\u2029',
      '\ud800',
      'a\udc00b',
      '\udc00\ud800',
    ])
      assert.equal(textFault(text, { max: 10 }), 'control_character', JSON.stringify(text));
  });

  it('in any script is accepted', () => {
    for (const text of ['José Ñuñez', '日本語', 'العربية', '👩‍👩‍👧', 'a\u00a0b'])
      assert.equal(textFault(text, { max: 20 }), null, text);
  });

  it('is brought to NFC, so that what looks the same is the same', () => {
    assert.equal(normaliseText('Jose\u0301'), 'José');
    assert.equal(normaliseText('Jose\u0301').length, 4);
  });
});
