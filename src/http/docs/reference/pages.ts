import { type Permission, PERMISSIONS } from '../../../core/permissions.js';
import { codesOf } from '../../openapi.js';
import type { Route } from '../../route.js';
import { codeBlock, html, type Html, joined, NOTHING } from '../html.js';
import type { Places, Section, SitePage } from '../layout.js';
import type { Made } from '../pages.js';
import { renderMarkdown } from '../written.js';
import {
  type ApiDocument,
  type DescribedOperation,
  type Parameter,
  readDocument,
  refName,
} from './document.js';
import { curlOf } from './example.js';
import { fieldList, type FieldLinks, fieldRow, resolved, typeOf } from './fields.js';

/**
 * The reference: a page for each tag of the OpenAPI document, a page of objects, and a page about
 * webhook deliveries.
 */

const PATH = '/reference';
const OBJECTS = `${PATH}/objects`;
const SENT = `${PATH}/deliveries`;

interface Call {
  readonly route: Route;
  readonly operation: DescribedOperation;
}

interface Group {
  readonly tag: string;
  readonly path: string;
  readonly about: string;
  readonly calls: readonly Call[];
}

export class Reference {
  private readonly document: ApiDocument;
  private readonly groups: readonly Group[];
  private readonly links: FieldLinks;

  constructor(
    routes: readonly Route[],
    openApi: object,
    private readonly places: Places,
  ) {
    this.document = readDocument(openApi);
    const calls = routes.flatMap((route) => callOf(this.document, route));
    const tagsOf = ({ operation }: Call): string => operation.tags[0] ?? '';
    const tags = new Set([...this.document.tags.map(({ name }) => name), ...calls.map(tagsOf)]);
    this.groups = Array.from(tags, (tag) => ({
      tag,
      path: `${PATH}/${slug(tag)}`,
      about: this.document.tags.find(({ name }) => name === tag)?.description ?? '',
      calls: calls.filter((call) => tagsOf(call) === tag),
    })).filter(({ calls: own }) => own.length > 0);
    const shown = this.shownObjects();
    this.links = {
      object: (name) => (shown.has(name) ? `${places.page(OBJECTS)}#${name}` : undefined),
    };
  }

  home(): Made {
    const groups = this.groups.map(
      (group) =>
        html`<h2 id="${slug(group.tag)}">
            <a href="${this.places.page(group.path)}">${titleOf(group.tag)}</a>
          </h2>
          ${group.about === '' ? NOTHING : renderMarkdown(group.about)}
          <ul class="calls">
            ${group.calls.map(({ route, operation }) => html`<li>${this.callLink(route)} ${operation.summary}</li>`)}
          </ul>`,
    );
    const content = html`<p>
        All bodies are JSON, except uploads, which are multipart forms, and files. Every request
        carries a token, every response its <code>Svc-Request-Id</code>. For machines there is
        <a href="${this.places.openApi}">openapi.json</a> (OpenAPI 3.1). See also the
        <a href="${this.places.page(OBJECTS)}">objects</a> in responses, and the
        <a href="${this.places.page(SENT)}">deliveries</a> to your endpoints.
      </p>
      ${groups}`;
    const sections = this.groups.map(({ tag }) => ({
      anchor: slug(tag),
      title: titleOf(tag),
      level: 2,
      text: '',
    }));
    return { content, sections };
  }

  pages(): SitePage[] {
    return [
      ...this.groups.map((group) => this.groupPage(group)),
      this.deliveriesPage(),
      this.objectsPage(),
    ];
  }

  /** Returns `GET /v1/transfers/{id}` as a link to its description. */
  callLink(route: Route): Html {
    const { method, path } = route;
    const group = this.groups.find(({ calls }) => calls.some((call) => call.route === route));
    const name = html`<code>${method} ${path}</code>`;
    const operation = group?.calls.find((call) => call.route === route)?.operation;
    if (group === undefined || operation === undefined) return name;
    return html`<a href="${this.places.page(group.path)}#${operation.operationId}">${name}</a>`;
  }

  private groupPage({ tag, path, about, calls }: Group): SitePage {
    const content = html`${about === '' ? NOTHING : renderMarkdown(about)}
    ${calls.map((call) => this.callArticle(call))}`;
    const sections = calls.map(({ route, operation }) => ({
      anchor: operation.operationId,
      title: operation.summary,
      level: 2,
      text: `${route.method} ${route.path} ${operation.operationId} ${route.description}`,
    }));
    return {
      path,
      title: titleOf(tag),
      about: `the operations of ${tag}`,
      content,
      sections,
      under: PATH,
    };
  }

  private callArticle({ route, operation }: Call): Html {
    const { operationId, summary } = operation;
    const { schemas } = this.document.components;
    const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
    return html`<article id="${operationId}">
      <h2><a href="#${operationId}">${summary}</a></h2>
      <p class="call"><b>${route.method}</b> <code>${route.path}</code></p>
      ${renderMarkdown(route.description)} ${needs(route)} ${this.parameters(operation)}
      ${
        body === undefined
          ? NOTHING
          : html`<h3>Body</h3>
              ${fieldList(body, schemas, { object: () => undefined })}`
      }
      <h3>Answers</h3>
      <ul>
        ${this.answers(operation)}
      </ul>
      <p>
        Errors:
        ${joined(
          codesOf(route).map((code) => this.errorLink(code)),
          ', ',
        )}
      </p>
      <h3>Example</h3>
      ${codeBlock(curlOf(route, operation, schemas))}
    </article>`;
  }

  private parameters({ parameters }: DescribedOperation): Html {
    const known = parameters.map(
      (given) => this.document.components.parameters[refName(given) ?? ''] ?? given,
    );
    const kinds = [
      ['path', 'In the path'],
      ['query', 'Query'],
      ['header', 'Headers'],
    ] as const;
    return html`${kinds.map(([kind, title]) => {
      const own = known.filter((parameter) => parameter.in === kind);
      return own.length === 0
        ? NOTHING
        : html`<h3>${title}</h3>
            <dl>${own.map((one) => this.parameter(one))}</dl>`;
    })}`;
  }

  private parameter({ name = '', required = false, description, schema = {} }: Parameter): Html {
    const { schemas } = this.document.components;
    const text = description ?? schema.description ?? '';
    return fieldRow({ name, schema, isRequired: required, text }, { schemas, links: this.links });
  }

  private answers({ responses }: DescribedOperation): Html[] {
    const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
    return good.map(([status, { description, content }]) => {
      const kinds = Object.entries(content).map(([type, { schema = {} }]) => {
        const href = this.links.object(refName(schema) ?? '');
        return href === undefined
          ? html`<code>${type}</code>`
          : html`<a href="${href}">${refName(schema) ?? ''}</a>`;
      });
      return html`<li><code>${status}</code> ${description} ${joined(kinds, ' or ')}</li>`;
    });
  }

  private errorLink(code: string): Html {
    return html`<a href="${this.places.page('/conceptos/errores')}#${code}"
      ><code>${code}</code></a
    >`;
  }

  /** Returns the objects in responses. The description of a request contains its own objects. */
  private shownObjects(): ReadonlySet<string> {
    const names = new Set<string>();
    const visit = (value: unknown): void => {
      const text = JSON.stringify(value);
      for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
        if (names.has(name)) continue;
        names.add(name);
        visit(this.document.components.schemas[name] ?? {});
      }
    };
    visit(this.groups.flatMap(({ calls }) => calls.map(({ operation }) => operation.responses)));
    visit(Object.values(this.document.webhooks).map(({ post }) => post?.requestBody ?? {}));
    return names;
  }

  private objectsPage(): SitePage {
    const { schemas } = this.document.components;
    const shown = Object.entries(schemas).filter(([name]) => this.links.object(name) !== undefined);
    const within = { schemas, links: { object: () => undefined } };
    const content = html`<p>
        The objects in responses. A field that may be null is always present.
      </p>
      ${shown.map(
        ([name, schema]) =>
          html`<article id="${name}">
            <h2><a href="#${name}">${name}</a></h2>
            ${schema.description === undefined ? NOTHING : renderMarkdown(schema.description)}
            ${resolved(schema, schemas).properties === undefined ? html`<p>${typeOf(schema, within)}</p>` : fieldList(schema, schemas, this.links)}
          </article>`,
      )}`;
    const sections = shown.map(([name, { properties = {} }]) => ({
      anchor: name,
      title: name,
      level: 2,
      text: Object.keys(properties).join(' '),
    }));
    return {
      path: OBJECTS,
      title: 'Objects',
      about: 'what answers are made of',
      content,
      sections,
      under: PATH,
    };
  }

  private deliveriesPage(): SitePage {
    const { webhooks, components } = this.document;
    const sent = Object.entries(webhooks).flatMap(([name, { post }]) =>
      post === undefined ? [] : [{ name, post }],
    );
    const articles = sent.map(({ name, post }) => {
      const schema = Object.values(post.requestBody?.content ?? {})[0]?.schema ?? {};
      return html`<article id="${slug(name)}">
        <h2><a href="#${slug(name)}">${name}</a></h2>
        ${renderMarkdown(post.description === '' ? post.summary : post.description)}
        ${fieldList(schema, components.schemas, this.links)}
      </article>`;
    });
    const content = html`<p>
        The events that your endpoints receive and that the log holds. See
        <a href="${this.places.page('/events')}">when each is sent</a> and
        <a href="${this.places.page('/webhooks')}">how to verify it</a>.
      </p>
      ${articles}`;
    const sections = sent.map(({ name, post }): Section => ({
      ...{ anchor: slug(name), title: name, level: 2 },
      text: `${post.summary} ${post.description}`,
    }));
    return {
      path: SENT,
      title: 'Deliveries',
      about: 'the body of each event',
      content,
      sections,
      under: PATH,
    };
  }
}

function callOf(document: ApiDocument, route: Route): Call[] {
  const method = route.method.toLowerCase() as Lowercase<Route['method']>;
  const operation = document.paths[route.path]?.[method];
  return operation === undefined ? [] : [{ route, operation }];
}

function needs({ operation }: Route): Html {
  const { scopes, roles, roleIn, also }: Permission = PERMISSIONS[operation];
  const words = (list: readonly string[]): Html =>
    joined(
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

function titleOf(tag: string): string {
  const words = tag.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function slug(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
