import { z } from 'zod';
import { ASSETS } from '../../core/amount.js';
import { parseUuid, type Uuid } from '../../core/ids.js';
import { parsedText } from '../../core/parsed-text.js';
import type { RailStatement } from '../rules.js';
import { failureCode } from './rules.js';
import type { ListedPayment, RailOrder, RailPage } from './types.js';

/** The messages between us and a gateway, as JSON. (docs/payout-rail.md) */

export const key = parsedText(parseUuid, 'not a UUID');

export const RAIL_REFERENCE = /^[A-Za-z0-9._-]{1,64}$/;

const statement = z
  .object({
    key,
    status: z.enum(['accepted', 'completed', 'failed', 'returned', 'voided']),
    reference: z.string().regex(RAIL_REFERENCE).nullish(),
    failure: z.object({ code: z.string() }).nullish(),
  })
  // A payout that was voided before the gateway heard of it has no name there.
  .refine(({ status, reference }) => status === 'voided' || typeof reference === 'string');
const keyWith = (status: string) => z.object({ key, status: z.literal(status) });
const callback = z.intersection(
  statement,
  z.object({ id: z.string().regex(/^[A-Za-z0-9._-]{1,50}$/) }),
);
export const amount = z.object({
  raw: z.string().regex(/^[1-9][0-9]{0,18}$/),
  asset: z.enum(ASSETS),
});
const page = z.object({
  items: z.array(z.intersection(statement, z.object({ amount }))),
  next: key.nullable(),
});
export interface KeyedStatement extends RailStatement {
  readonly key: Uuid;
}

/** The same, sent unasked by the gateway. */
export interface RailCallback extends KeyedStatement {
  /** The callback's own id; the same when it is sent again. */
  readonly callbackId: string;
}

function statementOf(given: z.output<typeof statement>): KeyedStatement {
  const failed = given.status === 'failed' || given.status === 'returned';
  const code = failed ? failureCode(given.failure?.code ?? '') : null;
  return {
    key: given.key,
    status: given.status,
    reference: given.reference ?? null,
    failureCode: code,
  };
}

export function readStatement(text: string): KeyedStatement | null {
  const read = statement.safeParse(parsed(text));
  return read.success ? statementOf(read.data) : null;
}

/** True if it says, in the protocol's words, that this key is unknown: any other 404 proves nothing. */
export function saysUnknown(text: string, wanted: Uuid): boolean {
  return saysOf(wanted, 'unknown', text);
}

/** True if it says likewise that the gateway cannot void. */
export function saysCannotVoid(text: string, wanted: Uuid): boolean {
  return saysOf(wanted, 'cannot_void', text);
}

export function saysCannotList(text: string): boolean {
  return z.object({ status: z.literal('cannot_list') }).safeParse(parsed(text)).success;
}

export function readPage(text: string): RailPage | null {
  const read = page.safeParse(parsed(text));
  if (!read.success) return null;
  const items = read.data.items.map((item): ListedPayment => ({
    ...statementOf(item),
    amount: { raw: BigInt(item.amount.raw), asset: item.amount.asset },
  }));
  return { items, next: read.data.next };
}

function saysOf(wanted: Uuid, status: string, text: string): boolean {
  const read = keyWith(status).safeParse(parsed(text));
  return read.success && read.data.key === wanted;
}

export function readCallback(text: string): RailCallback | null {
  const read = callback.safeParse(parsed(text));
  return read.success ? { ...statementOf(read.data), callbackId: read.data.id } : null;
}

export function orderText({ key: id, amount, destination: to, description }: RailOrder): string {
  return JSON.stringify({
    key: id,
    amount: { raw: amount.raw.toString(), asset: amount.asset },
    destination: {
      type: 'bank_account',
      country: to.country,
      bank_code: to.bankCode,
      account_type: to.accountType,
      account_number: to.accountNumber,
      holder_name: to.holderName,
      holder_document: to.holderDocument,
    },
    description,
  });
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
