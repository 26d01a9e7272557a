import {
  OpenApiGeneratorV31,
  OpenAPIRegistry,
  type ResponseConfig,
  type RouteConfig,
  type ZodContentObject,
} from '@asteasolutions/zod-to-openapi';
import { ASSETS } from '../../../src/core/amount.js';
import { type ErrorCode, type ErrorEntry, ERRORS } from '../../../src/core/error-table.js';
import { type Permission, PERMISSIONS } from '../../../src/core/permissions.js';
import { CURRENT_VERSION } from '../../../src/core/api-version.js';
import {
  errorOf,
  headerRefs,
  RATE_HEADERS,
  registerComponents,
  SIGNATURE_HEADERS,
} from './components.js';
import { type ApiDocument, tagOf, TAGS } from './document.js';
import type { Api, ApiEvent, Route } from '../../../src/http/route.js';
import { FILE_FIELD, MAX_FILE_BYTES } from '../../../src/http/upload.js';
import { exampleOf, z } from '../../../src/http/zod.js';

/** Builds the OpenAPI 3.1 document from the steps and schemas of the routes. */
export function openApiDocument(
  { routes, events }: Pick<Api, 'routes' | 'events'>,
  baseUrl: string,
  docsUrl: string,
): ApiDocument {
  const registry = new OpenAPIRegistry();
  registerComponents(registry, docsUrl);
  for (const route of routes) registry.registerPath(pathOf(route));
  for (const event of events) if (event.isDelivered) registry.registerWebhook(webhookOf(event));
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
  return JSON.parse(
    JSON.stringify(document, (_, value: unknown) => plainReference(value)),
  ) as ApiDocument;
}

/**
 * Writes a component with a description of its own as OpenAPI 3.1 allows. The generator writes both
 * as parts of `allOf`, which `openapi-python-client` refuses for an enumeration.
 */
function plainReference(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('allOf' in value)) return value;
  const { success, data } = DESCRIBED_REFERENCE.safeParse(value);
  return success ? { ...data.allOf[0], ...data.allOf[1] } : value;
}

const DESCRIBED_REFERENCE = z.strictObject({
  allOf: z.tuple([
    z.strictObject({ $ref: z.string() }),
    z.strictObject({ description: z.string() }),
  ]),
});

/** Parameters in paths that are not the id of a resource of this API. */
const PATH_PARAMETERS: Readonly<Record<string, { description: string; schema: object }>> = {
  asset: { description: 'The asset of the policy.', schema: { enum: [...ASSETS] } },
  key_id: { description: 'The `key_id` of the token.', schema: { pattern: '^[a-z2-7]{16}$' } },
  request_id: {
    description: 'The `Svc-Request-Id` of a response.',
    schema: { format: 'uuid' },
  },
};

/** Describes `{account_id}`, or `{id}` by the word before it in the path. */
function pathParameter(name: string, before: string) {
  const noun = name === 'id' ? before.replace(/(?<=s)es$|s$/, '') : name.replace(/_id$/, '');
  const { description, schema } = PATH_PARAMETERS[name] ?? {
    description: `The id of the ${noun.replaceAll('_', ' ')}.`,
    schema: { format: 'uuid' },
  };
  return {
    ...{ name, in: 'path' as const, required: true, description },
    schema: { type: 'string' as const, ...schema },
  };
}

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
    security: PERMISSIONS[route.permits].scopes.map((scope) => ({ token: [scope] })),
    'x-permission': permissionOf(route),
    parameters: [
      ...Array.from(route.path.matchAll(/(\w+)\/\{(\w+)\}/g), ([, before = '', name = '']) =>
        pathParameter(name, before),
      ),
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
function permissionOf({ permits }: Pick<Route, 'permits'>): object {
  const { scopes, roles, roleIn, rule }: Permission = PERMISSIONS[permits];
  return { operation: permits, scopes, roles, role_in: roleIn, also: rule ?? null };
}

function permissionText({ permits }: Pick<Route, 'permits'>): string {
  const { scopes, roles, roleIn, rule }: Permission = PERMISSIONS[permits];
  const scope = `Scope: ${scopes.map((one) => `\`${one}\``).join(' or ')}.`;
  if (roles === null || roleIn === null) return scope;
  return `${scope} Role in ${roleIn}: ${[...roles, ...(rule === undefined ? [] : [rule])].join(', ')}.`;
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
    Object.entries(route.responses).map(([status, schema]) => {
      const isFile = status === '200' && route.fileTypes.length > 0;
      const isReplay = isKeyed && status === '200' && '201' in route.responses;
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
          ...RATE_HEADERS,
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
  const { roles }: Permission = PERMISSIONS[route.permits];
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
    entries.map(([status, codes]) => [String(status), failure(route, status, codes)]),
  );
}

function failure(
  { idempotent }: Route,
  status: number,
  codes: readonly ErrorCode[],
): ResponseConfig {
  const meanings = codes.map((code) => `- \`${code}\`: ${(ERRORS[code] as ErrorEntry).meaning}`);
  return {
    description: meanings.join('\n'),
    headers: headerRefs(
      'Svc-Request-Id',
      ...RATE_HEADERS,
      ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
      ...(status === 422 && idempotent !== null ? (['Svc-Idempotent-Replayed'] as const) : []),
      ...(status === 429 ? (['Retry-After'] as const) : []),
    ),
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

function webhookOf(event: ApiEvent): RouteConfig {
  const { type, schema, example, summary, description } = event;
  return {
    method: 'post',
    path: type,
    operationId: `receive${type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    // OpenAPI Generator makes a class of each tag, and in that of events these would replace the operations.
    tags: ['Deliveries'],
    summary,
    description,
    security: [],
    // Generators treat components without an operation as unused.
    parameters: SIGNATURE_HEADERS,
    request: {
      body: { required: true, content: { 'application/json': { schema, example } } },
    },
    responses: {
      '2XX': {
        description: 'Delivered. Only the status counts; it must arrive within 10 seconds.',
      },
      '410': { description: 'Disables the endpoint.' },
      default: {
        description:
          'The delivery is tried again; after 429 or 503 with `Retry-After`, not before then.',
      },
    },
  };
}
