import assert from 'node:assert/strict';
import { Api } from '../../src/http/route.js';
import { type Json, object } from '../support/bank.js';
import { call, startWorld, type World } from './support.js';
import { thingRoutes } from './routes.js';

describe('the OpenAPI document', () => {
  let world: World;
  let document: Json;

  before(async () => {
    world = await startWorld({ routes: thingRoutes() });
    const answer = await call(`${world.url}/openapi.json`, { headers: { authorization: null } });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    document = answer.json<Json>();
  });
  after(() => world.server.stop(0));

  function operation(method: string, path: string): Json {
    return object(object(object(document.paths)[path])[method]);
  }
  const parameters = (method: string, path: string): Json[] =>
    operation(method, path).parameters as Json[];

  it('the OpenAPI document is OpenAPI 3.1 with every route and only these', () => {
    assert.equal(document.openapi, '3.1.0');
    const named = Object.entries(object(document.paths)).flatMap(([path, own]) =>
      Object.keys(object(own)).map((method) => `${method} ${path}`),
    );
    assert.deepEqual(named.sort(), [
      ...['delete /v1/transfers/{id}', 'get /v1/accounts/lookup', 'get /v1/transfers'],
      ...['get /v1/transfers/{id}', 'post /v1/transfers', 'post /v1/transfers/{id}/approve'],
    ]);
  });

  for (const [method, path, statuses] of [
    ['post', '/v1/transfers', '200 201 400 401 403 404 409 413 415 422 429 503'],
    ['get', '/v1/transfers', '200 400 401 403 413 429 500 503'],
    ['get', '/v1/transfers/{id}', '200 400 401 403 404 413 429 500 503'],
    ['delete', '/v1/transfers/{id}', '204 400 401 403 404 413 429 500 503'],
  ] as const)
    it(`${method} ${path} can answer ${statuses}, each with the common headers`, () => {
      const responses = object(operation(method, path).responses);
      assert.deepEqual(Object.keys(responses), statuses.split(' '));
      for (const [status, response] of Object.entries(responses)) {
        const { headers } = object(response);
        for (const name of ['Request-Id', 'Limit', 'Remaining', 'Reset'])
          assert.ok(
            Object.keys(object(headers)).some((one) => one.endsWith(`-${name}`)),
            status,
          );
        assert.equal('Retry-After' in object(headers), status === '429');
        assert.equal('content' in object(response), status !== '204');
      }
    });

  it('the OpenAPI document requires the idempotency key where the check does, and describes its errors and replays', () => {
    const needsKey = (method: string): boolean =>
      parameters(method, '/v1/transfers').some(
        ({ $ref }) => $ref === '#/components/parameters/Idempotency-Key',
      );
    assert.deepEqual([needsKey('post'), needsKey('get')], [true, false]);
    const { 200: replay, 400: refusal } = object(operation('post', '/v1/transfers').responses);
    assert.ok('Svc-Idempotent-Replayed' in object(object(replay).headers));
    for (const code of ['missing_field', 'invalid_field', 'missing_idempotency_key'])
      assert.ok(String(object(refusal).description).includes(code));
  });

  it('the OpenAPI document describes query and path parameters as they are checked', () => {
    const listed = parameters('get', '/v1/transfers');
    const find = (own: Json[], wanted: string): Json =>
      object(own.find(({ name }) => name === wanted));
    const limit = {
      description: 'The most items on the page.',
      ...{ type: 'integer', minimum: 1, maximum: 100, default: 25 },
    };
    assert.deepEqual(find(listed, 'limit').schema, limit);
    assert.equal(find(listed, 'limit').required, false);
    assert.equal(object(find(listed, 'created_at[gte]').schema).format, 'date-time');
    const id = find(parameters('get', '/v1/transfers/{id}'), 'id');
    assert.deepEqual([id.in, id.required, object(id.schema).format], ['path', true, 'uuid']);
  });

  it('the OpenAPI document describes the body as checked: required fields, no others, formats', () => {
    const content = object(object(operation('post', '/v1/transfers').requestBody).content);
    const schema = object(object(content['application/json']).schema);
    assert.equal(schema.additionalProperties, false);
    assert.deepEqual(schema.required, ['source_account', 'destination', 'amount']);
    const properties = object(schema.properties);
    assert.equal(object(properties.source_account).format, 'uuid');
    assert.deepEqual(object(properties.description).type, ['string', 'null'], 'null is absent');
    const amount = object(object(object(document.components).schemas).AmountInput);
    const raw = object(object(amount.properties).raw);
    assert.deepEqual([raw.type, raw.pattern], ['string', '^(0|[1-9][0-9]{0,18})$']);
  });
});

describe('a route that conflicts with another', () => {
  it('an API does not start when a route or its name is given twice, or it names one parameter in two ways', () => {
    const api = new Api();
    const add = (path: string, operationId: string): void =>
      api.get(path, {
        operationId,
        permits: 'readTransfers',
        answers: { 200: null },
        summary: 'x',
        handler: () => Promise.resolve({ status: 200 }),
      });
    add('/v1/a/{id}', 'getA');
    for (const [path, name] of [
      ['/v1/a/{id}', 'getB'],
      ['/v1/b', 'getA'],
      ['/v1/a/{name}', 'getC'],
    ] as const)
      assert.throws(() => add(path, name), /conflicts with GET \/v1\/a\/\{id\} \(getA\)/);
  });
});
