import { z } from 'zod';
import { amountJson } from '../../src/core/amount.js';
import type { Uuid } from '../../src/core/ids.js';
import { KEY_TYPES } from '../../src/db/entities/payouts.js';
import type { RecipientKey } from '../../src/payouts/rails/destinations.js';
import type { KeyHolder, RailOrder, RailPage } from '../../src/payouts/rails/rail.js';
import {
  amountSchema,
  HOLDER,
  type KeyedReport,
  keySchema,
  parsedJson,
  type RailCallback,
} from '../../src/payouts/rails/wire.js';

/**
 * Messages that a gateway reads and writes: the other end of src/payouts/rails/wire.ts.
 * (docs/payout-rail.md)
 */

const recipientKey = z.object({
  type: z.literal('bre_b_key'),
  key_type: z.enum(KEY_TYPES),
  key: z.string().min(1),
});

const order = z.object({
  key: keySchema,
  amount: amountSchema,
  destination: z.discriminatedUnion('type', [
    z.object({
      type: z.literal('bank_account'),
      country: z.string(),
      bank_code: z.string(),
      account_type: z.enum(['savings', 'checking']),
      account_number: z.string().min(1),
      holder_name: z.string(),
      holder_document: z.string(),
    }),
    recipientKey.extend({ holder: z.string().regex(HOLDER).nullable() }),
  ]),
  description: z.string().nullable(),
});

/** Null if it is not an order. */
export function readOrder(text: string): RailOrder | null {
  const read = order.safeParse(parsedJson(text));
  if (!read.success) return null;
  const { key: id, amount, destination: to, description } = read.data;
  return {
    key: id,
    amount: { raw: BigInt(amount.raw), asset: amount.asset },
    destination:
      to.type === 'bre_b_key'
        ? { ...keyOf(to), holder: to.holder }
        : {
            type: to.type,
            country: to.country,
            bankCode: to.bank_code,
            accountType: to.account_type,
            accountNumber: to.account_number,
            holderName: to.holder_name,
            holderDocument: to.holder_document,
          },
    description,
  };
}

function keyOf({ type, key_type: keyType, key }: z.output<typeof recipientKey>): RecipientKey {
  return { type, keyType, key };
}

/** Null if it does not ask who holds a key. */
export function readResolve(text: string): RecipientKey | null {
  const read = recipientKey.safeParse(parsedJson(text));
  return read.success ? keyOf(read.data) : null;
}

export function holderText(key: string, found: KeyHolder | null): string {
  if (found === null) return JSON.stringify({ key, status: 'unknown' });
  const { holder, holderName, bankCode, accountType } = found;
  const account = { bank_code: bankCode, account_type: accountType };
  return JSON.stringify({ key, status: 'found', holder, holder_name: holderName, ...account });
}

export function pageText({ items, next }: RailPage): string {
  const shown = items.map((item) => ({
    ...(JSON.parse(reportText(item)) as object),
    amount: amountJson(item.amount),
  }));
  return JSON.stringify({ items: shown, next });
}

export function reportText({ key: id, status, reference, failureCode: code }: KeyedReport): string {
  return JSON.stringify({ key: id, status, reference, failure: code === null ? null : { code } });
}

export function callbackText(report: RailCallback): string {
  return JSON.stringify({
    id: report.callbackId,
    ...(JSON.parse(reportText(report)) as object),
  });
}

export function unknownText(id: Uuid): string {
  return JSON.stringify({ key: id, status: 'unknown' });
}
