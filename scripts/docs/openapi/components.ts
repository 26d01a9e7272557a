import type { OpenAPIRegistry, ResponseConfig } from '@asteasolutions/zod-to-openapi';
import {
  ERROR_CODES,
  type ErrorCode,
  type ErrorEntry,
  ERRORS,
} from '../../../src/core/error-table.js';
import { API_VERSIONS, CURRENT_VERSION } from '../../../src/core/api-version.js';
import { ErrorWriter } from '../../../src/http/errors.js';
import { amountField, AmountSchema, assetField, openEnum } from '../../../src/http/schemas.js';
import { z } from '../../../src/http/zod.js';
import { detailsOf } from './error-details.js';

/** (docs/contract.md, Error object) */
function errorSchema(name: string, codes: readonly ErrorCode[]): z.ZodType {
  const details = codes.flatMap((code) => {
    const fields = detailsOf(code);
    return fields === '' ? [] : [`- \`${code}\`: ${fields}`];
  });
  const error = z.object({
    code: openEnum(codes).describe('Stable, for machines.'),
    message: z.string().describe('For people.'),
    doc_url: z.string().openapi({ format: 'uri', description: 'The page that explains the code.' }),
    details: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(['Data about the rule, if there is any.', ...details].join('\n')),
  });
  return z.object({ error: error.describe('Why the request failed.') }).openapi(name);
}

const SHARED = {
  Asset: assetField,
  Amount: AmountSchema,
  AmountInput: amountField,
  Error: errorSchema('Error', ERROR_CODES),
};

/** Registers what operations share, so that the document describes it once. */
export function registerComponents(registry: OpenAPIRegistry, docsUrl: string): void {
  registry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description:
      'A live token of the tenant. The scopes listed for an operation are alternatives: any one of them is enough.',
  });
  for (const [name, header] of Object.entries(HEADERS))
    registry.registerComponent('headers', name, header);
  for (const [name, parameter] of Object.entries(PARAMETERS))
    registry.registerComponent('parameters', name, parameter);
  // Before any operation, because the generator takes a component's description from its first use.
  for (const [name, schema] of Object.entries(SHARED)) registry.register(name, schema);
  const errors = new ErrorWriter(docsUrl);
  for (const code of ERROR_CODES)
    registry.registerComponent('examples', code, errorExample(code, errors));
}

function errorExample(code: ErrorCode, errors: ErrorWriter): { summary: string; value: unknown } {
  const { meaning, example }: ErrorEntry = ERRORS[code];
  return { summary: meaning, value: JSON.parse(errors.text({ code, ...example })) as unknown };
}

// An interface would not be assignable to the index signature of `x-` fields.
type Header = {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: {
    type: 'string' | 'integer';
    format?: string;
    pattern?: string;
    enum?: string[];
  };
};

function integerHeader(description: string): Header {
  return { description, schema: { type: 'integer' } };
}

function rateHeader(description: string): Header {
  return integerHeader(
    `${description} Absent if the token was not accepted, as in 401 \`unauthorized\`.`,
  );
}

const HEADERS = {
  'Svc-Request-Id': {
    description: 'The unique id of the request. Quote it when you ask for help.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  'RateLimit-Limit': rateHeader('The most requests the token may send at once.'),
  'RateLimit-Remaining': rateHeader('How many requests the token may send now.'),
  'RateLimit-Reset': rateHeader(
    'Seconds until the token may send RateLimit-Limit requests at once again.',
  ),
  'Retry-After': integerHeader('Seconds to wait before retrying; at least 1.'),
  'WWW-Authenticate': {
    description: '`Bearer`, and for `insufficient_scope` the scopes of which the token lacks one.',
    schema: { type: 'string' },
  },
  'Content-Disposition': {
    description: 'attachment, with the file name.',
    schema: { type: 'string' },
  },
  'Svc-Idempotent-Replayed': {
    description:
      'Present and true if the key had been used before: this is its original result, and nothing happened this time.',
    schema: { type: 'string', enum: ['true'] },
  },
} satisfies Record<string, Header>;

const UUID_PATTERN =
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

const PARAMETERS = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description:
      'A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get.',
    // Generated clients cannot send a header whose schema has a `format`.
    schema: { type: 'string', pattern: UUID_PATTERN },
  },
  'Svc-Version': {
    name: 'Svc-Version',
    in: 'header',
    required: false,
    description: `The dated version of the API; by default ${CURRENT_VERSION}.`,
    schema: { type: 'string', enum: [...API_VERSIONS] },
  },
} satisfies Record<string, Header & { readonly name: string; readonly in: 'header' }>;

type Headers = NonNullable<ResponseConfig['headers']>;

export function headerRefs(...names: readonly (keyof typeof HEADERS)[]): Headers {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export const RATE_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;

/** (docs/contract.md, Webhook signature) */
export const SIGNATURE_HEADERS = Object.entries({
  'Svc-Signature':
    'HMAC-SHA256 of the raw body in lowercase hexadecimal, keyed with the secret as shown.',
  'Svc-Signature-Previous':
    'The signature with the previous secret, for 24 hours after a rotation.',
  'webhook-id': "Standard Webhooks: the event's id, the same on every attempt.",
  'webhook-timestamp': 'Standard Webhooks: the time of this attempt, in Unix seconds.',
  'webhook-signature':
    'Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them after a rotation.',
}).map(([name, description]) => ({
  name,
  in: 'header' as const,
  required: name !== 'Svc-Signature-Previous',
  description,
  schema: { type: 'string' as const },
}));

const errorSchemas = new Map<string, z.ZodType>();

/** Returns the schema of errors with these codes; equal sets of codes share a component. */
export function errorOf(codes: readonly ErrorCode[]): z.ZodType {
  const words = codes.map((code) =>
    code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase()),
  );
  const name = `${words.join('Or')}Error`;
  const known = errorSchemas.get(name) ?? errorSchema(name, codes);
  errorSchemas.set(name, known);
  return known;
}
