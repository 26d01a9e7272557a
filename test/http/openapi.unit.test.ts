import assert from 'node:assert/strict';
import { PERMISSIONS } from '../../src/core/permissions.js';
import { Api } from '../../src/http/api.js';
import { answers, body, named, permits, summary } from '../../src/http/route.js';
import { z } from '../../src/http/zod.js';
import { call, startWorld, type World } from './support.js';
import { thingRoutes } from './routes.js';

interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly security: readonly Record<string, readonly string[]>[];
  readonly parameters: readonly {
    $ref?: string;
    name?: string;
    in?: string;
    required?: boolean;
    schema?: Schema;
  }[];
  readonly requestBody?: {
    required: boolean;
    content: Record<string, { schema: { $ref?: string } & Schema }>;
  };
  readonly responses: Record<
    string,
    { description: string; headers: Record<string, unknown>; content?: unknown }
  >;
}
interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly additionalProperties?: boolean;
  readonly required?: readonly string[];
  readonly properties?: Record<string, Schema>;
}
interface Document {
  readonly openapi: string;
  readonly servers: readonly { url: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: {
    schemas: Record<string, Schema>;
    securitySchemes: Record<string, unknown>;
    headers: object;
  };
}

describe('the OpenAPI document', () => {
  let world: World;
  let document: Document;

  before(async () => {
    world = await startWorld({ routes: thingRoutes() });
    const answer = await call(`${world.url}/openapi.json`, { headers: { authorization: null } });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    document = answer.json<Document>();
  });
  after(() => world.server.stop(0));

  function operation(method: string, path: string): Operation {
    const found = document.paths[path]?.[method];
    assert.ok(found, `${method} ${path}`);
    return found;
  }

  it('the OpenAPI document is OpenAPI 3.1 with every route and only these', () => {
    assert.equal(document.openapi, '3.1.0');
    const named = Object.entries(document.paths).flatMap(([path, own]) =>
      Object.keys(own).map((method) => `${method} ${path}`),
    );
    assert.deepEqual(named.sort(), [
      'delete /v1/transfers/{id}',
      'get /v1/accounts/lookup',
      'get /v1/transfers',
      'get /v1/transfers/{id}',
      'post /v1/transfers',
      'post /v1/transfers/{id}/approve',
    ]);
    const ids = Object.values(document.paths).flatMap((own) =>
      Object.values(own).map(({ operationId }) => operationId),
    );
    assert.equal(new Set(ids).size, ids.length);
  });

  it('every reference in the OpenAPI document leads somewhere', () => {
    const text = JSON.stringify(document);
    for (const [, path = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = path
        .split('/')
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
      assert.ok(target, path);
    }
  });

  it('the OpenAPI document names for each route every status that its steps and its handler can answer', () => {
    const statuses = (method: string, path: string): string[] =>
      Object.keys(operation(method, path).responses);
    assert.deepEqual(statuses('post', '/v1/transfers'), [
      ...['200', '201', '400', '401', '403', '404', '409', '413', '415', '422', '429', '503'],
    ]);
    assert.deepEqual(statuses('get', '/v1/transfers'), [
      '200',
      '400',
      '401',
      '403',
      '413',
      '429',
      '500',
      '503',
    ]);
    assert.deepEqual(statuses('get', '/v1/transfers/{id}'), [
      '200',
      '400',
      '401',
      '403',
      '404',
      '413',
      '429',
      '500',
      '503',
    ]);
  });

  it('the OpenAPI document describes the codes of a status', () => {
    const { description } = operation('post', '/v1/transfers').responses['400'] ?? {
      description: '',
    };
    for (const code of ['missing_field', 'invalid_field', 'missing_idempotency_key'])
      assert.ok(description.includes(code));
  });

  it('the OpenAPI document describes the headers of every answer', () => {
    for (const { responses } of [
      operation('post', '/v1/transfers'),
      operation('get', '/v1/transfers'),
    ])
      for (const [status, { headers }] of Object.entries(responses)) {
        for (const name of [
          'Svc-Request-Id',
          'RateLimit-Limit',
          'RateLimit-Remaining',
          'RateLimit-Reset',
        ])
          assert.ok(name in headers, `${status} ${name}`);
        assert.equal('Retry-After' in headers, status === '429');
      }
    assert.ok(
      'Svc-Idempotent-Replayed' in
        (operation('post', '/v1/transfers').responses['200']?.headers ?? {}),
    );
  });

  it('the OpenAPI document requires the idempotency key where the check does', () => {
    const refs = (one: Operation): (string | undefined)[] => one.parameters.map(({ $ref }) => $ref);
    assert.ok(
      refs(operation('post', '/v1/transfers')).includes('#/components/parameters/Idempotency-Key'),
    );
    assert.ok(
      !refs(operation('get', '/v1/transfers')).includes('#/components/parameters/Idempotency-Key'),
    );
  });

  it('the OpenAPI document has scopes as alternatives, and the roles in words, from the table', () => {
    const { security, description } = operation('get', '/v1/transfers');
    assert.deepEqual(
      security,
      PERMISSIONS.readTransfers.scopes.map((scope) => ({ token: [scope] })),
    );
    assert.ok('token' in document.components.securitySchemes);
    assert.match(
      operation('post', '/v1/transfers').description,
      /Role in source: operator, admin, owner/,
    );
    assert.match(description, /`read` or `transfers`/);
  });

  it('the OpenAPI document describes query and path parameters as they are checked', () => {
    const { parameters } = operation('get', '/v1/transfers');
    const limit = parameters.find(({ name }) => name === 'limit');
    assert.deepEqual(
      [limit?.required, limit?.schema],
      [false, { type: 'integer', minimum: 1, maximum: 100, default: 25 }],
    );
    const from = parameters.find(({ name }) => name === 'created_at[gte]');
    assert.deepEqual([from?.required, from?.schema?.format], [false, 'date-time']);
    const id = operation('get', '/v1/transfers/{id}').parameters.find(({ name }) => name === 'id');
    assert.deepEqual([id?.in, id?.required, id?.schema?.format], ['path', true, 'uuid']);
  });

  it('the OpenAPI document describes the body as checked: required fields, no others, formats', () => {
    const schema = operation('post', '/v1/transfers').requestBody?.content['application/json']
      ?.schema;
    assert.ok(schema);
    assert.equal(schema.additionalProperties, false);
    assert.deepEqual(schema.required, ['source_account', 'destination', 'amount']);
    const { properties = {} } = schema;
    assert.equal(properties['source_account']?.format, 'uuid');
    assert.deepEqual(
      properties['description']?.type,
      ['string', 'null'],
      'null says that it is absent',
    );
    const raw = document.components.schemas['AmountInput']?.properties?.['raw'];
    assert.deepEqual([raw?.type, raw?.pattern], ['string', '^(0|[1-9][0-9]{0,18})$']);
  });

  it('an answer without a body has none', () => {
    assert.equal(operation('delete', '/v1/transfers/{id}').responses['204']?.content, undefined);
  });
});

describe('a sentence that says too little', () => {
  const handler = (): Promise<{ status: number }> => Promise.resolve({ status: 200 });
  const reads = permits('readTransfers');
  const a = named('getA');
  const nothing = answers({ 200: null });

  it('an API whose route lacks its name, permission, answers or summary does not start', () => {
    assert.throws(() => new Api().get('/v1/a', reads, nothing, summary('x'), handler), /named/);
    assert.throws(() => new Api().get('/v1/a', a, nothing, summary('x'), handler), /permits/);
    assert.throws(() => new Api().get('/v1/a', a, reads, summary('x'), handler), /answers/);
    assert.throws(() => new Api().get('/v1/a', a, reads, nothing, handler), /summary/);
  });

  it('an API does not start if a route or its name is given twice, or names one parameter in two ways', async () => {
    const api = new Api();
    api.get('/v1/a/{id}', a, reads, nothing, summary('x'), handler);
    assert.throws(
      () => api.get('/v1/a/{id}', named('getB'), reads, nothing, summary('x'), handler),
      /twice/,
    );
    assert.throws(
      () => api.get('/v1/b', a, reads, nothing, summary('x'), handler),
      /getA names both/,
    );
    const ambiguous = startWorld({
      routes: (own) => {
        own.get('/v1/a/{id}', a, reads, nothing, summary('x'), handler);
        own.post(
          '/v1/a/{name}',
          named('createA'),
          reads,
          body(z.strictObject({})),
          nothing,
          summary('x'),
          handler,
        );
      },
    });
    await assert.rejects(ambiguous, /\{id\}/);
  });
});
