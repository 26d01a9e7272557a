import { type Amount, ASSET_UNITS, ASSETS, MAX_RAW } from '../core/amount.js';
import { isCountry, MAX_DESCRIPTION, parsedTextSchema } from '../core/checked-text.js';
import { parseUuid, type Uuid } from '../core/ids.js';
import { type Instant, parseRfc3339 } from '../core/instant.js';
import {
  changedMetadata,
  MAX_METADATA_BYTES,
  MAX_METADATA_PAIRS,
  MAX_METADATA_VALUE,
  type Metadata,
  METADATA_KEY,
  metadataFault,
} from '../core/metadata.js';
import { normaliseText, textFault } from '../core/text.js';
import { fieldsOf, withValues } from './resource.js';
import { EXAMPLE, exampled, exampledAs, exampleOf, z } from './zod.js';

/** Fields of bodies, queries and responses. Each reports a problem with a stable reason. */

/** Two capital letters of ISO 3166. Reason: not_a_country. */
export const countryField = z
  .string()
  .refine(isCountry, 'not_a_country')
  .openapi({ description: 'ISO 3166 alpha-2', pattern: '^[A-Z]{2}$', example: 'CO' });

/** A UUID in any case, returned in lower case. Reason: not_a_uuid. */
export const uuidField = parsedTextSchema(
  parseUuid,
  'not_a_uuid',
  z.string({ error: 'not_a_uuid' }),
).openapi({ format: 'uuid' });

export const assetField = z.enum(ASSETS).openapi('Asset', {
  description: `What an amount counts: ${ASSET_UNITS}.`,
});

const INTEGER_TEXT = /^(0|[1-9][0-9]*)$/;

/** Decimal text. Reasons: not_an_integer_string (a JSON number too), out_of_range. */
export const rawField = z
  .string({ error: 'not_an_integer_string' })
  .transform((text, context): bigint => {
    // Length first, so that thousands of digits cost nothing.
    if (text.length <= 19 && INTEGER_TEXT.test(text)) {
      const raw = BigInt(text);
      if (raw <= MAX_RAW) return raw;
    }
    context.addIssue(INTEGER_TEXT.test(text) ? 'out_of_range' : 'not_an_integer_string');
    return z.NEVER;
  })
  .openapi({
    format: 'int64',
    pattern: '^(0|[1-9][0-9]{0,18})$',
    description:
      'Integer in the smallest unit of the asset, written as text; at most 9223372036854775807.',
    example: '150000',
  });

export const amountField = z
  .strictObject({ raw: rawField, asset: assetField })
  .openapi('AmountInput', { description: 'An amount greater than zero.' });

/** Must agree with core/text.ts. */
const SEEN_CHARACTERS =
  '^[^\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]*$';

/**
 * Text in NFC; lengths in code points. Reasons: not_a_string, too_short, too_long,
 * control_character, format_character.
 */
export function textField(limits: {
  readonly min?: number;
  readonly max: number;
}): z.ZodType<string, string> {
  return z
    .string()
    .transform((text, context): string => {
      // NFC shrinks a text little, so far too long texts are not normalised.
      const normal = text.length > limits.max * 32 ? text : normaliseText(text);
      const fault = textFault(normal, limits);
      if (fault === null) return normal;
      context.addIssue(fault);
      return z.NEVER;
    })
    .openapi({ minLength: limits.min ?? 0, maxLength: limits.max, pattern: SEEN_CHARACTERS });
}

/** Text with a visible character. Reasons: those of `textField`. */
export function nameField(max: number) {
  return textField({ min: 1, max }).refine((text) => text.trim() !== '', 'too_short');
}

export function optional<S extends z.ZodType>(
  schema: S,
): z.ZodType<z.output<S> | undefined, z.input<S> | null | undefined> {
  return schema.nullish().transform((value): z.output<S> | undefined => value ?? undefined);
}

/** Pairs of texts. Reasons for a key: malformed; for a value: those of `textField`. */
function pairsOf<Value extends z.ZodType>(value: Value) {
  return z.record(z.string().regex(METADATA_KEY), value, {
    error: ({ code }) => (code === 'invalid_type' ? 'not_an_object' : undefined),
  });
}

const pairValue = textField({ min: 1, max: MAX_METADATA_VALUE });
const PAIRS = `A key has 1 to 40 of the characters a to z, 0 to 9 and _; keys and values together at most ${MAX_METADATA_BYTES} bytes.`;

/** The metadata of a new resource; undefined without pairs. Reasons: too_many, too_long. */
export const metadataField = optional(
  pairsOf(pairValue.nullable()).transform((pairs, context): Metadata | undefined => {
    const metadata = changedMetadata(null, pairs);
    const fault = metadata === null ? null : metadataFault(metadata);
    if (fault !== null) context.addIssue(fault);
    return metadata ?? undefined;
  }),
).openapi({
  description: `Your own data about it, at most ${MAX_METADATA_PAIRS} pairs. ${PAIRS}`,
});

export const MetadataBody = exampled(
  z
    .strictObject({
      metadata: pairsOf(pairValue.nullable()).describe(
        `The pairs to set and, with null, to remove; all others stay. ${PAIRS}`,
      ),
    })
    .openapi('ChangeMetadata'),
  { metadata: { invoice: 'A-18', order: null } },
);

/** The field of a resource. */
export const METADATA = fieldsOf<{ readonly metadata: Metadata | null }>()(
  'Your own data about it; empty if there is none.',
  z.record(z.string(), z.string()),
  EXAMPLE.metadata,
  ({ metadata }) => metadata ?? {},
);

/** The account of every body that pays. */
export const sourceField = uuidField.describe('The account that pays the amount and the fee.');

/** Further fields of every body that pays. */
export function paymentBody(receiver: string, description: string) {
  return {
    amount: amountField.describe(`The amount that the ${receiver} receives.`),
    description: optional(textField({ max: MAX_DESCRIPTION })).describe(description),
    metadata: metadataField,
  };
}

/** Returns what the fields of `paymentBody` and `sourceField` request. */
export function paymentRequest(body: {
  readonly source_account: Uuid;
  readonly amount: Amount;
  readonly description: string | undefined;
  readonly metadata: Metadata | undefined;
}) {
  return {
    sourceAccountId: body.source_account,
    amount: body.amount,
    description: body.description ?? null,
    metadata: body.metadata ?? null,
  };
}

/** Fractions of a millisecond are rounded. Reason: not_a_date_time. */
export function instantField(round: 'up' | 'down' = 'down'): z.ZodType<Instant, string> {
  const reason = 'not_a_date_time';
  return parsedTextSchema(
    (text) => parseRfc3339(text, round),
    reason,
    z.string({ error: reason }),
  ).openapi({ format: 'date-time' });
}

/** A JSON number. Reasons: not_an_integer, out_of_range. */
export function wholeNumber(min: number, max: number) {
  return z.int({ error: 'not_an_integer' }).min(min, 'out_of_range').max(max, 'out_of_range');
}

/** Plain digits. Reasons: not_an_integer, out_of_range. */
const limitField = z
  .string()
  .default('25')
  .transform((text, context): number => {
    const value = INTEGER_TEXT.test(text) ? Number(text) : Number.NaN;
    if (value >= 1 && value <= 100) return value;
    context.addIssue(Number.isNaN(value) ? 'not_an_integer' : 'out_of_range');
    return z.NEVER;
  })
  .openapi({
    description: 'How many items the page has at most.',
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 25,
  });

/** The parameters of every collection. http/cursor.ts parses the cursor. */
export const PAGE_QUERY = {
  limit: limitField,
  cursor: z.string().optional().openapi({
    description:
      'The `next_cursor` of the previous page, with the same filters. Without it, the first page.',
  }),
};

export const CREATED_AT_QUERY = {
  'created_at[gte]': instantField('up').optional().describe('Created at this moment or later.'),
  'created_at[lte]': instantField('down').optional().describe('Created at this moment or earlier.'),
};

export const rawSchema = z
  .string()
  .openapi({ format: 'int64', pattern: '^-?(0|[1-9][0-9]{0,18})$', example: '150000' });

/** Inclusive bounds on an operation's amount; `boundedOfAsset` requires the asset. */
const AMOUNT_QUERY = {
  asset: assetField
    .optional()
    .describe('Only amounts in this asset. Required with a bound on the amount.'),
  'amount[gte]': rawField.optional().describe('Only amounts (`raw`) of at least this.'),
  'amount[lte]': rawField.optional().describe('Only amounts (`raw`) of at most this.'),
};

/** The filters of every list of operations, or of batches. */
export const KEYED_QUERY = {
  ...PAGE_QUERY,
  ...CREATED_AT_QUERY,
  source_account: uuidField.optional().describe('Paid from this account.'),
  idempotency_key: uuidField
    .optional()
    .describe('Created, approved or executed under this `Idempotency-Key`: at most one item.'),
};

export const OPERATION_QUERY = {
  ...KEYED_QUERY,
  ...AMOUNT_QUERY,
  request_id: uuidField
    .optional()
    .describe('Created by the request whose response had this `Svc-Request-Id`: at most one item.'),
  metadata: pairsOf(pairValue)
    .refine((pairs) => Object.keys(pairs).length === 1, 'too_many')
    .optional()
    .openapi({
      description: 'With exactly this pair, such as `metadata[invoice]=A-17`; one pair at most.',
      param: { style: 'deepObject', explode: true },
    }),
};

type OperationQuery = Partial<z.output<z.ZodObject<typeof OPERATION_QUERY>>>;

export function operationFilter(query: OperationQuery) {
  const [pair] = Object.entries(query.metadata ?? {});
  return {
    pair,
    sourceAccountId: query.source_account,
    from: query['created_at[gte]'],
    to: query['created_at[lte]'],
    idempotencyKey: query.idempotency_key,
    requestId: query.request_id,
    asset: query.asset,
    min: query['amount[gte]'],
    max: query['amount[lte]'],
  };
}

/** Requires the asset with bounds on the amount. Reason: needed_with_amount. */
export function boundedOfAsset<S extends z.ZodObject>(query: S): S {
  return query.refine(
    (given: Readonly<Record<string, unknown>>) =>
      given.asset !== undefined ||
      (given['amount[gte]'] === undefined && given['amount[lte]'] === undefined),
    { path: ['asset'], error: 'needed_with_amount' },
  );
}

export const AmountSchema = z
  .object({
    raw: rawSchema.describe('The integer amount in the smallest unit of the asset, as text.'),
    asset: assetField.describe('The asset that it is an amount of.'),
  })
  .openapi('Amount', { description: 'An amount of an asset.' });

/** A nullable component would be documented as never null. */
export const nullableAmountSchema = z.union([AmountSchema, z.null()]);

export const instantSchema = z
  .string()
  .openapi({ format: 'date-time', example: '2026-11-01T14:05:00.000Z' });

export const uuidSchema = z.string().openapi({ format: 'uuid' });

/** The field of a resource that spends from an account. */
export const SOURCE_ACCOUNT = fieldsOf<{ readonly sourceAccountId: Uuid }>()(
  'The account that pays the amount and the fee.',
  uuidSchema,
  EXAMPLE.source,
  ({ sourceAccountId }) => sourceAccountId,
);

/** Returns the schema `{items, next_cursor}` under `name`. */
export function pageSchema<S extends z.ZodType>(
  name: string,
  item: S,
): z.ZodObject<{ items: z.ZodArray<S>; next_cursor: z.ZodNullable<z.ZodString> }> {
  const page = z
    .object({
      items: z.array(item).describe('The resources of this page, in the order of the list.'),
      next_cursor: z.string().nullable().openapi({ description: 'null on the last page' }),
    })
    .openapi(name);
  const example = exampleOf(item);
  return example === undefined
    ? page
    : exampledAs(page, { items: [example], next_cursor: EXAMPLE.cursor });
}

/** Text with the values of today. Later processes may return others, which clients must be able to read. */
export function openEnum(values: readonly (string | null)[]): z.ZodType<string> {
  return z.string().openapi({ 'x-extensible-enum': [...values] });
}

/** Code for machines, with the meaning of each value of today. */
export function codeSchema(meanings: Readonly<Record<string, string>>): z.ZodType<string> {
  return openEnum(Object.keys(meanings)).openapi({
    description: withValues('The cause, for machines.', meanings),
  });
}
