import assert from 'node:assert/strict';
import {
  commandFingerprint,
  type Keyring,
  requestFingerprint,
} from '../../src/core/fingerprint.js';

const key = (id: string, byte: number) => ({ id, secret: Buffer.alloc(32, byte) });

describe('a fingerprint', () => {
  const keys: Keyring = [key('new', 1), key('old', 2)];

  it('a fingerprint distinguishes the same request from another', () => {
    const stored = requestFingerprint(keys, 'POST /v1/transfers {}');
    assert.equal(
      requestFingerprint(keys, 'POST /v1/transfers {}').compare(stored.keyId, stored.digest),
      'same',
    );
    assert.equal(
      requestFingerprint(keys, 'POST /v1/transfers {"a":1}').compare(stored.keyId, stored.digest),
      'other',
    );
  });

  it('a fingerprint can still be compared with what an older key made', () => {
    const stored = requestFingerprint([key('old', 2)], 'x');
    assert.equal(requestFingerprint(keys, 'x').compare(stored.keyId, stored.digest), 'same');
    assert.equal(requestFingerprint(keys, 'y').compare(stored.keyId, stored.digest), 'other');
  });

  it('a fingerprint cannot be compared with what a missing key made', () => {
    const stored = requestFingerprint([key('newer', 3)], 'x');
    assert.equal(requestFingerprint(keys, 'x').compare(stored.keyId, stored.digest), 'unknown_key');
    assert.equal(requestFingerprint(keys, 'y').compare(stored.keyId, stored.digest), 'unknown_key');
  });

  it('a fingerprint does not reveal the content without the key', () => {
    assert.notDeepEqual(
      requestFingerprint(keys, 'x').digest,
      requestFingerprint([key('new', 9)], 'x').digest,
    );
  });

  it('a fingerprint of a command uses its parts unchanged', () => {
    const one = commandFingerprint(['a', 'bc']);
    assert.equal(commandFingerprint(['a', 'bc']).compare(one.keyId, one.digest), 'same');
    assert.equal(commandFingerprint(['ab', 'c']).compare(one.keyId, one.digest), 'other');
    assert.equal(requestFingerprint(keys, 'x').compare(one.keyId, one.digest), 'other');
  });
});
