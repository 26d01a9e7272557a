import assert from 'node:assert/strict';
import { textFault, escapeInvisible } from '../../src/core/text.js';

describe('text', () => {
  it('is counted in code points', () => {
    assert.equal(textFault('🙂'.repeat(140), { max: 140 }), null);
    assert.equal(textFault('🙂'.repeat(141), { max: 140 }), 'too_long');
    assert.equal(textFault('x'.repeat(140), { max: 140 }), null);
    assert.equal(textFault('x'.repeat(141), { max: 140 }), 'too_long');
    assert.equal(textFault('🙂', { min: 2, max: 5 }), 'too_short');
    assert.equal(textFault('🙂🙂', { min: 2, max: 5 }), null);
  });

  it('with control characters, line separators or lone surrogates is refused', () => {
    for (const text of [
      ...['a\u0000b', 'a\nb', 'a\tb', '\u007f', '\u0085', '\u2028', '\u2029'],
      ...['\ud800', 'a\udc00b', '\udc00\ud800'],
    ])
      assert.equal(textFault(text, { max: 10 }), 'control_character', JSON.stringify(text));
  });

  it('in any script is accepted', () => {
    for (const text of ['José Ñuñez', '日本語', 'العربية', '👩‍👩‍👧', 'a\u00a0b'])
      assert.equal(textFault(text, { max: 20 }), null, text);
  });

  /** Each hides, moves what is beside it, or means nothing yet. */
  const HIDING = {
    'a right-to-left override': 'Ana\u202eMP',
    'an isolate': 'Ana\u2066MP\u2069',
    'a direction mark': 'Ana\u200e',
    'an Arabic letter mark': 'Ana\u061c',
    'a zero-width space': 'An\u200ba',
    'a word joiner': 'An\u2060a',
    'a byte order mark': '\ufeffAna',
    'a soft hyphen': 'An\u00ada',
    'a joiner between Latin letters': 'An\u200da',
    'a non-joiner between Latin letters': 'An\u200ca',
    'two joiners between Arabic letters': '\u0645\u200c\u200c\u0631',
    'a joiner at the end': '\u0915\u094d\u200d',
    'a variation selector behind a letter': 'Ana\ufe0f',
    'a tag': 'Ana\u{e0041}',
    'a tag behind the end of a flag': 'Ana 🏴\u{e0067}\u{e0062}\u{e0065}\u{e007f}\u{e0041}',
    'a flag without its end': 'Ana 🏴\u{e0067}\u{e0062}\u{e0065}',
    'a Hangul filler': 'Ana\u3164',
    'a braille pattern without a dot': 'Ana\u2800',
    'a null notehead': 'Ana\u{1d159}',
    'a grapheme joiner': 'An\u034fa',
    'a private use character': 'Ana\ue000',
    'an unassigned character': 'Ana\u0378',
    'a noncharacter': 'Ana\u{1ffff}',
  };

  it('with invisible or direction-changing characters is refused, and shown with escapes', () => {
    for (const [what, text] of Object.entries(HIDING)) {
      assert.equal(textFault(text, { max: 20 }), 'format_character', what);
      const shown = escapeInvisible(text);
      assert.match(shown, /^(Ana?|\\u|[\u0600-\u0fff])/);
      assert.notEqual(shown, text);
      assert.equal(textFault(shown, { max: 60 }), null);
      assert.equal(JSON.parse(`"${shown}"`), text, 'a program reads the same text');
    }
  });

  it('may contain invisible characters that shape the letters or emoji next to them', () => {
    for (const text of [
      'می\u200cخواهم',
      'ශ්\u200dරී ලංකා',
      'क्\u200dष',
      'ക്\u200cഷ',
      '葛\u{e0100}城',
      'ᠠ\u180b',
      '❤️',
      '🏳️‍🌈',
      '👩🏽‍🚀',
      '1️⃣',
      '☎︎',
      '🇨🇴',
      '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
    ]) {
      assert.equal(textFault(text, { max: 20 }), null, JSON.stringify(text));
      assert.equal(escapeInvisible(text), text);
    }
  });
});
