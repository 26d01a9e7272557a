import assert from 'node:assert/strict';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { serviceDocument } from '../../scripts/docs/described-api.js';
import { ERROR_CODES } from '../../src/core/error-table.js';
import { EVENT_TYPES, SUBSCRIBABLE_TYPES } from '../../src/db/entities/events.js';
import { type Json, object } from '../helpers/bank.js';

/**
 * Rules that do not fit: the document has no licence to name, its server is an example, and clients use components that no
 * single operation uses (the union of all errors, the one of a wrong method).
 */
const NOT_ASKED = {
  'info-license': 'off',
  'no-server-example.com': 'off',
  'no-unused-components': 'off',
} as const;

const document = object(JSON.parse(JSON.stringify(await serviceDocument())));
const webhooks = object(document.webhooks);
const operations = Object.entries(object(document.paths)).flatMap(([path, methods]) =>
  Object.entries(object(methods)).map(([method, operation]) => ({
    method,
    path,
    operation: object(operation),
  })),
);

describe('the OpenAPI document of the service', () => {
  it('has a webhook for every type that an endpoint can receive, with its own schema', () => {
    assert.deepEqual(Object.keys(webhooks), [...SUBSCRIBABLE_TYPES, 'webhook.test']);
    const schemas = new Set<unknown>();
    for (const type of SUBSCRIBABLE_TYPES) {
      const operation = object(object(webhooks[type]).post);
      const media = object(object(object(operation.requestBody).content)['application/json']);
      schemas.add(object(media.schema).$ref);
      assert.equal(object(media.example).type, type);
    }
    assert.equal(schemas.size, SUBSCRIBABLE_TYPES.length);
    const union = object(object(object(document.components).schemas).Event);
    assert.deepEqual(Object.keys(object(object(union.discriminator).mapping)), [...EVENT_TYPES]);
  });

  it('is valid by two validators', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    assert.ok(valid, JSON.stringify(errors, null, 2));
    const config = await createConfig({ extends: ['spec', 'recommended'], rules: NOT_ASKED });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    assert.deepEqual(
      problems.map(
        ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`,
      ),
      [],
    );
  });

  it('has an example of every request body, every response with a body, and every error code', () => {
    for (const { method, path, operation } of operations) {
      const { requestBody, responses } = operation;
      const given = [
        ...(requestBody === undefined ? [] : [object(requestBody)]),
        ...Object.values(object(responses)),
      ];
      for (const { content } of given.map(object))
        for (const [type, media] of Object.entries(object(content ?? {})))
          assert.ok(
            'example' in object(media) ||
              'examples' in object(media) ||
              !/json|^text|^multipart/.test(type),
            `${method} ${path} ${type}`,
          );
    }
    const examples = object(object(document.components).examples);
    assert.deepEqual(Object.keys(examples), [...ERROR_CODES]);
  });

  it('describes every property of every schema', () => {
    const properties = propertiesOf(document, []);
    assert.ok(properties.length > 500, `${properties.length} properties`);
    const undescribed = properties
      .filter(([, schema]) =>
        [schema, ...((schema.allOf ?? []) as Json[])].every(
          (one) => !(one.description ?? resolved(document, one).description),
        ),
      )
      .map(([at]) => at);
    assert.deepEqual(undescribed, []);
  });

  it('joins only objects by allOf, because generators refuse to join an enumeration', () => {
    const joined = JSON.stringify(document).matchAll(
      /"allOf":\[\{"\$ref":"#\/components\/schemas\/(\w+)"\},\{"(\w+)"/g,
    );
    const parts = Array.from(joined, ([, name = '', second]) => {
      const schema = object(object(object(document.components).schemas)[name]);
      return [schema.type, second];
    });
    assert.ok(parts.length > 0);
    for (const part of parts) assert.deepEqual(part, ['object', 'type']);
  });

  it('has only examples that their schemas accept', () => {
    const ajv = new Ajv2020({ allErrors: true, strict: false });
    addFormats.default(ajv);
    ajv.addSchema(document, 'document');
    const validators = new Map<string, ValidateFunction>();
    let seen = 0;
    for (const [at, media] of mediaTypes(document, [])) {
      const named = Object.values(object(media.examples ?? {})).map(
        (one) => resolved(document, object(one)).value,
      );
      // Few schemas are an operation's own.
      const own = JSON.stringify(media.schema);
      const validate =
        validators.get(own) ??
        ajv.compile({ $ref: `document#/${[...at, 'schema'].map(pointer).join('/')}` });
      validators.set(own, validate);
      for (const example of 'example' in media ? [media.example, ...named] : named) {
        seen += 1;
        assert.ok(validate(example), `${at.join(' ')}: ${ajv.errorsText(validate.errors)}`);
      }
    }
    assert.ok(seen > 400, `${seen} examples`);
  });
});

/** Every media type object, with where it stands. */
function mediaTypes(value: unknown, at: readonly string[]): [at: readonly string[], media: Json][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const here = [...at, key];
    if (key !== 'content')
      return key === 'example' || key === 'examples' ? [] : mediaTypes(inner, here);
    return Object.entries(object(inner)).map(([type, media]): [string[], Json] => [
      [...here, type],
      object(media),
    ]);
  });
}

/** Every property of an object's schema, with where it stands. */
function propertiesOf(value: unknown, at: readonly string[]): [at: string, schema: Json][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    if (key === 'example' || key === 'examples') return [];
    const own =
      key === 'properties'
        ? Object.entries(object(inner)).map(([name, schema]): [string, Json] => [
            [...at, name].join(' '),
            object(schema),
          ])
        : [];
    return [...own, ...propertiesOf(inner, [...at, key])];
  });
}

function pointer(word: string): string {
  return encodeURIComponent(word.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function resolved(document: Json, { $ref, ...own }: Json): Json {
  if (typeof $ref !== 'string') return own;
  return object(
    $ref
      .replace('#/', '')
      .split('/')
      .reduce<unknown>((at, word) => object(at)[word], document),
  );
}
