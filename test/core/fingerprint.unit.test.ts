import assert from 'node:assert/strict';
import { commandFingerprint, type Keyring, requestFingerprint } from '../../src/core/fingerprint.js';

const key = (id: string, byte: number) => ({ id, secret: Buffer.alloc(32, byte) });

describe('a fingerprint', () => {
  const keys: Keyring = [key('new', 1), key('old', 2)];

  it('tells the same request from another', () => {
    const stored = requestFingerprint(keys, 'POST /v1/transfers {}');
    assert(requestFingerprint(keys, 'POST /v1/transfers {}').matches(stored.keyId, stored.digest));
    assert(!requestFingerprint(keys, 'POST /v1/transfers {"a":1}').matches(stored.keyId, stored.digest));
  });

  it('still knows what an older key made', () => {
    const stored = requestFingerprint([key('old', 2)], 'x');
    assert(requestFingerprint(keys, 'x').matches(stored.keyId, stored.digest));
    assert(!requestFingerprint(keys, 'y').matches(stored.keyId, stored.digest));
  });

  it('matches nothing of a key that is gone', () => {
    const stored = requestFingerprint([key('gone', 3)], 'x');
    assert(!requestFingerprint(keys, 'x').matches(stored.keyId, stored.digest));
  });

  it('does not tell the content without the key', () => {
    assert.notDeepEqual(requestFingerprint(keys, 'x').digest, requestFingerprint([key('new', 9)], 'x').digest);
  });

  it('of a command takes its parts as they are', () => {
    const one = commandFingerprint(['a', 'bc']);
    assert(commandFingerprint(['a', 'bc']).matches(one.keyId, one.digest));
    assert(!commandFingerprint(['ab', 'c']).matches(one.keyId, one.digest));
    assert(!requestFingerprint(keys, 'x').matches(one.keyId, one.digest));
  });
});
