import assert from 'node:assert/strict';
import { Secret } from 'otpauth';
import { newId } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { codeAt, newFactor, STEP_MS, stepOf } from '../../src/staff/authenticator.js';

const KEYS = [{ id: 'test', secret: Buffer.alloc(32, 7) }] as const;
const PERSON = { id: newId(), name: 'maria' };

describe("an authenticator's code", () => {
  // RFC 6238, Appendix B: SHA-1 with the secret "12345678901234567890"; of eight digits the last six are those of six.
  const secret = Secret.fromLatin1('12345678901234567890').base32;
  for (const [seconds, eight] of [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ] as const)
    it(`an authenticator's code is ${eight.slice(2)} at ${seconds} s, as RFC 6238 has it`, () =>
      assert.equal(codeAt(secret, instant(seconds * 1_000)), eight.slice(2)));

  const factor = newFactor(KEYS, PERSON);
  const at = instant(1_800_000_000_000 + 10_000);
  const step = BigInt(Math.floor(at / STEP_MS));

  it("an authenticator's code is found with its step of the clock: this one, the one before and the one after, and no other", () => {
    for (const [steps, expected] of [
      [-2, null],
      [-1, step - 1n],
      [0, step],
      [1, step + 1n],
      [2, null],
    ] as const) {
      const code = codeAt(factor.secret, instant(at + steps * STEP_MS));
      assert.equal(
        stepOf(KEYS, PERSON.id, factor.sealed, code, at),
        expected,
        `${steps} steps away`,
      );
    }
  });

  it("an authenticator's code has the same step whenever in its 30 seconds, and in the 30 before and after, it is looked at", () => {
    const code = codeAt(factor.secret, at);
    const begin = Number(step) * STEP_MS;
    for (const offset of [-STEP_MS, -1, 0, STEP_MS - 1, STEP_MS, 2 * STEP_MS - 1])
      assert.equal(
        stepOf(KEYS, PERSON.id, factor.sealed, code, instant(begin + offset)),
        step,
        `${offset} ms`,
      );
    for (const offset of [-STEP_MS - 1, 2 * STEP_MS])
      assert.equal(
        stepOf(KEYS, PERSON.id, factor.sealed, code, instant(begin + offset)),
        null,
        `${offset} ms`,
      );
  });

  it("an authenticator's code is of the secret that is sealed for this person: in the place of another it cannot be opened", () => {
    assert.throws(() => stepOf(KEYS, newId(), factor.sealed, codeAt(factor.secret, at), at));
  });

  it("an authenticator's code is read by an app from the address, which is of this service, this name and this secret", () => {
    const { protocol, host, pathname, searchParams } = new URL(factor.url);
    assert.deepEqual([protocol, host], ['otpauth:', 'totp']);
    assert.match(decodeURIComponent(pathname), /maria$/);
    assert.deepEqual(
      ['secret', 'algorithm', 'digits', 'period'].map((name) => searchParams.get(name)),
      [factor.secret, 'SHA1', '6', '30'],
    );
    assert.equal(factor.secret.length, 32);
    assert(!factor.sealed.bytes.includes(factor.secret));
  });

  it("an authenticator's code is of a secret that nobody else has", () => {
    assert.notEqual(newFactor(KEYS, PERSON).secret, factor.secret);
  });
});
