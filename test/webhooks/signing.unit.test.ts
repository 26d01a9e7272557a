import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { verifySignatures } from '../../development/receiver/signatures.js';
import { isSecret, newSecret, signatureHeaders } from '../../src/webhooks/signing.js';

/** The example that the Standard Webhooks libraries test themselves with. */
const STANDARD = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  body: Buffer.from('{"test": 2432232314}'),
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  previousSecret: null,
  timestampS: 1_614_265_330,
};
const STANDARD_SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

type Signable = Parameters<typeof signatureHeaders>[0];

const lowered = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** The faults that a receiver with this secret finds, by header. */
function problemsOf(
  { body, headers }: { body: Buffer; headers: Record<string, string> },
  secret: string,
  nowS = STANDARD.timestampS,
): Record<string, string | null> {
  const checks = verifySignatures({ body, headers: lowered(headers) }, secret, nowS);
  return Object.fromEntries(checks.map(({ header, problem }) => [header, problem]));
}

const GOOD = { 'Svc-Signature': null, 'webhook-signature': null };

describe('a delivery', () => {
  it('is signed as Standard Webhooks specifies', () => {
    const headers = signatureHeaders(STANDARD);
    assert.equal(headers['webhook-id'], STANDARD.id);
    assert.equal(headers['webhook-timestamp'], '1614265330');
    assert.equal(headers['webhook-signature'], STANDARD_SIGNATURE);
  });

  it('has the lowercase hexadecimal HMAC-SHA256 of its bytes, keyed with the secret as shown', () => {
    for (const body of [
      STANDARD.body,
      Buffer.alloc(0),
      Buffer.from([0, 255, 128, 10]),
      Buffer.from(' 🦄 ‮ \\u0000 \n'),
      Buffer.alloc(300_000, 'x'),
    ]) {
      const headers = signatureHeaders({ ...STANDARD, body });
      // openssl dgst -sha256 -hmac whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
      const hmac = createHmac('sha256', Buffer.from(STANDARD.secret, 'utf8')).update(body);
      assert.equal(headers['Svc-Signature'], hmac.digest('hex'));
      assert.deepEqual(problemsOf({ body, headers }, STANDARD.secret), GOOD);
    }
  });

  it('is signed with both secrets while the old one is in force', () => {
    const rotated: Signable = { ...STANDARD, secret: OTHER, previousSecret: STANDARD.secret };
    const headers = signatureHeaders(rotated);
    assert.equal(
      headers['Svc-Signature'],
      signatureHeaders({ ...STANDARD, secret: OTHER })['Svc-Signature'],
    );
    assert.equal(headers['Svc-Signature-Previous'], signatureHeaders(STANDARD)['Svc-Signature']);
    const [current, previous, ...more] = headers['webhook-signature']!.split(' ');
    assert.equal(current, signatureHeaders({ ...STANDARD, secret: OTHER })['webhook-signature']);
    assert.deepEqual([previous, more], [STANDARD_SIGNATURE, []]);
  });
});

describe('a new secret', () => {
  it('has at least 192 random bits after its prefix', () => {
    const secrets = Array.from({ length: 1_000 }, newSecret);
    assert.equal(new Set(secrets).size, secrets.length);
    for (const secret of secrets) {
      assert.ok(isSecret(secret));
      assert.ok(Buffer.from(secret.slice('whsec_'.length), 'base64').length * 8 >= 192);
    }
  });
});
