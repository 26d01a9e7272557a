import { type ErrorEntry, ERRORS } from '../../../../src/core/error-table.js';
import { codesOf } from '../../openapi/generate.js';
import {
  type ApiDocument,
  type Content,
  type DescribedOperation,
  type Parameter,
  refName,
  type Schema,
  type Schemas,
} from '../../openapi/document.js';
import type { Route } from '../../../../src/http/route.js';
import { type Content as Part, html, type Html } from '../../../../src/support/html.js';
import { breakable, codeBlock, joined, prose, type Tab, tabs } from '../html.js';
import { readPart, renderMarkdown } from '../markdown-page.js';
import { samplesOf } from './samples.js';
import { isNullable, mergeAlternatives, resolveSchema, simpleType } from './schema.js';

export interface Call {
  readonly route: Route;
  readonly operation: DescribedOperation;
}

/** Requests mark the fields that are required, responses those that may be absent. */
type Side = 'request' | 'response';

const FILE_EXTENSIONS: Readonly<Record<string, string>> = {
  TypeScript: 'mts',
  Python: 'py',
  Go: 'go',
};

/** Returns the request of an operation in each language, or a program of docs/site/programs. */
export function sampleTabs({ route, operation }: Call, schemas: Schemas, program?: string): Tab[] {
  return samplesOf(route, operation, schemas).map(({ name, language, text }) => {
    const ending = program && FILE_EXTENSIONS[name];
    const own = ending && readPart(`docs/site/programs/${program}.${ending}`).toString('utf8');
    const id = `${route.operationId}-${name.toLowerCase()}`;
    return { id, label: name, content: codeBlock(own || text, language) };
  });
}

/** `errorsPage` is the path of the page that explains the error codes. */
export function callArticle(call: Call, document: ApiDocument, errorsPage: string): Html {
  const { route, operation } = call;
  const { operationId, summary } = operation;
  const { schemas } = document.components;
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const samples = sampleTabs(call, schemas);
  return html`<article id="${operationId}" class="operation">
    <h2><a href="#${operationId}">${summary}</a></h2>
    <p class="call"><b>${route.method}</b> <code>${breakable(route.path)}</code></p>
    <div class="text">
      ${renderMarkdown(operation.description)}
      ${parameters('path', 'In the path', operation, document)}
      ${parameters('query', 'Query', operation, document)}
      ${
        body !== undefined &&
        html`<h3>Body</h3>
          ${fieldList(body, schemas, 'request')}`
      }
      ${parameters('header', 'Headers', operation, document)}
      <h3>Responses</h3>
      ${responses(operation, schemas)} ${errors(route, errorsPage)}
    </div>
    <div class="samples">
      ${tabs(`${operationId}-language`, 'Request', samples)} ${exampleOf(operation)}
    </div>
  </article>`;
}

function parameters(
  kind: 'path' | 'query' | 'header',
  title: string,
  operation: DescribedOperation,
  document: ApiDocument,
): Part {
  const own = operation.parameters
    .map((parameter) => document.components.parameters[refName(parameter) ?? ''] ?? parameter)
    .filter((parameter) => parameter.in === kind);
  const row = ({ name = '', required = false, description, schema = {} }: Parameter): Html =>
    fieldRow(
      { name, schema, isRequired: required, text: description ?? schema.description ?? '' },
      document.components.schemas,
      'request',
    );
  return (
    own.length > 0 &&
    html`<h3>${title}</h3>
      <dl>${own.map(row)}</dl>`
  );
}

/** Lists the fields of each body once, under all its statuses. */
function responses(operation: DescribedOperation, schemas: Schemas): Html {
  const groups = new Map<string, { heads: Html[]; content: Content }>();
  for (const [status, { description, content = {} }] of successes(operation)) {
    const kinds = Object.entries(content).map(
      ([type, { schema = {} }]) => html`<code>${refName(schema) ?? type}</code>`,
    );
    const shape = JSON.stringify(Object.values(content).map(({ schema }) => schema));
    const group = groups.get(shape) ?? { heads: [], content };
    group.heads.push(html`<li><code>${status}</code> ${description} ${joined(kinds, ' or ')}</li>`);
    groups.set(shape, group);
  }
  return html`${Array.from(groups.values(), ({ heads, content }) => {
    const schema = content['application/json']?.schema ?? {};
    return html`<ul>
        ${heads}
      </ul>
      ${foldedFields(schema, schemas)}`;
  })}`;
}

export function foldedFields(schema: Schema, schemas: Schemas): Part {
  const fields = fieldList(schema, schemas, 'response');
  return (
    fields &&
    html`<details>
      <summary>Fields</summary>
      ${fields}
    </details>`
  );
}

/** Sorts 200 after a 201 or 202, beside which it is a replay. */
function successes({ responses: all }: DescribedOperation) {
  return Object.entries(all)
    .filter(([status]) => status.startsWith('2'))
    .sort(([a], [b]) => Number(a === '200') - Number(b === '200'));
}

function exampleOf(operation: DescribedOperation): Part {
  const examples = successes(operation).flatMap(([status, { content = {} }]) =>
    Object.values(content).flatMap(({ example }) =>
      example === undefined ? [] : [{ status, example }],
    ),
  );
  const [first] = examples;
  if (first === undefined) return null;
  const { status, example } = first;
  const block =
    typeof example === 'string'
      ? codeBlock(example, 'csv')
      : codeBlock(JSON.stringify(example, null, 2), 'json');
  return html`<p class="sample">Response ${status}</p>
    ${block}`;
}

function errors(route: Route, page: string): Html {
  const rows = codesOf(route).map((code) => {
    const { status, meaning }: ErrorEntry = ERRORS[code];
    return html`<div>
      <dt>
        <a href="${page}#${code}"><code>${breakable(code)}</code></a>
        <span class="status">${status}</span>
      </dt>
      <dd><p>${prose(meaning)}</p></dd>
    </div>`;
  });
  return html`<details>
    <summary>Errors (${rows.length})</summary>
    <dl>${rows}</dl>
  </details>`;
}

/** Fields of nested objects have dotted names. */
export function fieldList(schema: Schema, schemas: Schemas, side: Side): Html | null {
  const rows = fieldRows(schema, schemas, side, '');
  return rows.length === 0 ? null : html`<dl>${rows}</dl>`;
}

function fieldRows(given: Schema, schemas: Schemas, side: Side, prefix: string): Html[] {
  const { properties = {}, required = [] } = mergeAlternatives(given, schemas);
  return Object.entries(properties).flatMap(([own, schema]) => {
    const name = `${prefix}${own}`;
    const whole = resolveSchema(schema, schemas);
    const text = schema.description ?? whole.description ?? '';
    const row = fieldRow({ name, schema, isRequired: required.includes(own), text }, schemas, side);
    const inner = mergeAlternatives(whole.items ?? whole, schemas);
    if (unionOf(schema).length > 1 || inner.properties === undefined) return [row];
    const path = whole.items === undefined ? `${name}.` : `${name}[].`;
    return [row, ...fieldRows(inner, schemas, side, path)];
  });
}

interface Row {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly text: string;
}

function fieldRow({ name, schema, isRequired, text }: Row, schemas: Schemas, side: Side): Html {
  const mark = isRequired ? 'required' : 'may be absent';
  return html`<div>
    <dt>
      <code>${breakable(name)}</code>
      <span class="type">${typeOf(schema, schemas)}</span
      >${isRequired !== (side === 'response') && html` <span class="must">${mark}</span>`}
    </dt>
    <dd>${text !== '' && renderMarkdown(text)}</dd>
  </div>`;
}

/** Returns `string, uuid`, `completed or expired`, `Transfer or Payout`. */
function typeOf(schema: Schema, schemas: Schemas): Html {
  const refs = unionOf(schema);
  if (refs.length > 1) return html`${refs.join(' or ')}`;
  const orNull = isNullable(schema) ? ' or null' : '';
  const whole = resolveSchema(schema, schemas);
  if (whole.items !== undefined) return html`list of ${typeOf(whole.items, schemas)}${orNull}`;
  if (whole.enum !== undefined) {
    const values = whole.enum.filter((value) => value !== null);
    const words = values.map((value) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return html`<code>${breakable(text)}</code>`;
    });
    return html`${joined(words, ', ')}${orNull}`;
  }
  return html`${simpleType(whole) || 'object'}${orNull}`;
}

function unionOf({ oneOf, anyOf = [] }: Schema): string[] {
  return (oneOf ?? anyOf).flatMap((one) => refName(one) ?? []);
}
