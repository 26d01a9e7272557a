import {
  OpenApiGeneratorV31,
  OpenAPIRegistry,
  type ResponseConfig,
  type RouteConfig,
  type ZodContentObject,
} from '@asteasolutions/zod-to-openapi';
import { ASSETS } from '../core/amount.js';
import { ERRORS, type ErrorCode, type ErrorEntry } from '../core/errors.js';
import { type Permission, PERMISSIONS } from '../core/permissions.js';
import { API_VERSIONS, CURRENT_VERSION } from '../core/versions.js';
import type { Route } from './route.js';
import { ErrorSchema } from './schemas.js';
import { FILE_FIELD, MAX_FILE_BYTES } from './upload.js';
import { z } from './zod.js';

/** The OpenAPI 3.1 document, made from the very steps and schemas that check the requests. */
export function openApiDocument(routes: readonly Route[], baseUrl: string, docsUrl: string): object {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description:
      'A live token of the tenant. The scopes that an operation lists are alternatives: one of them is enough.',
  });
  for (const [name, header] of Object.entries(HEADERS)) registry.registerComponent('headers', name, header);
  for (const [name, parameter] of Object.entries(PARAMETERS)) registry.registerComponent('parameters', name, parameter);
  registry.register('Error', ErrorSchema);
  for (const route of routes) registry.registerPath(pathOf(route));
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Money Movement Service',
      version: CURRENT_VERSION,
      description:
        'Move money between accounts. Amounts are integers in the smallest unit of their asset, written as text.',
    },
    servers: [{ url: baseUrl }],
    externalDocs: { url: docsUrl },
  });
}

// A type, not an interface: only a type has the index signature that OpenAPI's extension fields ask for.
type Header = {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: { type: 'string' | 'integer'; format?: string; enum?: string[] };
};

function integerHeader(description: string): Header {
  return { description, schema: { type: 'integer' } };
}

const HEADERS = {
  'Svc-Request-Id': {
    description: 'The unique id of the request. Name it when you ask for help.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  'RateLimit-Limit': integerHeader('The most requests at once with this token.'),
  'RateLimit-Remaining': integerHeader('How many requests the token may send now.'),
  'RateLimit-Reset': integerHeader('Seconds until the token may again send RateLimit-Limit requests at once.'),
  'Retry-After': integerHeader('Seconds to wait before the next try; at least 1.'),
  'Content-Disposition': {
    description: 'attachment, with the name of the file.',
    schema: { type: 'string' },
  },
  'Svc-Idempotent-Replayed': {
    description: 'Present and true when the key had been used: this is its original result, and nothing happened now.',
    schema: { type: 'string', enum: ['true'] },
  },
} satisfies Record<string, Header>;

const PARAMETERS = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description: 'A UUID: a new one for a new operation, the same one to repeat a request whose answer is not known.',
    schema: { type: 'string', format: 'uuid' },
  },
  'Svc-Version': {
    name: 'Svc-Version',
    in: 'header',
    required: false,
    description: `The dated version of the API; without it ${CURRENT_VERSION}.`,
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
  const body = route.body === null ? {} : { body: { required: true, content: bodyContent(route, route.body) } };
  return {
    method: route.method.toLowerCase() as Lowercase<Route['method']>,
    path: route.path,
    operationId: operationId(route),
    tags: [route.path.split('/')[2] ?? ''],
    summary: route.summary,
    description: [route.description, permissionText(route)].filter((text) => text !== '').join('\n\n'),
    security: PERMISSIONS[route.operation].scopes.map((scope) => ({ token: [scope] })),
    parameters: [
      ...Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, name = '']) => ({
        name,
        in: 'path' as const,
        required: true,
        schema: { type: 'string' as const, ...(name === 'asset' ? { enum: [...ASSETS] } : { format: 'uuid' }) },
      })),
      ...(route.idempotent === null ? [] : [{ $ref: '#/components/parameters/Idempotency-Key' }]),
      { $ref: '#/components/parameters/Svc-Version' },
    ],
    request: { ...query, ...body },
    responses: { ...successes(route), ...failures(route) },
  };
}

function bodyContent({ hasFile }: Route, body: z.ZodType): ZodContentObject {
  if (!hasFile || !(body instanceof z.ZodObject)) return { 'application/json': { schema: body } };
  const file = z.string().openapi({
    format: 'binary',
    description: `The file, of at most ${MAX_FILE_BYTES} bytes. Its part may have any name; there is exactly one.`,
  });
  // One object with all parts: to extend a closed one would be two that shut each other out.
  return { 'multipart/form-data': { schema: z.strictObject({ ...body.shape, [FILE_FIELD]: file }) } };
}

function operationId({ method, path }: Route): string {
  const words = path.split('/').slice(2);
  const name = words.map((word) =>
    word.replace(/[{}]/g, '').replace(/(^|_)(\w)/g, (_, _gap, letter: string) => letter.toUpperCase()),
  );
  return `${method.toLowerCase()}${name.join('')}`;
}

/** Scopes and roles in words. */
export function permissionText({ operation }: Pick<Route, 'operation'>): string {
  const { scopes, roles, roleIn, also }: Permission = PERMISSIONS[operation];
  const scope = `Scope: ${scopes.map((one) => `\`${one}\``).join(' or ')}.`;
  if (roles === null || roleIn === null) return scope;
  return `${scope} Role in ${roleIn}: ${[...roles, ...(also === undefined ? [] : [also])].join(', ')}.`;
}

const SUCCESS: Readonly<Record<number, string>> = {
  200: 'The result.',
  201: 'Created.',
  202: 'Accepted: it is not finished yet.',
  204: 'Done.',
};

function successes(route: Route): Record<string, ResponseConfig> {
  const names = route.idempotent === null ? [] : (['Svc-Idempotent-Replayed'] as const);
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, schema]) => {
      const isFile = status === '200' && route.fileTypes.length > 0;
      const replay = route.idempotent !== null && status === '200' && '201' in route.answers;
      return [
        status,
        {
          description: replay
            ? 'A replay: the original result of the key, as it is now.'
            : (SUCCESS[Number(status)] ?? ''),
          headers: headerRefs(
            'Svc-Request-Id',
            ...RATE,
            ...names,
            ...(isFile ? (['Content-Disposition'] as const) : []),
          ),
          ...(isFile ? { content: fileContent(route) } : {}),
          ...(schema === null ? {} : { content: { 'application/json': { schema } } }),
        },
      ];
    }),
  );
}

function fileContent({ fileTypes }: Route): ZodContentObject {
  return Object.fromEntries(fileTypes.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]));
}

/** Every code that the route can answer: those that follow from its steps, and those that its handler names. */
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
  return Object.fromEntries(entries.map(([status, codes]) => [String(status), failure(status, codes)]));
}

function failure(status: number, codes: readonly ErrorCode[]): ResponseConfig {
  const meanings = codes.map((code) => `- \`${code}\`: ${(ERRORS[code] as ErrorEntry).meaning}`);
  const rated = status === 429 ? (['Retry-After'] as const) : [];
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Error' },
      {
        type: 'object' as const,
        properties: {
          error: { type: 'object' as const, properties: { code: { type: 'string' as const, enum: [...codes] } } },
        },
      },
    ],
  };
  return {
    description: meanings.join('\n'),
    headers: headerRefs('Svc-Request-Id', ...RATE, ...rated),
    content: { 'application/json': { schema } },
  };
}
