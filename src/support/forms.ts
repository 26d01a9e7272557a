import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Amount, type Asset, isAsset, LISTED_ASSETS, parseRaw } from '../core/amount.js';
import { ApiError, invalidField } from '../core/errors.js';
import { readBody } from '../http/request-body.js';
import { DeskError } from './desk.js';

const BODY_MS = 10_000;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i;
export const TOKEN_FIELD = 'form_token';
/** The id of the person to whom the form was shown. */
export const AUTHOR_FIELD = 'by';
const FORM = 'form';

/** Reads a form. Throws `DeskError`, or `ApiError` for a body that is too large or too slow. */
export async function readForm(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(request.headers['content-type'] ?? ''))
    throw new DeskError(415, 'Not a form', 'The desk accepts only its own forms.');
  const bytes = await readBody(request, response, BODY_MS);
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) throw new ApiError(invalidField('', 'not_utf8'));
  return new URLSearchParams(text);
}

/** Returns the authenticator's code, which people may type with spaces. */
export function codeOf(form: URLSearchParams): string {
  return (form.get('code') ?? '').replaceAll(/\s/g, '');
}

/** Returns the anti-forgery token for all forms shown to the owner of `secret`. */
export function formToken(secret: string): string {
  return hmacOf(secret, FORM);
}

/** Whether the form has the token that `formToken` returns. */
export function hasToken(form: URLSearchParams, secret: string): boolean {
  return isHmacOf(form.get(TOKEN_FIELD), secret, FORM);
}

/** Returns an HMAC of the text, which proves that this desk showed it to the owner of `secret`. */
export function hmacOf(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

export function isHmacOf(given: string | null, secret: string, text: string): boolean {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(hmacOf(secret, text))];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Whether a page of the desk sent the request. The desk's referrer policy makes `origin` null. */
export function isFromOurPage(request: IncomingMessage, ownOrigin: string): boolean {
  const site = request.headers['sec-fetch-site'];
  const origin = request.headers.origin;
  const isOwn =
    origin !== undefined &&
    (origin === ownOrigin ||
      (URL.canParse(origin) && new URL(origin).host === request.headers.host));
  if (site === undefined) return isOwn;
  return site === 'same-origin' && (isOwn || origin === undefined || origin === 'null');
}

/** Parses `1500.00` to the smallest unit. Returns null for malformed text. */
export function parseUnits(text: string, asset: Asset): bigint | null {
  const { scale } = LISTED_ASSETS[asset];
  const [, whole = '', decimals = ''] =
    /^(0|[1-9][0-9]{0,18})(?:\.([0-9]{1,18}))?$/.exec(text.trim()) ?? [];
  if (whole === '' || decimals.length > scale) return null;
  const digits = `${whole}${decimals.padEnd(scale, '0')}`.replace(/^0+(?=\d)/, '');
  return parseRaw(digits);
}

/**
 * Parses an amount as the desk prints it, with commas and the asset, or as `parseUnits` reads it.
 * Without an asset in the text, the amount is in `asset`. Returns null for malformed text,
 * and for `1.500`, which many people read as 1,500.
 */
export function parsePrinted(text: string, asset: Asset): Amount | null {
  const [number = '', named = asset, ...rest] = text.trim().split(/\s+/);
  if (rest.length > 0 || !isAsset(named)) return null;
  const isGrouped = /^[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?$/.test(number);
  if (/^[1-9][0-9]{0,2}\.[0-9]{3}$/.test(number)) return null;
  const raw = parseUnits(isGrouped ? number.replaceAll(',', '') : number, named);
  return raw === null ? null : { raw, asset: named };
}

/** Returns the field `amount`, which is in `asset`. Throws `ApiError` if it is malformed or 0. */
export function amountOf(form: URLSearchParams, asset: Asset): Amount {
  const amount = parsePrinted(form.get('amount') ?? '', asset);
  if (amount?.asset === asset && amount.raw > 0n) return amount;
  throw new ApiError(invalidField('amount', HOW_TO_WRITE));
}

const HOW_TO_WRITE =
  'write it as 1,500.00 or 1500, more than 0. A point is not a thousands mark here, and 1.500 is refused';
