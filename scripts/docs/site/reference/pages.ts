import { type ApiDocument, titleOf } from '../../openapi/document.js';
import type { Scope } from '../../../../src/core/permissions.js';
import type { ApiEvent, Route } from '../../../../src/http/route.js';
import { html, type Html } from '../../../../src/support/html.js';
import { scopesOfGuide } from '../guide-scopes.js';
import { breakable, tabs } from '../html.js';
import { type SiteUrls, sectionOf, type SitePage } from '../layout.js';
import {
  type GuideBlock,
  renderMarkdown,
  MARKDOWN_DOCS_URL,
  MARKDOWN_BASE_URL,
} from '../markdown-page.js';
import { callArticle, guideSamples, objectArticle, readProgram, sampleTabs } from './article.js';
import type { Call } from './call.js';
import { deliveriesPage } from './deliveries.js';
import { blocks, callMarkdown, fence, objectMarkdown } from './markdown.js';
import { type ApiObject, type Links, linksOf, objectsOf, objectTitle } from './objects.js';

/** Pages for each tag of the OpenAPI document: its objects, then its operations. */

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
  private readonly objects: readonly ApiObject[];
  private readonly links: Readonly<Record<'html' | 'markdown', Links>>;
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
    this.objects = objectsOf(this.groups, openApi.components.schemas);
    this.links = {
      html: linksOf(this.objects, openApi, urls.page),
      markdown: linksOf(this.objects, openApi, urls.markdown),
    };
  }

  /** Returns the first page, in Markdown. */
  home(): string {
    const groups = this.groups.map(({ tag, path, description, calls }) => {
      const list = calls.map(
        ({ route, operation }) => `- ${this.linkOf(route)} ${operation.summary}`,
      );
      const objects = this.objectsIn(path).map(
        ({ name, anchor }) => `- [${objectTitle(name)}](${MARKDOWN_DOCS_URL}${path}#${anchor})`,
      );
      return `## ${titleOf(tag)}\n\n${description}\n\n${[...objects, ...list].join('\n')}`;
    });
    return `# Reference

Every request carries a [token](${MARKDOWN_DOCS_URL}/permissions#authentication), every response a \`Svc-Request-Id\`. Bodies are JSON,
except for uploads and downloaded files. The page of a resource begins with its objects, their fields and states. See also the
[deliveries](${MARKDOWN_DOCS_URL}${DELIVERIES}) to your endpoints, and [openapi.json](${MARKDOWN_BASE_URL}/openapi.json) (OpenAPI 3.1) for machines.

The samples are complete programs. They read the address, with \`/v1\`, from \`SVC_URL\` and the token from \`SVC_TOKEN\`. Replace
ids and aliases by yours. TypeScript needs [our client](${MARKDOWN_DOCS_URL}/clients); Python 3 and Go 1.20 need nothing else.

${groups.join('\n\n')}
`;
  }

  pages(): SitePage[] {
    const { events, objects, links } = this;
    const { schemas } = this.document.components;
    const deps = { path: DELIVERIES, events, schemas, objects, links };
    return [...this.groups.map((group) => this.groupPage(group)), deliveriesPage(deps)];
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

  private objectsIn(path: string): ApiObject[] {
    return this.objects.filter((one) => one.path === path);
  }

  private groupPage({ tag, path, description, calls }: Group): SitePage {
    const objects = this.objectsIn(path);
    const setup = ({ urlOf }: Links): string =>
      `The samples read the address, with \`/v1\`, from \`SVC_URL\` and the token from \`SVC_TOKEN\` ([how to set them](${urlOf('/first-transfer')}#your-token)).`;
    const content = (): Html => {
      const { document, urlOf } = this.links.html;
      const { schemas } = document.components;
      return html`${description !== '' && renderMarkdown(description)}
      ${renderMarkdown(setup(this.links.html))} ${objects.map((one) => objectArticle(one, schemas))}
      ${calls.map((call) => callArticle(call, document, urlOf('/errors')))}`;
    };
    const { document, urlOf } = this.links.markdown;
    const sections = [
      ...objects.map(({ anchor, name, schema }) =>
        sectionOf(anchor, objectTitle(name), Object.keys(schema.properties ?? {}).join(' ')),
      ),
      ...calls.map(({ route, operation: { operationId, summary } }) =>
        sectionOf(
          operationId,
          summary,
          `${route.method} ${route.path} ${operationId} ${route.description}`,
        ),
      ),
    ];
    const markdown = blocks([
      `# ${titleOf(tag)}`,
      description,
      setup(this.links.markdown),
      ...objects.map((one) => objectMarkdown(one, document.components.schemas)),
      ...calls.map((call) => callMarkdown(call, document, urlOf('/errors'))),
    ]);
    const about = `the operations of ${tag}`;
    return { path, title: titleOf(tag), description: about, content, markdown, sections };
  }
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
