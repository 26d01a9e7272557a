import assert from 'node:assert/strict';
import type { TestAnswer, TestApi } from './api.js';
import { type Json, list, object } from './bank.js';

/** The API, where every answer to a request under /v1 is one that its OpenAPI document describes. */
export async function describedApi(api: TestApi): Promise<TestApi> {
  const { json: document } = await api.request('GET', '/openapi.json');
  return {
    ...api,
    request: async (method, path, options) => {
      const answer = await api.request(method, path, options);
      if (path.startsWith('/v1/')) assertDescribed(document, method, path, answer);
      return answer;
    },
  };
}

function assertDescribed(document: Json, method: string, path: string, { status, text, json }: TestAnswer): void {
  const route = routeOf(document, path);
  const said = `${method} ${route}: ${status} ${text}`;
  const operation = object(object(object(document.paths)[route])[method.toLowerCase()]);
  const response = object(operation.responses)[String(status)];
  assert(response !== undefined, `not described: ${said}`);
  const { content } = object(response);
  if (content === undefined) return assert.equal(text, '', said);
  const { schema } = object(object(content)['application/json']);
  const faults = faultsOf(document, object(schema), json, '');
  assert.deepEqual(faults, [], said);
}

/** The path as the document names it; one that says more in words comes before one with a parameter. */
function routeOf(document: Json, path: string): string {
  const wanted = path.split('?')[0]!.split('/');
  const matching = Object.keys(object(document.paths)).filter((route) => {
    const words = route.split('/');
    return words.length === wanted.length && words.every((word, at) => word.startsWith('{') || word === wanted[at]);
  });
  const [best] = matching.sort((a, b) => a.split('{').length - b.split('{').length);
  assert(best !== undefined, `the document has no ${path}`);
  return best;
}

/** What of a value its schema does not allow. Reads as much of JSON Schema as the document uses, and refuses the rest. */
function faultsOf(document: Json, given: Json, value: unknown, at: string): string[] {
  const { $ref: ref, description, example, openapi, ...schema } = resolved(document, given);
  void [ref, description, example, openapi];
  const faults: string[] = [];
  for (const [word, rule] of Object.entries(schema))
    switch (word) {
      case 'type': {
        const types = Array.isArray(rule) ? rule : [rule];
        if (!types.includes(typeOf(value)) && !(types.includes('integer') && Number.isInteger(value)))
          faults.push(`${at} is ${typeOf(value)}, not ${types.join(' or ')}`);
        break;
      }
      case 'enum':
        if (!(rule as unknown[]).includes(value)) faults.push(`${at} is ${JSON.stringify(value)}`);
        break;
      case 'const':
        if (rule !== value) faults.push(`${at} is ${JSON.stringify(value)}`);
        break;
      case 'pattern':
        if (typeof value === 'string' && !new RegExp(String(rule)).test(value)) faults.push(`${at} is ${value}`);
        break;
      case 'required':
        // Asked of objects alone: what else it may be is said by its type.
        if (isObject(value))
          faults.push(...(rule as string[]).filter((name) => !(name in value)).map((name) => `${at}.${name} lacks`));
        break;
      case 'properties':
        if (isObject(value)) faults.push(...ofProperties(document, object(rule), value, at));
        break;
      case 'items':
        if (Array.isArray(value))
          faults.push(...value.flatMap((one, n) => faultsOf(document, object(rule), one, `${at}[${n}]`)));
        break;
      case 'allOf':
        // Each says a part: what is unknown is looked for where there is one schema alone.
        for (const part of list(rule)) faults.push(...faultsOf(document, part, value, at).filter(isNoUnknown));
        break;
      case 'anyOf':
      case 'oneOf':
        if (!list(rule).some((part) => faultsOf(document, part, value, at).length === 0))
          faults.push(`${at} is none of what it may be: ${JSON.stringify(value)}`);
        break;
      case 'format':
        if (rule === 'uuid' && typeof value === 'string' && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value))
          faults.push(`${at} is no uuid`);
        if (rule === 'date-time' && typeof value === 'string' && !/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/.test(value))
          faults.push(`${at} is no date-time`);
        break;
      case 'minimum':
      case 'maximum':
      case 'additionalProperties':
        break;
      default:
        faults.push(`${at}: the check knows no ${word}`);
    }
  return faults;
}

const UNKNOWN = 'is not described';

function isNoUnknown(fault: string): boolean {
  return !fault.endsWith(UNKNOWN);
}

function ofProperties(document: Json, properties: Json, value: Json, at: string): string[] {
  return Object.entries(value).flatMap(([name, one]) => {
    const schema = properties[name];
    return schema === undefined
      ? [`${at}.${name} ${UNKNOWN}`]
      : faultsOf(document, object(schema), one, `${at}.${name}`);
  });
}

function resolved(document: Json, schema: Json): Json {
  if (typeof schema.$ref !== 'string') return schema;
  return object(
    schema.$ref
      .replace('#/', '')
      .split('/')
      .reduce<unknown>((at, key) => object(at)[key], document),
  );
}

function isObject(value: unknown): value is Json {
  return typeOf(value) === 'object';
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
