import { format, resolveConfig } from 'prettier';
import { EXAMPLE } from '../../src/http/zod.js';
import { TAGS } from './openapi/document.js';
import { EXAMPLE_BASE_URL, serviceDocument } from './described-api.js';

/**
 * A Postman collection (format 2.1) with every operation of the OpenAPI document, grouped by tag,
 * each with its example.
 */

export const POSTMAN_FILE = 'docs/postman.json';

interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly style?: string;
  readonly description?: string;
  readonly schema?: { readonly enum?: readonly string[]; readonly default?: string | number };
}
interface Media {
  readonly example?: unknown;
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
}
interface Document {
  readonly info: { readonly title: string; readonly description: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export async function postmanCollection(): Promise<string> {
  const { info, paths } = (await serviceDocument()) as Document;
  const requests = Object.entries(paths).flatMap(([path, own]) =>
    Object.entries(own).map(([method, operation]) => ({
      tag: operation.tags[0],
      item: itemOf(method, path, operation),
    })),
  );
  const collection = {
    info: {
      name: `${info.title} ${info.version}`,
      description: info.description,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: [
      { key: 'base_url', value: EXAMPLE_BASE_URL },
      { key: 'token', value: '' },
    ],
    item: TAGS.map(({ name, description }) => ({
      name,
      description,
      item: requests.filter(({ tag }) => tag === name).map(({ item }) => item),
    })),
  };
  const config = await resolveConfig(POSTMAN_FILE);
  return format(JSON.stringify(collection), { ...config, parser: 'json' });
}

function itemOf(method: string, path: string, operation: Operation): object {
  const { operationId, summary, description, parameters, requestBody } = operation;
  const isKeyed = parameters.some(({ $ref = '' }) => $ref.endsWith('/Idempotency-Key'));
  const [[type, media] = ['', {}]] = Object.entries(requestBody?.content ?? {});
  return {
    name: summary,
    request: {
      method: method.toUpperCase(),
      description: `\`${operationId}\`\n\n${description}`,
      header: [
        ...(isKeyed
          ? [
              {
                key: 'Idempotency-Key',
                value: '{{$guid}}',
                description: 'Keep it when you repeat a request.',
              },
            ]
          : []),
        ...(type === 'application/json' ? [{ key: 'Content-Type', value: type }] : []),
      ],
      url: urlOf(path, parameters),
      ...(type === '' ? {} : { body: bodyOf(type, media) }),
    },
  };
}

function urlOf(path: string, parameters: readonly Parameter[]): object {
  const words = path
    .replace(/\{(\w+)\}/g, ':$1')
    .split('/')
    .slice(1);
  const query = parameters.filter((one) => one.in === 'query');
  return {
    raw: `{{base_url}}/${words.join('/')}`,
    host: ['{{base_url}}'],
    path: words,
    variable: parameters
      .filter((one) => one.in === 'path')
      .map(({ name, schema }) => ({ key: name, value: schema?.enum?.[0] ?? EXAMPLE.id })),
    query: query.map(({ name, description = '', schema, style }) => ({
      key: style === 'deepObject' ? `${name}[key]` : name,
      value: String(schema?.default ?? schema?.enum?.[0] ?? ''),
      description,
      disabled: true,
    })),
  };
}

function bodyOf(type: string, { example }: Media): object {
  if (type === 'application/json')
    return {
      mode: 'raw',
      raw: JSON.stringify(example, null, 2),
      options: { raw: { language: 'json' } },
    };
  const parts = Object.entries(Object(example) as Record<string, unknown>);
  return {
    mode: 'formdata',
    formdata: parts.map(([key, value]) =>
      key === 'file' ? { key, type: 'file', src: [] } : { key, type: 'text', value: String(value) },
    ),
  };
}
