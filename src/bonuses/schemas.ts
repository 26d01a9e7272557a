import { parseAlias, parsePhone, type RecipientName } from '../accounts/recipients.js';
import { amountJson } from '../core/amount.js';
import { parsedTextSchema } from '../core/checked-text.js';
import { toRfc3339 } from '../core/instant.js';
import type { Bonus } from '../db/entities/bonuses.js';
import { EXAMPLE, exampledAs, z } from '../http/zod.js';
import {
  AmountSchema,
  boundedOfAsset,
  instantSchema,
  METADATA,
  OPERATION_QUERY,
  optional,
  pageSchema,
  paymentBody,
  SOURCE_ACCOUNT,
  sourceField,
  textField,
  uuidField,
  uuidSchema,
} from '../http/schemas.js';
import { defineResource, fieldsOf } from '../http/resource.js';
import { MAX_REFERENCE } from './decide.js';

function nameField(
  parse: (text: string) => string | null,
  example: string,
): z.ZodType<string, string> {
  return parsedTextSchema(parse, 'malformed').openapi({ example });
}

const RecipientField = z
  .strictObject({
    account_id: optional(uuidField).describe('The id of the account.'),
    alias: optional(nameField(parseAlias, '$ana')).describe('The alias of the account.'),
    phone: optional(nameField(parsePhone, '+573001112233')).describe('The phone of its holder.'),
  })
  .transform(({ account_id: accountId, alias, phone }, context): RecipientName => {
    const names: RecipientName[] = [];
    if (accountId !== undefined) names.push({ by: 'account_id', value: accountId });
    if (alias !== undefined) names.push({ by: 'alias', value: alias });
    if (phone !== undefined) names.push({ by: 'phone', value: phone });
    const [name, ...surplus] = names;
    if (name !== undefined && surplus.length === 0) return name;
    context.addIssue('exactly_one_of: account_id, alias, phone');
    return z.NEVER;
  })
  .openapi('RecipientName', { description: 'Exactly one of the three.' });

export const CreateBonusBody = z
  .strictObject({
    source_account: sourceField,
    recipient: RecipientField,
    ...paymentBody('recipient', 'A text that both parties see.'),
    reference: optional(textField({ min: 1, max: MAX_REFERENCE })).describe(
      'Your own reference for it.',
    ),
  })
  .openapi('CreateBonus');
exampledAs(CreateBonusBody, {
  source_account: EXAMPLE.source,
  recipient: { alias: '$ana' },
  amount: EXAMPLE.amount,
  description: 'Bonus for November',
  reference: 'NOV-0001',
  metadata: EXAMPLE.metadata,
});

const field = fieldsOf<Bonus>();

export const bonusResource = defineResource(
  'Bonus',
  'A payment from an account of the tenant to a person, made at once.',
  {
    id: field('The id of the bonus.', uuidSchema, EXAMPLE.id, ({ id }) => id),
    status: field(
      'Always `completed`: a bonus is paid at once or not at all.',
      z.literal('completed'),
      'completed',
      () => 'completed' as const,
    ),
    source_account: SOURCE_ACCOUNT,
    recipient: field(
      'The receiver of the amount.',
      z.object({
        account_id: uuidSchema.describe('The account that the name in the request stood for.'),
      }),
      { account_id: EXAMPLE.destination },
      ({ recipientAccountId }) => ({ account_id: recipientAccountId }),
    ),
    amount: field(
      'The amount that the recipient receives.',
      AmountSchema,
      EXAMPLE.amount,
      ({ raw, asset }) => amountJson({ raw, asset }),
    ),
    fee: field(
      'The fee that the source account pays in addition to the amount.',
      AmountSchema,
      EXAMPLE.fee,
      ({ feeRaw: raw, asset }) => amountJson({ raw, asset }),
    ),
    total_debited: field(
      'The amount and its fee.',
      AmountSchema,
      { raw: '150150', asset: EXAMPLE.asset },
      ({ raw, feeRaw, asset }) => amountJson({ raw: raw + feeRaw, asset }),
    ),
    refunded: field(
      'The sum of its completed refunds.',
      AmountSchema,
      EXAMPLE.zero,
      ({ refundedRaw: raw, asset }) => amountJson({ raw, asset }),
    ),
    description: field(
      'The text that was given with the request.',
      z.string().nullable(),
      'Bonus for November',
      (bonus) => bonus.description,
    ),
    reference: field(
      'Your own reference for it.',
      z.string().nullable(),
      'NOV-0001',
      ({ reference }) => reference,
    ),
    metadata: METADATA,
    created_at: field('When it was paid.', instantSchema, EXAMPLE.at, ({ createdAt }) =>
      toRfc3339(createdAt),
    ),
  },
);
export const BonusSchema = bonusResource.schema;

export const BonusPageSchema = pageSchema('BonusPage', BonusSchema);

export const BonusQuery = boundedOfAsset(
  z.strictObject({
    ...OPERATION_QUERY,
    recipient_account: uuidField.optional().describe('Paid to this account.'),
  }),
);
