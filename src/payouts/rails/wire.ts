import { z } from 'zod';
import { ASSETS } from '../../core/amount.js';
import { parsedTextSchema } from '../../core/checked-text.js';
import { parseUuid, type Uuid } from '../../core/ids.js';
import { hmac, type Keyring, sameBytes, type SecretKey } from '../../core/fingerprint.js';
import type { Instant } from '../../core/instant.js';
import { textFault } from '../../core/text.js';
import { BANK_ACCOUNT_TYPES } from '../../db/entities/payouts.js';
import type { Destination, RecipientKey } from './destinations.js';
import { BANK_ACCOUNT_FORMS, MAX_HOLDER_NAME } from '../rules.js';
import {
  failureCode,
  type KeyHolder,
  type ListedPayment,
  type RailOrder,
  type RailPage,
  type RailReport,
} from './rail.js';

/** The messages between us and a gateway, as JSON. (docs/payout-rail.md) */

export const keySchema = parsedTextSchema(parseUuid, 'not a UUID');

export const RAIL_REFERENCE = /^[A-Za-z0-9._-]{1,64}$/;

const reportSchema = z
  .object({
    key: keySchema,
    status: z.enum(['accepted', 'completed', 'failed', 'returned', 'voided']),
    reference: z.string().regex(RAIL_REFERENCE).nullish(),
    failure: z.object({ code: z.string() }).nullish(),
  })
  // A payout that was voided before the gateway received it has no reference.
  .refine(({ status, reference }) => status === 'voided' || typeof reference === 'string');
const callbackSchema = z.intersection(
  reportSchema,
  z.object({ id: z.string().regex(/^[A-Za-z0-9._-]{1,50}$/) }),
);
export const amountSchema = z.object({
  raw: z.string().regex(/^[1-9][0-9]{0,18}$/),
  asset: z.enum(ASSETS),
});
const pageSchema = z.object({
  items: z.array(z.intersection(reportSchema, z.object({ amount: amountSchema }))),
  next: keySchema.nullable(),
});
export interface KeyedReport extends RailReport {
  readonly key: Uuid;
}

export interface RailCallback extends KeyedReport {
  readonly callbackId: string;
}

function reportOf(parsed: z.output<typeof reportSchema>): KeyedReport {
  const failed = parsed.status === 'failed' || parsed.status === 'returned';
  const code = failed ? failureCode(parsed.failure?.code ?? '') : null;
  return {
    key: parsed.key,
    status: parsed.status,
    reference: parsed.reference ?? null,
    failureCode: code,
  };
}

export function readReport(text: string): KeyedReport | null {
  const read = reportSchema.safeParse(parsedJson(text));
  return read.success ? reportOf(read.data) : null;
}

/** Returns whether the text is a protocol message about this key. Any other 404 proves nothing. */
export function isAbout(id: Uuid, status: 'unknown' | 'cannot_void', text: string): boolean {
  const read = z.object({ key: keySchema, status: z.literal(status) }).safeParse(parsedJson(text));
  return read.success && read.data.key === id;
}

export function cannotList(text: string): boolean {
  return z.object({ status: z.literal('cannot_list') }).safeParse(parsedJson(text)).success;
}

export function readPage(text: string): RailPage | null {
  const read = pageSchema.safeParse(parsedJson(text));
  if (!read.success) return null;
  const items = read.data.items.map((item): ListedPayment => ({
    ...reportOf(item),
    amount: { raw: BigInt(item.amount.raw), asset: item.amount.asset },
  }));
  return { items, next: read.data.next };
}

export function readCallback(text: string): RailCallback | null {
  const read = callbackSchema.safeParse(parsedJson(text));
  return read.success ? { ...reportOf(read.data), callbackId: read.data.id } : null;
}

export function orderText({ key: id, amount, destination, description }: RailOrder): string {
  return JSON.stringify({
    key: id,
    amount: { raw: amount.raw.toString(), asset: amount.asset },
    destination: destinationJson(destination),
    description,
  });
}

function destinationJson(to: Destination): object {
  if (to.type === 'bre_b_key') return { ...keyJson(to), holder: to.holder };
  return {
    type: to.type,
    country: to.country,
    bank_code: to.bankCode,
    account_type: to.accountType,
    account_number: to.accountNumber,
    holder_name: to.holderName,
    holder_document: to.holderDocument,
  };
}

export function keyJson({ type, keyType, key }: RecipientKey): object {
  return { type, key_type: keyType, key };
}

export const HOLDER = /^[A-Za-z0-9._-]{1,64}$/;

const holderSchema = z.object({
  key: z.string(),
  status: z.literal('found'),
  holder: z.string().regex(HOLDER),
  holder_name: z
    .string()
    .refine((name) => textFault(name, { max: MAX_HOLDER_NAME }) === null && name.trim() !== ''),
  bank_code: z.string().regex(BANK_ACCOUNT_FORMS.bankCode),
  account_type: z.enum(BANK_ACCOUNT_TYPES),
});

/** Returns who holds the key. Null if the text is not a complete message about this very key. */
export function readHolder(key: string, text: string): KeyHolder | null {
  const read = holderSchema.safeParse(parsedJson(text));
  if (!read.success || read.data.key !== key) return null;
  const {
    holder,
    holder_name: holderName,
    bank_code: bankCode,
    account_type: accountType,
  } = read.data;
  return { holder, holderName, bankCode, accountType };
}

/** Returns whether the text reports that this very key does not exist. */
export function isUnknownKey(key: string, text: string): boolean {
  const read = z
    .object({ key: z.string(), status: z.literal('unknown') })
    .safeParse(parsedJson(text));
  return read.success && read.data.key === key;
}

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Signatures of messages between the service and a gateway. (docs/payout-rail.md) */

const KEY_ID_HEADER = 'rail-key-id';
export const TIMESTAMP_HEADER = 'rail-timestamp';
const SIGNATURE_HEADER = 'rail-signature';

/** How far a message's timestamp may differ from our clock, in either direction. */
export const WINDOW_S = 300;

export interface SignedMessage {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: Buffer;
}

export type RailHeaders = Readonly<Record<string, string>>;

export function railHeaders(key: SecretKey, message: SignedMessage, now: Instant): RailHeaders {
  const timestamp = Math.floor(now / 1_000).toString();
  return {
    [KEY_ID_HEADER]: key.id,
    [TIMESTAMP_HEADER]: timestamp,
    [SIGNATURE_HEADER]: sign(key, message, timestamp).toString('hex'),
  };
}

/** `late`: signed with a shared key, but more than WINDOW_S ago or ahead. */
export type Verdict = 'genuine' | 'forged' | 'late';

/** Verifies the signature in constant time. Names in `headers` are in lower case. */
export function verify(
  keys: Keyring,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  message: SignedMessage,
  now: Instant,
): Verdict {
  const [keyId, timestamp, signature] = [KEY_ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER].map(
    (name) => headers[name],
  );
  if (typeof timestamp !== 'string' || !/^[1-9][0-9]{0,11}$/.test(timestamp)) return 'forged';
  if (typeof signature !== 'string' || !/^[0-9a-f]{64}$/.test(signature)) return 'forged';
  const key = keys.find(({ id }) => id === keyId);
  if (key === undefined || !sameBytes(sign(key, message, timestamp), Buffer.from(signature, 'hex')))
    return 'forged';
  const differenceS = Math.abs(now / 1_000 - Number.parseInt(timestamp, 10));
  return differenceS <= WINDOW_S ? 'genuine' : 'late';
}

function sign(key: SecretKey, { method, path, body }: SignedMessage, timestamp: string): Buffer {
  // None of the three contains a line break, so the parts cannot run together.
  return hmac(key, Buffer.concat([Buffer.from(`${timestamp}\n${method}\n${path}\n`), body]));
}
