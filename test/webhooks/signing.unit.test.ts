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

/** What a receiver with this secret finds wrong, by header. */
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
  it('a delivery is signed as Standard Webhooks has it', () => {
    const headers = signatureHeaders(STANDARD);
    assert.equal(headers['webhook-id'], STANDARD.id);
    assert.equal(headers['webhook-timestamp'], '1614265330');
    assert.equal(headers['webhook-signature'], STANDARD_SIGNATURE);
  });

  it('a delivery carries the lowercase hexadecimal HMAC-SHA256 of its bytes, keyed with the secret as shown', () => {
    // openssl dgst -sha256 -hmac whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
    assert.equal(
      signatureHeaders(STANDARD)['Svc-Signature'],
      createHmac('sha256', Buffer.from(STANDARD.secret, 'utf8'))
        .update(STANDARD.body)
        .digest()
        .toString('hex'),
    );
    assert.match(signatureHeaders(STANDARD)['Svc-Signature']!, /^[0-9a-f]{64}$/);
  });

  it('a delivery has no header of an old secret when there is none', () =>
    assert.deepEqual(Object.keys(signatureHeaders(STANDARD)).sort(), [
      'Svc-Signature',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
    ]));

  it('a delivery is signed with both secrets while the old one is in force', () => {
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

  it('a delivery signs the bytes, whatever they are', () => {
    const bodies = [
      Buffer.alloc(0),
      Buffer.from([0, 255, 128, 10]),
      Buffer.from('🦄 ‮ \\u0000'),
      Buffer.alloc(300_000, 'x'),
    ];
    for (const body of bodies)
      assert.deepEqual(
        problemsOf({ body, headers: signatureHeaders({ ...STANDARD, body }) }, STANDARD.secret),
        GOOD,
      );
  });

  it('a delivery cannot be signed with something that is not a secret', () => {
    for (const secret of [
      '',
      'whsec_',
      'whsec_?',
      'secret',
      'WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      'whsec_MfKQ9',
    ])
      assert.throws(() => signatureHeaders({ ...STANDARD, secret }), TypeError, secret);
  });
});

describe('a new secret', () => {
  it('a new secret has at least 192 random bits after its prefix', () => {
    const secrets = Array.from({ length: 1_000 }, newSecret);
    assert.equal(new Set(secrets).size, secrets.length);
    for (const secret of secrets) {
      assert.ok(isSecret(secret));
      assert.ok(Buffer.from(secret.slice('whsec_'.length), 'base64').length * 8 >= 192);
    }
  });
});

describe('a receiver', () => {
  const delivery = { body: STANDARD.body, headers: signatureHeaders(STANDARD) };

  it('a receiver finds nothing wrong with a delivery of ours', () =>
    assert.deepEqual(problemsOf(delivery, STANDARD.secret), GOOD));

  it('a receiver accepts a delivery during a rotation with the new secret and with the old one', () => {
    const headers = signatureHeaders({
      ...STANDARD,
      secret: OTHER,
      previousSecret: STANDARD.secret,
    });
    for (const secret of [OTHER, STANDARD.secret])
      assert.deepEqual(problemsOf({ body: STANDARD.body, headers }, secret), GOOD);
  });

  for (const [what, received] of Object.entries({
    'a changed body': { ...delivery, body: Buffer.from('{"test": 2432232315}') },
    'a body written anew': { ...delivery, body: Buffer.from('{"test":2432232314}') },
    'another secret': { ...delivery, headers: signatureHeaders({ ...STANDARD, secret: OTHER }) },
    'no signature at all': { ...delivery, headers: {} },
  }))
    it(`a receiver refuses ${what} by both signatures`, () => {
      const problems = problemsOf(received, STANDARD.secret);
      assert.ok(
        problems['Svc-Signature'] !== null && problems['webhook-signature'] !== null,
        JSON.stringify(problems),
      );
    });

  for (const [header, value] of [
    ['Svc-Signature', ''],
    ['Svc-Signature', signatureHeaders(STANDARD)['Svc-Signature']!.toUpperCase()],
    ['Svc-Signature', 'é'.repeat(32)],
    ['webhook-signature', STANDARD_SIGNATURE.replace('v1,', 'v2,')],
    ['webhook-signature', STANDARD_SIGNATURE.slice(3)],
    ['webhook-id', 'msg_other'],
    ['webhook-timestamp', '1614265331'],
    ['webhook-timestamp', '1614265330.0'],
    ['webhook-timestamp', ''],
  ] as const)
    it(`a receiver says which signature fails when ${header} is ${JSON.stringify(value)}`, () => {
      const problems = problemsOf(
        { ...delivery, headers: { ...delivery.headers, [header]: value } },
        STANDARD.secret,
      );
      const [failing, other] =
        header === 'Svc-Signature'
          ? ['Svc-Signature', 'webhook-signature']
          : ['webhook-signature', 'Svc-Signature'];
      assert.equal(typeof problems[failing], 'string');
      assert.equal(problems[other], null);
    });

  it('a receiver refuses a delivery from another time, five minutes being the limit', () => {
    const at = (nowS: number): string | null =>
      problemsOf(delivery, STANDARD.secret, nowS)['webhook-signature']!;
    for (const away of [0, 300, -300]) assert.equal(at(STANDARD.timestampS + away), null);
    for (const away of [301, -301])
      assert.match(at(STANDARD.timestampS + away) ?? '', /301 s away/);
  });
});
