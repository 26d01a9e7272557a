import type { Event } from './follow.js';
import type { components } from './generated/schema.js';
import { readJson } from './json.js';

/** Body that the service sends as a test. */
export type WebhookTest = components['schemas']['WebhookTest'];
export type WebhookBody = Event | WebhookTest;

/** The delivery is not from the service, or is too old. Respond with 401, and do nothing else. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

export interface ReceivedWebhook {
  /** The bytes as received, or as text; never JSON that was parsed and serialised again. */
  readonly body: Uint8Array | string;
  /** The request's headers, in any case: a Headers, or what Node and frameworks provide. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface VerifyOptions {
  /**
   * How old a delivery may be, in seconds. 300 by default. Null for any age, if your receiver gets
   * only the header `Svc-Signature`.
   */
  readonly toleranceS?: number | null;
}

const PREFIX = 'whsec_';
const TOLERANCE_S = 300;
const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const;
const encoder = new TextEncoder();
/** This type has different names in Node and in browsers. */
type Key = Parameters<typeof crypto.subtle.sign>[1];
type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Returns the event in a delivery that the service signed with this secret. Throws WebhookError.
 * `Svc-Signature`, or during a rotation `Svc-Signature-Previous`, proves the body;
 * `webhook-signature` proves when it was sent. Signatures are compared by WebCrypto, in constant
 * time.
 */
export async function verifyWebhook(
  { body, headers }: ReceivedWebhook,
  secret: string,
  { toleranceS = TOLERANCE_S }: VerifyOptions = {},
): Promise<WebhookBody> {
  if (secret === '') throw new TypeError('the secret is empty: anybody could sign');
  const bytes = bytesOf(body);
  const header = (name: string): string => headerOf(headers, name);
  const own = await keyOf(bytesOf(secret), 'verify');
  const given = [header('svc-signature'), header('svc-signature-previous')].map(bytesOfHex);
  const fits = await Promise.all(given.map((one) => crypto.subtle.verify(HMAC, own, one, bytes)));
  if (!fits.includes(true))
    throw new WebhookError('Svc-Signature does not fit the body and this secret');
  if (toleranceS !== null) {
    const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')];
    await assertStandardSignature(
      standardContent(id, timestamp, bytes),
      header('webhook-signature'),
      secret,
    );
    const awayS = Math.abs(Date.now() / 1_000 - Number(timestamp));
    // NaN is not a valid time either.
    if (!(awayS <= toleranceS))
      throw new WebhookError(`the delivery was sent ${Math.round(awayS)} s away from this clock`);
  }
  return readJson(new TextDecoder().decode(bytes)) as WebhookBody;
}

/**
 * Returns the headers with which the service would send a body, for tests of a receiver. `at` is the
 * time of sending.
 */
export async function signWebhook(
  {
    id,
    body,
    at = new Date(),
  }: { readonly id: string; readonly body: Uint8Array | string; readonly at?: Date },
  secret: string,
): Promise<Record<string, string>> {
  const bytes = bytesOf(body);
  const timestamp = Math.floor(at.getTime() / 1_000).toString();
  const own = await crypto.subtle.sign(HMAC, await keyOf(bytesOf(secret), 'sign'), bytes);
  const content = standardContent(id, timestamp, bytes);
  const standard = await crypto.subtle.sign(
    HMAC,
    await keyOf(standardKey(secret), 'sign'),
    content,
  );
  return {
    'Svc-Signature': Array.from(new Uint8Array(own), (byte) =>
      byte.toString(16).padStart(2, '0'),
    ).join(''),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(standard)))}`,
  };
}

/** Returns a new secret in the service's format. */
export function newWebhookSecret(): string {
  return PREFIX + btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(24))));
}

async function assertStandardSignature(
  content: Bytes,
  signatures: string,
  secret: string,
): Promise<void> {
  const key = await keyOf(standardKey(secret), 'verify');
  const given = signatures
    .split(' ')
    .map((one) => (one.startsWith('v1,') ? bytesOfBase64(one.slice(3)) : new Uint8Array()));
  const fits = await Promise.all(given.map((one) => crypto.subtle.verify(HMAC, key, one, content)));
  if (!fits.includes(true))
    throw new WebhookError(
      'webhook-signature does not fit webhook-id, webhook-timestamp, the body and this secret',
    );
}

/** The signed content of Standard Webhooks: `id.timestamp.body`. */
function standardContent(id: string, timestamp: string, body: Bytes): Bytes {
  const head = encoder.encode(`${id}.${timestamp}.`);
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);
  return content;
}

function standardKey(secret: string): Bytes {
  const key = secret.startsWith(PREFIX)
    ? bytesOfBase64(secret.slice(PREFIX.length))
    : new Uint8Array();
  if (key.length === 0)
    throw new TypeError('this is not a webhook secret, which begins with whsec_');
  return key;
}

function bytesOf(body: Uint8Array | string): Bytes {
  return new Uint8Array(typeof body === 'string' ? encoder.encode(body) : body);
}

function keyOf(bytes: Bytes, use: 'sign' | 'verify'): Promise<Key> {
  return crypto.subtle.importKey('raw', bytes, HMAC, false, [use]);
}

/** Returns empty bytes, which are never a valid signature, unless the text is as the service writes it. */
function bytesOfHex(text: string): Bytes {
  if (!/^[0-9a-f]{64}$/.test(text)) return new Uint8Array();
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function bytesOfBase64(text: string): Bytes {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

/** Returns an empty text if the header is absent or was sent twice. */
function headerOf(headers: ReceivedWebhook['headers'], name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const [, value] = Object.entries(headers).find(([given]) => given.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : '';
}
