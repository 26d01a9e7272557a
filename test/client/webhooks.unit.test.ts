import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import {
  newWebhookSecret,
  signWebhook,
  verifyWebhook,
  WebhookError,
} from '../../packages/client/src/index.js';
import { verifySignatures } from '../../development/receiver/signatures.js';
import { newSecret, signatureHeaders } from '../../src/webhooks/signing.js';

const ID = '0198f2c4-6a51-7c3e-9a02-3f1f8d6b7a10';
const BODY = `{"id":"${ID}","type":"transfer.completed","sequence":7,"data":{"object":{"amount":{"raw":"9007199254740993","asset":"COPM"},"description":"🦄 e\u0301"}}}`;

function nowS(): number {
  return Math.floor(Date.now() / 1_000);
}

describe('verifyWebhook', () => {
  const secret = newSecret();
  const signed = (by = secret, changes: { body?: string; previous?: string; at?: number } = {}) =>
    signatureHeaders({
      id: ID,
      body: Buffer.from(changes.body ?? BODY),
      secret: by,
      previousSecret: changes.previous ?? null,
      timestampS: changes.at ?? nowS(),
    });

  it('gives the event that the service signed, with its amounts as bigint', async () => {
    for (const body of [BODY, Buffer.from(BODY)]) {
      const event = await verifyWebhook({ body, headers: signed() }, secret);
      assert.ok(event.type === 'transfer.completed');
      assert.equal(event.data.object.amount.raw, 9_007_199_254_740_993n);
      assert.equal(JSON.stringify(event), BODY);
    }
  });

  it('reads the headers in every form in which receivers hold them', async () => {
    const lower = Object.fromEntries(
      Object.entries(signed()).map(([name, value]) => [name.toLowerCase(), value]),
    );
    for (const headers of [new Headers(signed()), lower])
      await verifyWebhook({ body: BODY, headers }, secret);
  });

  it('accepts either secret of a rotation', async () => {
    const old = newSecret();
    const headers = signed(secret, { previous: old });
    await verifyWebhook({ body: BODY, headers }, secret);
    await verifyWebhook({ body: BODY, headers }, old);
  });

  const good = signed();
  const REFUSED: Readonly<Record<string, readonly [string, Record<string, string>]>> = {
    'another secret': [BODY, signed(newSecret())],
    'a changed body': [BODY.replace('7', '8'), good],
    'a body with an additional space': [`${BODY} `, good],
    'no header at all': [BODY, {}],
    'a signature in capitals': [
      BODY,
      { ...good, 'Svc-Signature': good['Svc-Signature']?.toUpperCase() ?? '' },
    ],
    'half a signature': [
      BODY,
      { ...good, 'Svc-Signature': good['Svc-Signature']?.slice(0, 32) ?? '' },
    ],
    'no standard signature': [BODY, { 'Svc-Signature': good['Svc-Signature'] ?? '' }],
    'a later time than was signed': [BODY, { ...good, 'webhook-timestamp': String(nowS() + 1) }],
    'another id than was signed': [BODY, { ...good, 'webhook-id': 'x' }],
    'a delivery dated two hours ago': [BODY, signed(secret, { at: nowS() - 7_200 })],
    'a delivery dated two hours ahead': [BODY, signed(secret, { at: nowS() + 7_200 })],
    'a timestamp that is not a number': [BODY, { ...good, 'webhook-timestamp': 'NaN' }],
  };
  for (const [what, [body, headers]] of Object.entries(REFUSED))
    it(`refuses ${what}`, () =>
      assert.rejects(verifyWebhook({ body, headers }, secret), WebhookError));

  it('refuses to verify with an empty secret, because anyone could sign with it', async () => {
    const forged = { 'Svc-Signature': createHmac('sha256', '').update(BODY).digest('hex') };
    const verified = verifyWebhook({ body: BODY, headers: forged }, '', { toleranceS: null });
    await assert.rejects(verified, { name: 'TypeError', message: /the secret is empty/ });
  });

  it('accepts an old delivery if no age is required', async () => {
    const headers = { 'Svc-Signature': signed()['Svc-Signature'] ?? '' };
    await verifyWebhook({ body: BODY, headers }, secret, { toleranceS: null });
  });
});

describe('signWebhook', () => {
  it('signs as the service does', async () => {
    const secret = newWebhookSecret();
    const headers = await signWebhook({ id: ID, body: BODY }, secret);
    const lower = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const checks = verifySignatures({ body: Buffer.from(BODY), headers: lower }, secret, nowS());
    assert.deepEqual(
      checks.map(({ problem }) => problem),
      [null, null],
    );
    const at = new Date(1_700_000_000_000);
    const expected = signatureHeaders({
      id: ID,
      body: Buffer.from(BODY),
      secret,
      previousSecret: null,
      timestampS: 1_700_000_000,
    });
    assert.deepEqual(await signWebhook({ id: ID, body: BODY, at }, secret), expected);
  });
});
