import {
  OpenApiGeneratorV31,
  OpenAPIRegistry,
  type ResponseConfig,
  type RouteConfig,
  type ZodContentObject,
} from '@asteasolutions/zod-to-openapi';
import { ASSETS } from '../core/amount.js';
import { ERROR_CODES, ERRORS, type ErrorCode, type ErrorEntry } from '../core/errors.js';
import { type Permission, PERMISSIONS } from '../core/permissions.js';
import { API_VERSIONS, CURRENT_VERSION } from '../core/versions.js';
import type { Api } from './api.js';
import { ErrorWriter } from './errors.js';
import { exampleOf } from './examples.js';
import type { ApiDocument } from './openapi-document.js';
import { TAGS, tagOf } from './openapi-tags.js';
import { webhookOf } from './openapi-webhooks.js';
import type { Route } from './route.js';
import { amountField, AmountSchema, assetField, ErrorSchema, errorSchema } from './schemas.js';
import { FILE_FIELD, MAX_FILE_BYTES } from './upload.js';
import { z } from './zod.js';

const SHARED = {
  Asset: assetField,
  Amount: AmountSchema,
  AmountInput: amountField,
  Error: ErrorSchema,
};

/** Builds the OpenAPI 3.1 document from the steps and schemas of the routes. */
export function openApiDocument(
  { routes, events }: Pick<Api, 'routes' | 'events'>,
  baseUrl: string,
  docsUrl: string,
): ApiDocument {
  const registry = new OpenAPIRegistry();
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
  // Registered first, because a component takes its meaning from its first use.
  for (const [name, schema] of Object.entries(SHARED)) registry.register(name, schema);
  const errors = new ErrorWriter(docsUrl);
  for (const code of ERROR_CODES)
    registry.registerComponent('examples', code, errorExample(code, errors));
  for (const route of routes) registry.registerPath(pathOf(route));
  for (const event of events) registry.registerWebhook(webhookOf(event));
  const document: object = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Money Movement Service',
      version: CURRENT_VERSION,
      description:
        'Move money between accounts. Amounts are integers in the smallest unit of their asset, written as text.',
    },
    servers: [{ url: baseUrl }],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    externalDocs: { url: docsUrl },
  });
  return document as ApiDocument;
}

// Only a type has the index signature that extension fields require.
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

const HEADERS = {
  'Svc-Request-Id': {
    description: 'The unique id of the request. Quote it when you ask for help.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  'RateLimit-Limit': integerHeader('The most requests the token may send at once.'),
  'RateLimit-Remaining': integerHeader('How many requests the token may send now.'),
  'RateLimit-Reset': integerHeader(
    'Seconds until the token may send RateLimit-Limit requests at once again.',
  ),
  'Retry-After': integerHeader('Seconds to wait before retrying; at least 1.'),
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
    // Generators cannot send a header with a format.
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

function headerRefs(...names: readonly (keyof typeof HEADERS)[]): Headers {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const RATE = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;

function pathOf(route: Route): RouteConfig {
  const query = route.query instanceof z.ZodObject ? { query: route.query } : {};
  const body =
    route.body === null
      ? {}
      : { body: { required: true, content: bodyContent(route, route.body) } };
  return {
    method: route.method.toLowerCase() as Lowercase<Route['method']>,
    path: route.path,
    operationId: route.operationId,
    tags: [tagOf(route.path)],
    summary: route.summary,
    description: [route.description, permissionText(route)]
      .filter((text) => text !== '')
      .join('\n\n'),
    security: PERMISSIONS[route.operation].scopes.map((scope) => ({ token: [scope] })),
    'x-permission': permissionOf(route),
    parameters: [
      ...Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, name = '']) => ({
        name,
        in: 'path' as const,
        required: true,
        schema: {
          type: 'string' as const,
          ...(name === 'asset' ? { enum: [...ASSETS] } : { format: 'uuid' }),
        },
      })),
      ...(route.idempotent === null ? [] : [{ $ref: '#/components/parameters/Idempotency-Key' }]),
      { $ref: '#/components/parameters/Svc-Version' },
    ],
    request: { ...query, ...body },
    responses: { ...successes(route), ...failures(route) },
  };
}

function bodyContent({ hasFile }: Route, body: z.ZodType): ZodContentObject {
  const example = exampleOf(body);
  if (!hasFile || !(body instanceof z.ZodObject))
    return { 'application/json': { schema: body, ...exampleField(example) } };
  const file = z.string().openapi({
    format: 'binary',
    description: `The file, at most ${MAX_FILE_BYTES} bytes. Its part may have any name; there must be exactly one.`,
  });
  // `extend` would describe two closed objects, which no value satisfies.
  const parts = z.strictObject({ ...body.shape, [FILE_FIELD]: file });
  const filled =
    example === undefined
      ? undefined
      : { ...Object(example), [FILE_FIELD]: 'the bytes of the file' };
  return { 'multipart/form-data': { schema: parts, ...exampleField(filled) } };
}

function exampleField(example: unknown): { example?: unknown } {
  return example === undefined ? {} : { example };
}

/** For machines. (docs/contract.md, Roles and scopes) */
function permissionOf({ operation }: Pick<Route, 'operation'>): object {
  const { scopes, roles, roleIn, also }: Permission = PERMISSIONS[operation];
  return { operation, scopes, roles, role_in: roleIn, also: also ?? null };
}

function permissionText({ operation }: Pick<Route, 'operation'>): string {
  const { scopes, roles, roleIn, also }: Permission = PERMISSIONS[operation];
  const scope = `Scope: ${scopes.map((one) => `\`${one}\``).join(' or ')}.`;
  if (roles === null || roleIn === null) return scope;
  return `${scope} Role in ${roleIn}: ${[...roles, ...(also === undefined ? [] : [also])].join(', ')}.`;
}

const SUCCESS: Readonly<Record<number, string>> = {
  200: 'The result.',
  201: 'Created.',
  202: 'Accepted, but not finished yet.',
  204: 'Done.',
};

function successes(route: Route): Record<string, ResponseConfig> {
  const isKeyed = route.idempotent !== null;
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, schema]) => {
      const isFile = status === '200' && route.fileTypes.length > 0;
      const isReplay = isKeyed && status === '200' && '201' in route.answers;
      const example = route.examples[Number(status)] ?? (schema && exampleOf(schema));
      const content = isFile
        ? fileContent(route)
        : schema && { 'application/json': { schema, ...exampleField(example) } };
      const response = {
        description: isReplay
          ? "A replay: the key's original result, as it is now."
          : (SUCCESS[Number(status)] ?? ''),
        headers: headerRefs(
          'Svc-Request-Id',
          ...RATE,
          ...(isKeyed ? (['Svc-Idempotent-Replayed'] as const) : []),
          ...(isFile ? (['Content-Disposition'] as const) : []),
        ),
        ...(content === null ? {} : { content }),
      };
      return [status, response];
    }),
  );
}

function fileContent({ fileTypes, examples }: Route): ZodContentObject {
  const schema = { type: 'string' as const, format: 'binary' };
  return Object.fromEntries(
    fileTypes.map((type) => [
      type,
      { schema, ...(type.startsWith('text/') ? exampleField(examples[200]) : {}) },
    ]),
  );
}

/** Returns the error codes of the route's steps, and those that its handler declares. */
export function codesOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>([
    'invalid_field',
    'unauthorized',
    'insufficient_scope',
    'rate_limited',
    'body_too_large',
  ]);
  const { roles }: Permission = PERMISSIONS[route.operation];
  if (route.body !== null) codes.add('missing_field').add('unsupported_media_type');
  if (route.idempotent === null) codes.add('internal_error');
  else codes.add('missing_idempotency_key').add('idempotency_key_reused');
  if (route.path.includes('{')) codes.add('not_found');
  if (roles !== null) codes.add('authority_insufficient');
  for (const code of [...route.refusals, 'ledger_unavailable'] as const) codes.add(code);
  return [...codes];
}

function failures(route: Route): Record<string, ResponseConfig> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codesOf(route)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const entries = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    entries.map(([status, codes]) => [String(status), failure(status, codes)]),
  );
}

function failure(status: number, codes: readonly ErrorCode[]): ResponseConfig {
  const meanings = codes.map((code) => `- \`${code}\`: ${(ERRORS[code] as ErrorEntry).meaning}`);
  const rated = status === 429 ? (['Retry-After'] as const) : [];
  return {
    description: meanings.join('\n'),
    headers: headerRefs('Svc-Request-Id', ...RATE, ...rated),
    content: {
      'application/json': {
        schema: errorOf(codes),
        examples: Object.fromEntries(
          codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
        ),
      },
    },
  };
}

const errorSchemas = new Map<string, z.ZodType>();

/** Returns the schema of errors with these codes; equal sets of codes share a component. */
function errorOf(codes: readonly ErrorCode[]): z.ZodType {
  const words = codes.map((code) =>
    code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase()),
  );
  const name = `${words.join('Or')}Error`;
  const known = errorSchemas.get(name) ?? errorSchema(name, codes);
  errorSchemas.set(name, known);
  return known;
}

function errorExample(code: ErrorCode, errors: ErrorWriter): { summary: string; value: unknown } {
  const { meaning, example }: ErrorEntry = ERRORS[code];
  return { summary: meaning, value: JSON.parse(errors.text({ code, ...example })) as unknown };
}
