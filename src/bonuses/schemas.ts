import { parseAlias, parsePhone } from '../accounts/identifiers.js';
import type { RecipientName } from '../accounts/recipients.js';
import { MAX_DESCRIPTION } from '../core/checked-text.js';
import { parsedText } from '../core/parsed-text.js';
import { EXAMPLE, exampled, exampledAs } from '../http/examples.js';
import { OPERATION_QUERY } from '../http/operation-query.js';
import {
  amountField,
  AmountSchema,
  boundedOfAsset,
  instantSchema,
  optional,
  pageSchema,
  textField,
  uuidField,
  uuidSchema,
} from '../http/schemas.js';
import { z } from '../http/zod.js';
import { MAX_REFERENCE } from './rules.js';

/** A name in canonical form. Reason: malformed. */
function nameField(
  parse: (text: string) => string | null,
  example: string,
): z.ZodType<string, string> {
  return parsedText(parse, 'malformed').openapi({ example });
}

const RecipientField = z
  .strictObject({
    account_id: optional(uuidField),
    alias: optional(nameField(parseAlias, '$ana')),
    phone: optional(nameField(parsePhone, '+573001112233')),
  })
  .transform(({ account_id: accountId, alias, phone }, context): RecipientName => {
    const given: RecipientName[] = [];
    if (accountId !== undefined) given.push({ by: 'account_id', value: accountId });
    if (alias !== undefined) given.push({ by: 'alias', value: alias });
    if (phone !== undefined) given.push({ by: 'phone', value: phone });
    const [name, ...others] = given;
    if (name !== undefined && others.length === 0) return name;
    context.addIssue('exactly_one_of: account_id, alias, phone');
    return z.NEVER;
  })
  .openapi('RecipientName', { description: 'Exactly one of the three.' });

export const CreateBonusBody = z
  .strictObject({
    source_account: uuidField,
    recipient: RecipientField,
    amount: amountField,
    description: optional(textField({ max: MAX_DESCRIPTION })),
    reference: optional(textField({ min: 1, max: MAX_REFERENCE })),
  })
  .openapi('CreateBonus');
exampledAs(CreateBonusBody, {
  source_account: EXAMPLE.source,
  recipient: { alias: '$ana' },
  amount: EXAMPLE.amount,
  description: 'Bonus for November',
  reference: 'NOV-0001',
});

export const BonusSchema = z
  .object({
    id: uuidSchema,
    status: z.literal('completed'),
    source_account: uuidSchema,
    recipient: z.object({ account_id: uuidSchema }),
    amount: AmountSchema,
    fee: AmountSchema,
    total_debited: AmountSchema.openapi({ description: 'The amount and its fee.' }),
    description: z.string().nullable(),
    reference: z.string().nullable().openapi({ description: 'Your own reference for it.' }),
    created_at: instantSchema,
  })
  .openapi('Bonus');
exampled(BonusSchema, {
  id: EXAMPLE.id,
  status: 'completed',
  source_account: EXAMPLE.source,
  recipient: { account_id: EXAMPLE.destination },
  amount: EXAMPLE.amount,
  fee: EXAMPLE.fee,
  total_debited: { raw: '150150', asset: EXAMPLE.asset },
  description: 'Bonus for November',
  reference: 'NOV-0001',
  created_at: EXAMPLE.at,
});

export const BonusPageSchema = pageSchema('BonusPage', BonusSchema);

export const BonusQuery = boundedOfAsset(
  z.strictObject({
    ...OPERATION_QUERY,
    recipient_account: uuidField.optional(),
  }),
);
