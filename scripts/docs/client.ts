import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';
import { ERROR_CODES, type ErrorEntry, ERRORS, settlesKey } from '../../src/core/error-table.js';
import { EVENT_TYPES, SUBSCRIBABLE_TYPES } from '../../src/db/entities/events.js';
import { ofToday, TAGS } from './openapi/document.js';
import { serviceDocument } from './described-api.js';

/** Generates the client's types, and a method for each operation, from the OpenAPI document. */

export const CLIENT_FOLDER = 'packages/client/src/generated';

const HEAD = '// Generated from the OpenAPI document by `npm run docs:client`. Do not edit.\n\n';

/** Parts of the document that the client's types do not need. */
const DROPPED = /^(?:[45]\d\d|2XX|headers|examples|webhooks|\w+Error)$/;

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly {
    readonly $ref?: string;
    readonly name?: string;
    readonly in?: string;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema?: Schema }>> }>
  >;
}
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The formatted files by name. */
export async function clientFiles(): Promise<Readonly<Record<string, string>>> {
  const document = (await serviceDocument()) as Document;
  return {
    'schema.ts': await formatSource(await typesOf(document)),
    'constants.ts': await formatSource(constantsOf(document)),
    'details.ts': await formatSource(detailsText()),
    'operations.ts': await formatSource(operationsOf(document)),
  };
}

async function formatSource(text: string): Promise<string> {
  const config = await resolveConfig(`${CLIENT_FOLDER}/x.ts`);
  return format(HEAD + text, { ...config, parser: 'typescript' });
}

/**
 * Amounts become bigint, files Blob. An operation's types do not include errors: what it throws is
 * one union. Values that the document leaves open are unions of those of today.
 */
async function typesOf(document: Document): Promise<string> {
  const json = JSON.stringify(document, (key, value: unknown) =>
    DROPPED.test(key) ? undefined : value,
  );
  const known = JSON.parse(ofToday(json)) as never;
  const nodes = await openapiTS(known, {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    transform: ({ type, format: kind }) => {
      if (kind === 'int64' && type === 'string')
        return ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
      return kind === 'binary' ? ts.factory.createTypeReferenceNode('Blob') : undefined;
    },
  });
  return astToString(nodes);
}

function operationsOf(document: Document): string {
  const methods = Object.entries(document.paths).flatMap(([path, own]) =>
    Object.entries(own).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
  const order = TAGS.map(({ name }): string => name);
  methods.sort(
    (a, b) => order.indexOf(a.operation.tags[0] ?? '') - order.indexOf(b.operation.tags[0] ?? ''),
  );
  return `import { type CallOptions, Calls } from '../calls.js';
import type { List } from '../list.js';
import { segment } from '../segment.js';
import type { BodyOf, FormOf, ParamOf, QueryOf, ResultOf } from '../shapes.js';

/** Every operation of the API, by name. */
export class Operations extends Calls {
${methods.map(methodText).join('\n\n')}
}
`;
}

function constantsOf(document: Document): string {
  return `/** Every error code of the API. */
export const ERROR_CODES = ${JSON.stringify(ERROR_CODES)} as const;

/** The codes of refusals that are the final result of their idempotency key. */
export const KEY_SETTLING_CODES = ${JSON.stringify(ERROR_CODES.filter(settlesKey))} as const;

/** The fields that hold amounts of money, wherever they occur. */
export const AMOUNT_FIELDS = ${JSON.stringify(amountFields(document))} as const;

/** Every event type, and those that a webhook endpoint can subscribe to. */
export const EVENT_TYPES = ${JSON.stringify(EVENT_TYPES)} as const;
export const SUBSCRIBABLE_EVENTS = ${JSON.stringify(SUBSCRIBABLE_TYPES)} as const;
`;
}

function methodText({
  method,
  path,
  operation,
}: {
  method: string;
  path: string;
  operation: Operation;
}): string {
  const { operationId: id, summary, description, parameters, requestBody, responses } = operation;
  const params = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
  const hasQuery = parameters.some((one) => one.in === 'query');
  const [bodyType] = Object.keys(requestBody?.content ?? {});
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const isFile = success?.content !== undefined && !('application/json' in success.content);
  const isList = id.startsWith('list');
  const takes = [
    ...params.map((name) => `${camel(name)}: ParamOf<'${id}', '${name}'>`),
    ...(bodyType === 'application/json' ? [`body: BodyOf<'${id}'>`] : []),
    ...(bodyType === 'multipart/form-data' ? [`form: FormOf<'${id}'>`] : []),
    ...(hasQuery ? [`query: QueryOf<'${id}'> = {}`] : []),
    'options?: CallOptions',
  ];
  const call = [
    `operation: '${id}'`,
    `method: '${method}'`,
    `path: ${params.length === 0 ? `'${path}'` : `\`${path.replace(/\{(\w+)\}/g, (_, name: string) => `\${segment(${camel(name)})}`)}\``}`,
    `repeats: '${repeatsOf(method, parameters)}'`,
    ...(bodyType === 'application/json' ? ['body'] : []),
    ...(bodyType === 'multipart/form-data' ? ['form'] : []),
    ...(hasQuery ? ['query'] : []),
  ].join(', ');
  const result = isFile
    ? 'Promise<Blob>'
    : isList
      ? `List<ResultOf<'${id}'>>`
      : `Promise<ResultOf<'${id}'>>`;
  const made = isFile
    ? `this.download({ ${call} }, options)`
    : isList
      ? `this.list({ ${call} }, options)`
      : `this.send({ ${call} }, options) as ${result}`;
  const lines = [`${summary}.`, ...description.split('\n')]
    .filter((line) => line !== '')
    .map((line) => ` * ${line}`);
  return `/**\n${lines.join('\n')}\n */\n${id}(${takes.join(', ')}): ${result} {\n  return ${made};\n}`;
}

/** Effect of a second request. (packages/client/src/attempt.ts) */
function repeatsOf(method: string, parameters: Operation['parameters']): string {
  if (method === 'GET') return 'freely';
  if (parameters.some(({ $ref = '' }) => $ref.endsWith('/Idempotency-Key'))) return 'by_key';
  return method === 'POST' ? 'never' : 'by_itself';
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function detailsText(): string {
  const lines = Object.entries<ErrorEntry>(ERRORS).flatMap(
    ([
      code,
      {
        example: { details },
      },
    ]) => (details === undefined ? [] : [`${code}: ${typeOfDetail('details', details)};`]),
  );
  return `import type { components } from './schema.js';

export interface FieldProblem {
  readonly code: 'missing_field' | 'invalid_field';
  /** Dotted: \`amount.raw\`; empty for the body as a whole. */
  readonly field: string;
  /** A stable word, such as \`not_a_uuid\`. */
  readonly reason: string;
}

/**
 * The content of \`details\` by code; codes that are not listed have none. Amounts are in the
 * smallest unit.
 */
export interface DetailsByCode {
${lines.join('\n')}
}
`;
}

/** Returns the type of a field of an error's details, read from its example. */
function typeOfDetail(name: string, value: unknown): string {
  if (name === 'errors') return 'readonly FieldProblem[]';
  if (name === 'asset') return "components['schemas']['Asset']";
  if (Array.isArray(value)) return `readonly ${typeOfDetail('', value[0])}[]`;
  if (typeof value !== 'object' || value === null) return isAmountText(value) ? 'bigint' : 'string';
  const fields = Object.entries(value).map(
    ([key, field]) => `readonly ${key}: ${typeOfDetail(key, field)};`,
  );
  return `{ ${fields.join(' ')} }`;
}

function isAmountText(value: unknown): boolean {
  return typeof value === 'string' && /^\d+$/.test(value);
}

/**
 * Returns the names of amounts. Throws if a name is an amount in one place and other text elsewhere,
 * because the client recognises amounts by name.
 */
function amountFields({ components }: Document): readonly string[] {
  const amounts = new Set<string>();
  const others = new Set<string>();
  const collect = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    if ('properties' in schema)
      for (const [name, { type, format: kind }] of Object.entries(
        schema.properties as Record<string, Schema>,
      ))
        if (type === 'string') (kind === 'int64' ? amounts : others).add(name);
    Object.values(schema).forEach(collect);
  };
  collect(components.schemas);
  for (const { example } of Object.values<ErrorEntry>(ERRORS))
    for (const [name, value] of Object.entries(example.details ?? {}))
      if (isAmountText(value)) amounts.add(name);
  for (const name of amounts)
    if (others.has(name)) throw new Error(`${name} is an amount in one place and text in another`);
  return [...amounts].sort();
}
