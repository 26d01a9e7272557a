import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ApiDocument } from '../openapi-document.js';
import type { Route } from '../route.js';
import { ALIASES, CONTENTS, KEYWORDS, type Listed } from './contents.js';
import { html, type Html } from './html.js';
import { pageHtml, type MenuChapter, type SiteUrls, type SitePage } from './layout.js';
import { errorsPage, type Generated, permissionsPage } from './pages.js';
import { Reference } from './reference/pages.js';
import { readPart, markdownPage } from './markdown-page.js';

interface SiteDeps {
  readonly routes: readonly Route[];
  readonly openApi: ApiDocument;
  readonly baseUrl: string;
  readonly urls: SiteUrls;
}

/** A file whose content is made when it is first read. */
export class SiteFile {
  private made: Buffer | undefined;
  private tag: string | undefined;

  constructor(
    readonly type: string,
    private readonly make: () => string | Buffer,
  ) {}

  get content(): Buffer {
    return (this.made ??= Buffer.from(this.make()));
  }

  get etag(): string {
    return (this.tag ??= createHash('sha256')
      .update(this.content)
      .digest('base64url')
      .slice(0, 22));
  }
}

const HTML = 'text/html; charset=utf-8';
const JS = 'text/javascript; charset=utf-8';
const JSON_TEXT = 'application/json; charset=utf-8';

export function assembleSite(deps: SiteDeps) {
  const { urls, routes, openApi, baseUrl } = deps;
  const reference = new Reference(routes, openApi, urls);
  const generated: Readonly<Record<string, Generated>> = {
    '/reference': reference.home(),
    '/conceptos/errores': errorsPage(urls),
    '/permissions': permissionsPage(routes, (route) => reference.callLink(route)),
  };
  const pageOf = (listed: Listed): SitePage => {
    const { path, description } = listed;
    const page = generated[path];
    return page === undefined
      ? markdownPage(listed, urls, baseUrl)
      : { path, description, ...page };
  };
  const menu: MenuChapter[] = CONTENTS.map(({ title, pages }) => ({
    title,
    pages: pages.map(pageOf),
  }));
  const pages = [...menu.flatMap((chapter) => chapter.pages), ...reference.pages()];
  return {
    pages: new Map(
      pages.flatMap((page) => {
        const file = new SiteFile(HTML, () => pageHtml(urls, menu, page));
        return [page.path, ...(ALIASES[page.path] ?? [])].map((path) => [path, file] as const);
      }),
    ),
    assets: new Map([
      ['site.css', new SiteFile('text/css; charset=utf-8', () => readPart('docs/site/site.css'))],
      ['site.js', new SiteFile(JS, () => readPart('docs/site/site.js'))],
      ['colours.js', new SiteFile(JS, () => readPart('docs/site/colours.js'))],
      ['postman.json', new SiteFile(JSON_TEXT, () => readPart('docs/postman.json'))],
      ['icon.svg', new SiteFile('image/svg+xml', () => readPart('docs/site/icon.svg'))],
      [
        'minisearch.js',
        new SiteFile(JS, () => readFileSync(new URL(import.meta.resolve('minisearch')))),
      ],
      ['search.json', new SiteFile(JSON_TEXT, () => searchIndex(urls, pages))],
    ]),
    missing: new SiteFile(HTML, () => pageHtml(urls, menu, missingPage(urls))),
  };
}

function missingPage(urls: SiteUrls): SitePage {
  const content = (): Html =>
    html`<p>
      The address may be mistyped, or its page renamed. The menu and the search lead to all pages,
      as does
      <a href="${urls.page('')}">the first one</a>.
    </p>`;
  return {
    path: '/404',
    title: 'There is no such page',
    description: 'No page has this address.',
    content,
    sections: [],
  };
}

function searchIndex(urls: SiteUrls, pages: readonly SitePage[]): string {
  const entries = pages.flatMap(({ path, title, description, sections }) => {
    const beginning = sections.find(({ anchor }) => anchor === '');
    const wholePage = {
      ...{ page: title, title: '', href: urls.page(path) },
      text: `${description} ${beginning?.text ?? ''}`.trim(),
      also: `${title} ${KEYWORDS[path] ?? ''}`,
    };
    const parts = sections
      .filter((section) => section !== beginning)
      .map(({ anchor, title: heading, text }) => ({
        ...{ page: title, title: heading, href: `${urls.page(path)}#${anchor}` },
        ...{ text: text.trim(), also: KEYWORDS[`${path}#${anchor}`] ?? '' },
      }));
    return [wholePage, ...parts];
  });
  return JSON.stringify(entries.map((entry, id) => ({ id, ...entry })));
}
