import assert from 'node:assert/strict';
import { hashOfToken, keyIdOf, newToken } from '../../src/access/tokens.js';

describe('the form of a token', () => {
  it('the form of a token is svc_live_, the key id and at least 160 random bits', () => {
    const { keyId, text } = newToken();
    const [, , id, secret = ''] = text.split('_');
    assert.ok(text.startsWith('svc_live_'));
    assert.equal(id, keyId);
    assert.match(secret, /^[a-z2-7]+$/);
    assert.ok(secret.length * 5 >= 160);
  });

  it('the form of a token is different every time', () => {
    const texts = Array.from({ length: 1_000 }, () => newToken());
    assert.equal(new Set(texts.map(({ text }) => text)).size, 1_000);
    assert.equal(new Set(texts.map(({ keyId }) => keyId)).size, 1_000);
  });

  it('the form of a token uses every letter of its alphabet about equally often', () => {
    const seen = new Map<string, number>();
    for (let count = 0; count < 400; count += 1)
      for (const letter of newToken().text.slice(-40))
        seen.set(letter, (seen.get(letter) ?? 0) + 1);
    assert.equal(seen.size, 32);
    // 500 are expected; a letter at 300 or 700 would be nine standard deviations away.
    for (const count of seen.values()) assert.ok(count > 300 && count < 700);
  });

  it('the form of a token gives its key id back', () => {
    const { keyId, text } = newToken();
    assert.equal(keyIdOf(text), keyId);
  });

  for (const [what, spoil] of [
    ['of the sandbox', (text: string) => text.replace('svc_live_', 'svc_test_')],
    ['cut short', (text: string) => text.slice(0, -1)],
    ['with more behind it', (text: string) => `${text}a`],
    ['with a line break behind it', (text: string) => `${text}\n`],
    ['in capitals', (text: string) => text.toUpperCase()],
    ['with another letter in its secret', (text: string) => `${text.slice(0, -1)}1`],
    ['without a secret', (text: string) => text.slice(0, 26)],
  ] as const)
    it(`the form of a token is not that of one ${what}`, () =>
      assert.equal(keyIdOf(spoil(newToken().text)), null));

  it('the form of a token is stored as 32 bytes that do not contain it', () => {
    const { text } = newToken();
    const hash = hashOfToken(text);
    assert.equal(hash.length, 32);
    assert.ok(!hash.toString('latin1').includes(text.slice(-40)));
    assert.deepEqual(hashOfToken(text), hash);
  });
});
