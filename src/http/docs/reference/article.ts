import { type ErrorEntry, ERRORS } from '../../../core/error-table.js';
import { type Permission, PERMISSIONS } from '../../../core/permissions.js';
import { codesOf } from '../../openapi.js';
import {
  type ApiDocument,
  type Content,
  type DescribedOperation,
  type Parameter,
  refName,
  type Schema,
  type Schemas,
} from '../../openapi-document.js';
import type { Route } from '../../route.js';
import {
  breakable,
  codeBlock,
  html,
  type Html,
  joinHtml,
  NOTHING,
  prose,
  type Tab,
  tabs,
} from '../html.js';
import { renderMarkdown } from '../markdown-page.js';
import { samplesOf } from './samples.js';
import { isNullable, mergeAlternatives, resolveSchema, simpleType } from './schema.js';

export interface Call {
  readonly route: Route;
  readonly operation: DescribedOperation;
}

/** How fields are listed. */
export interface FieldView {
  readonly schemas: Schemas;
  /** Returns the page of a component. Undefined if its fields are listed where it is used. */
  readonly object: (name: string) => string | undefined;
  /** Replaces `object` for fields that are one of several objects. */
  readonly union?: (name: string) => string | undefined;
  /** Marks fields that may be absent, instead of required ones. */
  readonly isResponse?: boolean;
}

interface Context {
  readonly document: ApiDocument;
  /** The view of the page of objects. */
  readonly view: FieldView;
  readonly errors: string;
}

/** Fields of every object are listed where it is used. */
function unlinked({ components: { schemas } }: ApiDocument): FieldView {
  return { schemas, object: () => undefined };
}

/** As `unlinked`, but a field that is one of several objects links to them. */
export function responseView({ document, view }: Omit<Context, 'errors'>): FieldView {
  return { ...unlinked(document), union: view.object, isResponse: true };
}

/** Returns the request of an operation in each language. */
export function sampleTabs({ route, operation }: Call, schemas: Schemas): Tab[] {
  return samplesOf(route, operation, schemas).map(({ name, language, text }) => ({
    id: `${route.operationId}-${name.toLowerCase()}`,
    label: name,
    content: codeBlock(text, language),
  }));
}

export function callArticle(call: Call, context: Context): Html {
  const { route, operation } = call;
  const { operationId, summary } = operation;
  const { document } = context;
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const samples = sampleTabs(call, document.components.schemas);
  return html`<article id="${operationId}" class="operation">
    <h2><a href="#${operationId}">${summary}</a></h2>
    <p class="call"><b>${route.method}</b> <code>${breakable(route.path)}</code></p>
    <div class="text">
      ${renderMarkdown(route.description)} ${needs(route)}
      ${parameters('path', 'In the path', operation, document)}
      ${parameters('query', 'Query', operation, document)}
      ${
        body === undefined
          ? NOTHING
          : html`<h3>Body</h3>
              ${fieldList(body, unlinked(document))}`
      }
      ${parameters('header', 'Headers', operation, document)}
      <h3>Responses</h3>
      ${responses(operation, context)} ${errors(route, context)}
    </div>
    <div class="samples">
      ${tabs(`${operationId}-language`, 'Request', samples)} ${exampleOf(operation)}
    </div>
  </article>`;
}

function needs({ permits }: Route): Html {
  const { scopes, roles, roleIn, also }: Permission = PERMISSIONS[permits];
  const words = (list: readonly string[]): Html =>
    joinHtml(
      list.map((one) => html`<code>${one}</code>`),
      ' or ',
    );
  const role =
    roles === null || roleIn === null
      ? html`<span><b>Role</b> none</span>`
      : html`<span
          ><b>Role</b> ${words(roles)} in
          ${roleIn.replace(/^source/, 'the source account')}${also === undefined ? '' : `; ${also}`}</span
        >`;
  return html`<p class="needs">
    <span><b>Scope</b> ${words(scopes)}</span> ${role}
  </p>`;
}

function parameters(
  kind: 'path' | 'query' | 'header',
  title: string,
  operation: DescribedOperation,
  document: ApiDocument,
): Html {
  const own = operation.parameters
    .map((given) => document.components.parameters[refName(given) ?? ''] ?? given)
    .filter((parameter) => parameter.in === kind);
  const row = ({ name = '', required = false, description, schema = {} }: Parameter): Html =>
    fieldRow(
      { name, schema, isRequired: required, text: description ?? schema.description ?? '' },
      unlinked(document),
    );
  return own.length === 0
    ? NOTHING
    : html`<h3>${title}</h3>
        <dl>${own.map(row)}</dl>`;
}

/** Lists the fields of each body once, under all its statuses. */
function responses(operation: DescribedOperation, context: Context): Html {
  const groups = new Map<string, { heads: Html[]; content: Content }>();
  for (const [status, { description, content = {} }] of successes(operation)) {
    const kinds = Object.entries(content).map(([type, { schema = {} }]) => {
      const name = refName(schema) ?? '';
      const href = context.view.object(name);
      return href === undefined ? html`<code>${type}</code>` : html`<a href="${href}">${name}</a>`;
    });
    const shape = JSON.stringify(Object.values(content).map(({ schema }) => schema));
    const group = groups.get(shape) ?? { heads: [], content };
    group.heads.push(
      html`<li><code>${status}</code> ${description} ${joinHtml(kinds, ' or ')}</li>`,
    );
    groups.set(shape, group);
  }
  return html`${Array.from(groups.values(), ({ heads, content }) => {
    const schema = content['application/json']?.schema ?? {};
    const fields = fieldList(schema, responseView(context));
    const list =
      fields === NOTHING
        ? NOTHING
        : html`<details>
            <summary>Fields</summary>
            ${fields}
          </details>`;
    return html`<ul>
        ${heads}
      </ul>
      ${list}`;
  })}`;
}

/** The usual response comes first: beside a 201, 200 is a replay. */
function successes({ responses: all }: DescribedOperation) {
  return Object.entries(all)
    .filter(([status]) => status.startsWith('2'))
    .sort(([a], [b]) => Number(a === '200') - Number(b === '200'));
}

function exampleOf(operation: DescribedOperation): Html {
  const examples = successes(operation).flatMap(([status, { content = {} }]) =>
    Object.values(content).flatMap(({ example }) =>
      example === undefined ? [] : [{ status, example }],
    ),
  );
  const [first] = examples;
  if (first === undefined) return NOTHING;
  const { status, example } = first;
  const block =
    typeof example === 'string'
      ? codeBlock(example, 'csv')
      : codeBlock(JSON.stringify(example, null, 2), 'json');
  return html`<p class="sample">Response ${status}</p>
    ${block}`;
}

function errors(route: Route, { errors: page }: Context): Html {
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
export function fieldList(schema: Schema, view: FieldView): Html {
  const rows = fieldRows(schema, view, '');
  return rows.length === 0 ? NOTHING : html`<dl>${rows}</dl>`;
}

function fieldRows(given: Schema, view: FieldView, prefix: string): Html[] {
  const { schemas } = view;
  const { properties = {}, required = [] } = mergeAlternatives(given, schemas);
  return Object.entries(properties).flatMap(([own, schema]) => {
    const name = `${prefix}${own}`;
    const whole = resolveSchema(schema, schemas);
    const text = schema.description ?? whole.description ?? '';
    const row = fieldRow({ name, schema, isRequired: required.includes(own), text }, view);
    const inner = mergeAlternatives(whole.items ?? whole, schemas);
    const isElsewhere =
      linkOf(whole.items ?? schema, view) !== undefined || unionOf(schema).length > 1;
    return isElsewhere || inner.properties === undefined
      ? [row]
      : [row, ...fieldRows(inner, view, whole.items === undefined ? `${name}.` : `${name}[].`)];
  });
}

interface Row {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly text: string;
}

function fieldRow({ name, schema, isRequired, text }: Row, view: FieldView): Html {
  const { isResponse = false } = view;
  const mark = isRequired ? 'required' : 'may be absent';
  return html`<div>
    <dt>
      <code>${breakable(name)}</code>
      <span class="type">${typeOf(schema, view)}</span
      >${isRequired === isResponse ? NOTHING : html` <span class="must">${mark}</span>`}
    </dt>
    <dd>${text === '' ? NOTHING : renderMarkdown(text)}</dd>
  </div>`;
}

/** Returns the component with a page of its own that a schema refers to. */
function linkOf(schema: Schema, view: FieldView): Html | undefined {
  const parts = [schema, ...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const name = parts.map(refName).find((one) => one !== undefined);
  const href = name === undefined ? undefined : view.object(name);
  return href === undefined ? undefined : html`<a href="${href}">${name ?? ''}</a>`;
}

/** Returns `string, uuid`, `completed or expired`, `Amount or null`. */
export function typeOf(schema: Schema, view: FieldView): Html {
  const refs = unionOf(schema);
  if (refs.length > 1)
    return joinHtml(
      refs.map((name) => {
        const href = (view.union ?? view.object)(name);
        return href === undefined ? html`${name}` : html`<a href="${href}">${name}</a>`;
      }),
      ' or ',
    );
  const link = linkOf(schema, view);
  const orNull = isNullable(schema) ? html` or null` : NOTHING;
  if (link !== undefined) return html`${link}${orNull}`;
  const whole = resolveSchema(schema, view.schemas);
  if (whole.items !== undefined) return html`list of ${typeOf(whole.items, view)}${orNull}`;
  const values = whole.enum ?? (whole.const === undefined ? [] : [whole.const]);
  if (values.length > 0) {
    const words = values
      .filter((value) => value !== null)
      .map(
        (value) =>
          html`<code
            >${breakable(typeof value === 'string' ? value : JSON.stringify(value))}</code
          >`,
      );
    return html`${joinHtml(words, ', ')}${orNull}`;
  }
  return html`${simpleType(whole) || 'object'}${orNull}`;
}

function unionOf({ oneOf, anyOf = [] }: Schema): string[] {
  return (oneOf ?? anyOf).flatMap((one) => refName(one) ?? []);
}
