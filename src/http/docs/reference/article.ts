import { ERRORS, type ErrorEntry } from '../../../core/errors.js';
import { type Permission, PERMISSIONS } from '../../../core/permissions.js';
import { codesOf } from '../../openapi.js';
import type { Route } from '../../route.js';
import { codeBlock, tabs } from '../code.js';
import { breakable, html, type Html, joinHtml, NOTHING, prose } from '../html.js';
import { renderMarkdown } from '../markdown-page.js';
import {
  type ApiDocument,
  type Content,
  type DescribedOperation,
  type Parameter,
  refName,
} from '../../openapi-document.js';
import { fieldList, type FieldLinks, fieldRow } from './fields.js';
import { samplesOf } from './samples.js';

export interface Call {
  readonly route: Route;
  readonly operation: DescribedOperation;
}

interface Context {
  readonly document: ApiDocument;
  readonly links: FieldLinks;
  readonly errors: string;
}

/** Fields of every object are listed where it is used. */
export const NO_LINKS: FieldLinks = { object: () => undefined };

export function callArticle({ route, operation }: Call, context: Context): Html {
  const { operationId, summary } = operation;
  const { schemas } = context.document.components;
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const samples = samplesOf(route, operation, schemas).map(({ name, language, text }) => ({
    id: `${operationId}-${name.toLowerCase()}`,
    label: name,
    content: codeBlock(text, language),
  }));
  return html`<article id="${operationId}" class="operation">
    <h2><a href="#${operationId}">${summary}</a></h2>
    <p class="call"><b>${route.method}</b> <code>${breakable(route.path)}</code></p>
    <div class="text">
      ${renderMarkdown(route.description)} ${needs(route)}
      ${parameters('path', 'In the path', operation, context)}
      ${parameters('query', 'Query', operation, context)}
      ${
        body === undefined
          ? NOTHING
          : html`<h3>Body</h3>
              ${fieldList(body, schemas, NO_LINKS)}`
      }
      ${parameters('header', 'Headers', operation, context)}
      <h3>Responses</h3>
      ${responses(operation, context)} ${errors(route, context)}
    </div>
    <div class="samples">
      ${tabs(`${operationId}-language`, 'Request', samples)} ${exampleOf(operation)}
    </div>
  </article>`;
}

function needs({ operation }: Route): Html {
  const { scopes, roles, roleIn, also }: Permission = PERMISSIONS[operation];
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
  { document }: Context,
): Html {
  const { schemas, parameters: shared } = document.components;
  const own = operation.parameters
    .map((given) => shared[refName(given) ?? ''] ?? given)
    .filter((parameter) => parameter.in === kind);
  const row = ({ name = '', required = false, description, schema = {} }: Parameter): Html =>
    fieldRow(
      { name, schema, isRequired: required, text: description ?? schema.description ?? '' },
      { schemas, links: NO_LINKS },
    );
  return own.length === 0
    ? NOTHING
    : html`<h3>${title}</h3>
        <dl>${own.map(row)}</dl>`;
}

/** Lists the fields of each body once, under all its statuses. */
function responses(operation: DescribedOperation, { document, links }: Context): Html {
  const groups = new Map<string, { heads: Html[]; content: Content }>();
  for (const [status, { description, content = {} }] of successes(operation)) {
    const kinds = Object.entries(content).map(([type, { schema = {} }]) => {
      const name = refName(schema) ?? '';
      const href = links.object(name);
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
    const fields = fieldList(
      content['application/json']?.schema ?? {},
      document.components.schemas,
      { ...NO_LINKS, union: links.object, isResponse: true },
    );
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
