import { type ApiDocument, refName, type Schema, titleOf } from '../../openapi/document.js';
import type { Scope } from '../../../../src/core/permissions.js';
import type { ApiEvent, Route } from '../../../../src/http/route.js';
import { html, type Html } from '../../../../src/support/html.js';
import { scopesOfGuide } from '../guide-scopes.js';
import { breakable, codeBlock, tabs } from '../html.js';
import { type SiteUrls, sectionOf, type SitePage } from '../layout.js';
import {
  type GuideBlock,
  renderMarkdown,
  MARKDOWN_DOCS_URL,
  MARKDOWN_BASE_URL,
} from '../markdown-page.js';
import {
  callArticle,
  fieldList,
  foldedFields,
  guideSamples,
  readProgram,
  sampleTabs,
} from './article.js';
import type { Call } from './call.js';
import { type Field, fieldsOf } from './fields.js';
import { blocks, callMarkdown, fence, fieldLines } from './markdown.js';
import { resolveSchema } from './schema.js';

/** Pages for each tag of the OpenAPI document, and for webhook deliveries. */

const PATH = '/reference';
const DELIVERIES = `${PATH}/deliveries`;
/** The order of a resource's operations: create, read one, list, change. The others follow as the routes do. */
const ORDER = [
  /^POST \/v1\/\w+$/,
  /^GET \/v1\/\w+\/\{\w+\}$/,
  /^GET \/v1\/\w+$/,
  /^PATCH \/v1\/\w+\/\{\w+\}$/,
];

interface Group {
  readonly tag: string;
  readonly path: string;
  readonly description: string;
  readonly calls: readonly Call[];
}

interface ReferenceDeps {
  readonly routes: readonly Route[];
  readonly events: readonly ApiEvent[];
  readonly openApi: ApiDocument;
  readonly urls: SiteUrls;
}

export class Reference {
  private readonly groups: readonly Group[];

  private readonly document: ApiDocument;
  private readonly urls: SiteUrls;
  private readonly events: readonly ApiEvent[];

  constructor({ routes, events, openApi, urls }: ReferenceDeps) {
    this.document = openApi;
    this.urls = urls;
    this.events = events;
    const { paths, tags: described } = openApi;
    const calls = routes.flatMap((route): Call[] => {
      const operation =
        paths[route.path]?.[route.method.toLowerCase() as Lowercase<Route['method']>];
      return operation === undefined ? [] : [{ route, operation }];
    });
    const tagOf = ({ operation }: Call): string => operation.tags[0] ?? '';
    const tags = new Set([...described.map(({ name }) => name), ...calls.map(tagOf)]);
    this.groups = Array.from(tags, (tag) => ({
      tag,
      path: `${PATH}/${slug(tag)}`,
      description: described.find(({ name }) => name === tag)?.description ?? '',
      calls: calls
        .filter((call) => tagOf(call) === tag)
        .sort((one, other) => rankOf(one) - rankOf(other)),
    })).filter(({ calls: own }) => own.length > 0);
  }

  /** Returns the first page, in Markdown. */
  home(): string {
    const groups = this.groups.map(({ tag, description, calls }) => {
      const list = calls.map(
        ({ route, operation }) => `- ${this.linkOf(route)} ${operation.summary}`,
      );
      return `## ${titleOf(tag)}\n\n${description}\n\n${list.join('\n')}`;
    });
    return `# Reference

Every request carries a [token](${MARKDOWN_DOCS_URL}/permissions#authentication), every response a \`Svc-Request-Id\`. Bodies are JSON,
except for uploads and downloaded files. See also the [deliveries](${MARKDOWN_DOCS_URL}${DELIVERIES}) to your endpoints, and
[openapi.json](${MARKDOWN_BASE_URL}/openapi.json) (OpenAPI 3.1) for machines.

The samples are complete programs. They read the address, with \`/v1\`, from \`SVC_URL\` and the token from \`SVC_TOKEN\`. Replace
ids and aliases by yours. TypeScript needs [our client](${MARKDOWN_DOCS_URL}/clients); Python 3 and Go 1.20 need nothing else.

${groups.join('\n\n')}
`;
  }

  pages(): SitePage[] {
    return [...this.groups.map((group) => this.groupPage(group)), this.deliveriesPage()];
  }

  /** Shows a guide's command beside the same request in other languages. */
  readonly inAllLanguages = (block: GuideBlock, command: Html): Html => {
    const { operationId } = block;
    const group = this.groupOf(operationId);
    const call = callIn(group, operationId);
    if (group === undefined || call === undefined) return command;
    const { method, path } = call.route;
    const samples = guideSamples(call, this.document.components.schemas, block);
    const curl = { id: `${operationId}-curl`, label: 'curl', content: command };
    const legend = html`<a href="${this.urls.page(group.path)}#${operationId}"
      ><code>${method} ${breakable(path)}</code></a
    >`;
    return tabs(`${operationId}-language`, legend, [curl, ...sampleTabs(call, samples)]);
  };

  /** Returns a block of Markdown for each language but that of the guide's command. */
  readonly inMarkdown = (block: GuideBlock): string => {
    const call = callIn(this.groupOf(block.operationId), block.operationId);
    if (call === undefined) return '';
    return blocks(guideSamples(call, this.document.components.schemas, block).map(fence));
  };

  readonly scopesOf = (guide: string): readonly Scope[] => {
    const routes = this.groups.flatMap(({ calls }) => calls.map(({ route }) => route));
    return scopesOfGuide(guide, routes, (name) => readProgram(name, 'TypeScript'));
  };

  /** Links `GET /v1/transfers/{id}` to its description, in Markdown. */
  readonly linkOf = ({ method, path, operationId }: Route): string => {
    const group = this.groupOf(operationId);
    const name = `\`${method} ${path}\``;
    return group === undefined
      ? name
      : `[${name}](${MARKDOWN_DOCS_URL}${group.path}#${operationId})`;
  };

  private groupOf(operationId: string): Group | undefined {
    return this.groups.find((group) => callIn(group, operationId) !== undefined);
  }

  private groupPage({ tag, path, description, calls }: Group): SitePage {
    const errorsPage = this.urls.page('/errors');
    const setup = (page: string): string =>
      `The samples read the address, with \`/v1\`, from \`SVC_URL\` and the token from \`SVC_TOKEN\` ([how to set them](${page}#your-token)).`;
    const content = (): Html =>
      html`${description !== '' && renderMarkdown(description)}
      ${renderMarkdown(setup(this.urls.page('/first-transfer')))}
      ${calls.map((call) => callArticle(call, this.document, errorsPage))}`;
    const sections = calls.map(({ route, operation: { operationId, summary } }) =>
      sectionOf(
        operationId,
        summary,
        `${route.method} ${route.path} ${operationId} ${route.description}`,
      ),
    );
    const operations = calls.map((call) =>
      callMarkdown(call, this.document, this.urls.markdown('/errors')),
    );
    const markdown = blocks([
      `# ${titleOf(tag)}`,
      description,
      setup(this.urls.markdown('/first-transfer')),
      ...operations,
    ]);
    const about = `the operations of ${tag}`;
    return { path, title: titleOf(tag), description: about, content, markdown, sections };
  }

  private deliveriesPage(): SitePage {
    const { urls } = this;
    const [envelope, deliveries] = this.deliveries();
    const content = (): Html =>
      html`<p>
          The events that your endpoints receive and that the log holds. See
          <a href="${urls.page('/events')}">when each is sent</a> and
          <a href="${urls.page('/webhooks')}">how to verify it</a>.
        </p>
        <h2 id="event"><a href="#event">Every event</a></h2>
        ${fieldList(envelope)} ${deliveries.map(deliveryArticle)}`;
    const markdown = blocks([
      '# Deliveries',
      `The events that your endpoints receive and that the log holds. See [when each is sent](${urls.markdown('/events')}) and
[how to verify it](${urls.markdown('/webhooks')}).`,
      '## Every event',
      fieldLines(envelope),
      ...deliveries.map(deliveryMarkdown),
    ]);
    const sections = [
      sectionOf('event', 'Every event', 'envelope id type sequence data'),
      ...this.events.map(({ type, summary, description }) =>
        sectionOf(slug(type), type, `${summary} ${description}`),
      ),
    ];
    const about = 'the body of each event';
    return {
      path: DELIVERIES,
      title: 'Deliveries',
      description: about,
      content,
      markdown,
      sections,
    };
  }

  /** Returns the fields that all events of the log have, and what each type of delivery has. */
  private deliveries(): [Field[], Delivery[]] {
    const { schemas } = this.document.components;
    const refs = schemas.Event?.discriminator?.mapping ?? {};
    const schemaOf = ({ type }: ApiEvent): Schema => ({
      $ref: refs[type] ?? '#/components/schemas/WebhookTest',
    });
    const oneOf = this.events.filter(({ type }) => type in refs).map(schemaOf);
    const deliveries = this.events.map((event) => {
      const schema = schemaOf(event);
      const data = resolveSchema(schema, schemas).properties?.data?.properties?.object;
      const resource = data === undefined ? null : (refName(data) ?? 'object');
      return { event, resource, fields: fieldsOf(data ?? schema, schemas, 'response') };
    });
    return [fieldsOf({ oneOf }, schemas, 'response'), deliveries];
  }
}

/** A type of event, with the fields of its resource, or with its own if it has no resource. */
interface Delivery {
  readonly event: ApiEvent;
  readonly resource: string | null;
  readonly fields: readonly Field[];
}

const NOT_SENT = 'Only in the log: no webhook is sent.';

function deliveryArticle({ event, resource, fields }: Delivery): Html {
  const { type, summary, isDelivered, example } = event;
  return html`<article id="${slug(type)}">
    <h2><a href="#${slug(type)}">${type}</a></h2>
    <p>${summary}.</p>
    ${
      resource === null
        ? fieldList(fields)
        : html`<p><code>data.object</code>: ${resource}. ${isDelivered ? '' : NOT_SENT}</p>
            ${foldedFields(fields)}`
    }
    <details>
      <summary>Example</summary>
      ${codeBlock(JSON.stringify(example, null, 2), 'json')}
    </details>
  </article>`;
}

function deliveryMarkdown({ event, resource, fields }: Delivery): string {
  const { type, summary, isDelivered, example } = event;
  return blocks([
    `## ${type}`,
    `${summary}.${isDelivered ? '' : ` ${NOT_SENT}`}`,
    resource === null ? '' : `\`data.object\`: ${resource}.`,
    fieldLines(fields),
    fence({ language: 'json', text: JSON.stringify(example, null, 2) }),
  ]);
}

function callIn(group: Group | undefined, operationId: string): Call | undefined {
  return group?.calls.find(({ route }) => route.operationId === operationId);
}

function rankOf({ route: { method, path } }: Call): number {
  const rank = ORDER.findIndex((pattern) => pattern.test(`${method} ${path}`));
  return rank < 0 ? ORDER.length : rank;
}

function slug(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
