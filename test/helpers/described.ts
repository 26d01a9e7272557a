import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { RequestOptions, TestAnswer, TestApi } from './api.js';
import { ofToday } from '../../scripts/docs/openapi/document.js';
import { type Json, object } from './bank.js';

/**
 * The API, where every answer to a request under /v1 is one that its OpenAPI document describes, and so is the body of every
 * request that it takes.
 */
export async function describedApi(api: TestApi): Promise<TestApi> {
  const { text } = await api.request('GET', '/openapi.json');
  const described = known.get(text) ?? new DescribedApi(object(JSON.parse(ofToday(text))));
  known.set(text, described);
  return {
    ...api,
    request: async (method, path, options) => {
      const answer = await api.request(method, path, options);
      if (path.startsWith('/v1/')) described.assert(method, path, options, answer);
      return answer;
    },
  };
}

const DOCUMENT = 'document';
/** By the text of their document, because compiling its schemas takes seconds. */
const known = new Map<string, DescribedApi>();

class DescribedApi {
  private readonly paths: Json;
  private readonly ajv: Ajv2020;
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(document: Json) {
    const { components, paths } = object(closed(document, document));
    this.paths = object(paths);
    // OpenAPI adds keywords to those of JSON Schema; any other unknown keyword is a mistake of the document.
    this.ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false });
    addFormats.default(this.ajv);
    this.ajv.addFormat('binary', true);
    for (const word of ['example', 'discriminator', 'components', 'paths'])
      this.ajv.addKeyword(word);
    this.ajv.addSchema({ components, paths }, DOCUMENT);
  }

  assert(
    method: string,
    path: string,
    options: RequestOptions | undefined,
    answer: TestAnswer,
  ): void {
    const { status, text, headers } = answer;
    const route = this.routeOf(path);
    const label = `${method} ${route}: ${status} ${text}`;
    const at = ['paths', route, method.toLowerCase()];
    const operation = object(object(this.paths[route])[method.toLowerCase()]);
    const response = object(operation.responses)[String(status)];
    assert(response !== undefined, `not described: ${label}`);
    const { content } = object(response);
    if (content === undefined) assert.equal(text, '', label);
    else {
      const type = (headers.get('content-type') ?? '').split(';')[0]!;
      assert(type in object(content), `no answer of this type is described: ${type} ${label}`);
      const schema = [...at, 'responses', String(status), 'content', type, 'schema'];
      this.assertValid(schema, type === 'application/json' ? JSON.parse(text) : text, label);
    }
    if (status < 300) this.assertBody(at, operation, options ?? {}, label);
  }

  private assertBody(
    at: readonly string[],
    { requestBody }: Json,
    { body, form }: RequestOptions,
    label: string,
  ): void {
    const given = form === undefined ? body : partsOf(form);
    if (requestBody === undefined)
      return assert.equal(given, undefined, `no body is described: ${label}`);
    const type = form === undefined ? 'application/json' : 'multipart/form-data';
    assert(
      type in object(object(requestBody).content),
      `no body of this type is described: ${label}`,
    );
    // Lengths are counted in NFC, which JSON Schema cannot say.
    const json = typeof given === 'string' ? given : JSON.stringify(given);
    const value: unknown = form === undefined ? JSON.parse(json.normalize('NFC')) : given;
    this.assertValid(
      [...at, 'requestBody', 'content', type, 'schema'],
      value,
      `the body of ${label}`,
    );
  }

  private assertValid(at: readonly string[], value: unknown, label: string): void {
    const validate = this.validator(at);
    assert(
      validate(value),
      `${this.ajv.errorsText(validate.errors, { separator: '\n' })}\n${label}`,
    );
  }

  private validator(at: readonly string[]): ValidateFunction {
    const pointer = at
      .map((word) => encodeURIComponent(word.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const known =
      this.validators.get(pointer) ?? this.ajv.compile({ $ref: `${DOCUMENT}#/${pointer}` });
    this.validators.set(pointer, known);
    return known;
  }

  /** The path as the document names it; one that says more in words comes before one with a parameter. */
  private routeOf(path: string): string {
    const wanted = path.split('?')[0]!.split('/');
    const matching = Object.keys(this.paths).filter((route) => {
      const words = route.split('/');
      return (
        words.length === wanted.length &&
        words.every((word, at) => word.startsWith('{') || word === wanted[at])
      );
    });
    const [best] = matching.sort((a, b) => a.split('{').length - b.split('{').length);
    assert(best !== undefined, `the document has no ${path}`);
    return best;
  }
}

/** The parts of a form, a file as the text that the document says it is. */
function partsOf(form: FormData): Json {
  return Object.fromEntries(
    Array.from(form, ([name, value]) => [name, typeof value === 'string' ? value : '']),
  );
}

/**
 * A schema of the document, closed: a client may be told more one day, but what it is told today is described. What several
 * schemas say of one object together (`allOf`) is closed as a whole.
 */
function closed(document: Json, given: unknown): unknown {
  if (Array.isArray(given)) return given.map((one) => closed(document, one));
  if (typeof given !== 'object' || given === null) return given;
  const schema: Json = Object.fromEntries(
    Object.entries(given).map(([word, value]) => [
      word,
      word === 'allOf' ? value : closed(document, value),
    ]),
  );
  if (Array.isArray(schema.allOf))
    return {
      ...schema,
      allOf: schema.allOf.map((part) => resolved(document, object(part))),
      unevaluatedProperties: false,
    };
  const isOpen =
    schema.type === 'object' && 'properties' in schema && !('additionalProperties' in schema);
  return isOpen ? { ...schema, unevaluatedProperties: false } : schema;
}

/** A schema of the document, which may be a reference. */
export function resolved(document: Json, schema: Json): Json {
  if (typeof schema.$ref !== 'string') return schema;
  const words = schema.$ref.replace('#/', '').split('/');
  return object(words.reduce<unknown>((at, word) => object(at)[word], document));
}
