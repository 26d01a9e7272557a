import assert from 'node:assert/strict';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describeApi, EXAMPLE_BASE_URL } from '../../scripts/docs/described-api.js';
import { ERROR_CODES } from '../../src/core/error-table.js';
import type { FieldProblem } from '../../src/core/errors.js';
import type { z } from 'zod';
import { check } from '../../src/http/input.js';
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

const { routes, openApi } = await describeApi({
  BASE_URL: EXAMPLE_BASE_URL,
  DOCS_URL: `${EXAMPLE_BASE_URL}/docs`,
});
const document = object(JSON.parse(JSON.stringify(openApi)));
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
      // A generator replaces the operations of a tag with the webhooks of the same tag.
      assert.deepEqual(operation.tags, ['Deliveries']);
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

  it('describes every parameter and every response', () => {
    let seen = 0;
    for (const { method, path, operation } of operations) {
      const parameters = (operation.parameters as Json[]).map((one) => resolved(document, one));
      const described = [
        ...parameters.map((one) => [one.name, one.description ?? object(one.schema).description]),
        ...Object.entries(object(operation.responses)).map(([status, response]) => [
          status,
          object(response).description,
        ]),
      ];
      for (const [what, description] of described)
        assert.ok(description, `${method} ${path} ${String(what)}`);
      seen += described.length;
    }
    assert.ok(seen > 700, `${seen} parameters and responses`);
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

  it('excludes of each field of a body what the service refuses, with the name of the field', () => {
    let seen = 0;
    for (const { method, path, operation } of operations) {
      const route = routes.find((one) => one.method.toLowerCase() === method && one.path === path);
      if (operation.requestBody === undefined || !route?.body) continue;
      const [media] = Object.values(object(object(operation.requestBody).content));
      const { schema, example } = object(media);
      for (const [field, body, reason] of faultsOf(object(schema), example)) {
        // The form's parser takes the file.
        if (field === '' || field === 'file') continue;
        const problem = problemOf(route.body, body, field);
        const request: string = `${route.operationId}: ${field} in ${JSON.stringify(body)}`;
        assert.ok(problem !== undefined, `${request} is not refused`);
        assert.equal(problem.reason, reason ?? problem.reason, request);
        seen += 1;
      }
    }
    assert.ok(seen > 500, `${seen} faults`);
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

/** A field, a value of the whole that is wrong there, and the reason if every such field has it. */
type Fault = readonly [field: string, whole: unknown, reason: string | undefined];

function problemOf(schema: z.ZodType, body: unknown, field: string): FieldProblem | undefined {
  const result = check(schema, body);
  return result.ok ? undefined : result.problems.find((one) => one.field === field);
}

/** Shown by most programs as "Ana PM" though it is not. */
const TURNED = 'Ana \u202eMP';

const FORMATS = new Map<unknown, string>([
  ['uuid', 'not_a_uuid'],
  ['date-time', 'not_a_date_time'],
  ['int64', 'not_an_integer_string'],
]);

/** Values of other types, and of the type outside of what the schema takes. */
function wrongValues(
  schema: Json,
): readonly (readonly [value: unknown, reason: string | undefined])[] {
  const { enum: choices, format, pattern, minLength, maxLength } = schema;
  const { minimum, maximum, minItems } = schema;
  const [type = 'object'] = [schema.type].flat();
  if (type === 'string') {
    const listed = (choices as (string | null)[] | undefined)?.filter((choice) => choice !== null);
    const stated = listed === undefined ? FORMATS.get(format) : `not_one_of: ${listed.join(', ')}`;
    return [
      ...[7, true, {}, []].map((value) => [value, stated ?? 'not_a_string'] as const),
      ...(stated === undefined ? [] : [['other', stated] as const]),
      ...(Number(minLength) > 0
        ? [['', format === 'uri' ? 'malformed' : 'too_short'] as const]
        : []),
      ...(typeof maxLength === 'number' ? [['x'.repeat(maxLength + 1), 'too_long'] as const] : []),
      ...(pattern === undefined
        ? []
        : [[TURNED, maxLength === undefined ? stated : 'format_character'] as const]),
    ];
  }
  if (type === 'integer')
    return [
      ...[['1', 'not_an_integer'] as const, [1.5, 'not_an_integer'] as const],
      ...[Number(minimum) - 1, Number(maximum) + 1].map(
        (value) => [value, 'out_of_range'] as const,
      ),
    ];
  const reason = `not_${type === 'boolean' ? 'a' : 'an'}_${String(type)}`;
  const others = ['x', 7, type === 'array' ? {} : []].map((value) => [value, reason] as const);
  return minItems === undefined ? others : [...others, [[], 'too_few']];
}

/** The faults of a value of the schema, and of what is in it. `given` is an example of the value. */
function faultsOf(reference: Json, given: unknown): Fault[] {
  const schema = resolved(document, reference);
  const forms = (schema.oneOf ?? []) as readonly Json[];
  // The reason of the field that chooses a form lists all forms.
  if (forms.length > 0)
    return forms
      .flatMap((form) => faultsOf(form, formOf(form, given)))
      .map(([field, whole, reason]) => [field, whole, field === 'type' ? undefined : reason]);
  const faults = wrongValues(schema).map(([value, reason]): Fault => ['', value, reason]);
  const add = (name: string, part: unknown, value: unknown, whole: (value: unknown) => unknown) => {
    for (const [field, wrong, reason] of faultsOf(object(part), value))
      faults.push([field === '' ? name : `${name}.${field}`, whole(wrong), reason]);
  };
  const { properties, additionalProperties, items } = schema;
  if (items !== undefined) add('0', items, undefined, (value) => [value]);
  if (properties !== undefined) {
    const example = object(given ?? {});
    faults.push(['colour', { ...example, colour: 'red' }, 'unknown']);
    for (const [name, part] of Object.entries(object(properties)))
      add(name, part, example[name], (value) => ({ ...example, [name]: value }));
    for (const name of (schema.required ?? []) as readonly string[])
      for (const value of [undefined, null])
        faults.push([name, { ...example, [name]: value }, 'required']);
  } else if (additionalProperties !== undefined)
    add('pair', additionalProperties, undefined, (pair) => ({ pair }));
  return faults;
}

/** An example of this form of an object, which its `type` chooses. */
function formOf({ properties }: Json, given: unknown): Json {
  const { enum: types = [] } = object(object(properties).type ?? {});
  const [type] = types as readonly string[];
  return type === object(given).type ? object(given) : { type };
}
