import { fileURLToPath } from 'node:url';
import type { ApiEvent, Route } from '../../../src/http/route.js';
import { html, type Html } from '../../../src/support/html.js';
import type { ApiDocument } from '../openapi/document.js';
import { ALIASES, CONTENTS, KEYWORDS, type Listed } from './contents.js';
import { type MenuChapter, NAME, pageHtml, type SitePage, type SiteUrls } from './layout.js';
import { markdownPage, readPart } from './markdown-page.js';
import { errorsPage, permissionsPage } from './pages.js';
import { Reference } from './reference/pages.js';

interface SiteDeps {
  readonly routes: readonly Route[];
  readonly events: readonly ApiEvent[];
  readonly openApi: ApiDocument;
  readonly baseUrl: string;
  readonly urls: SiteUrls;
}

/** The files that browsers load beside the pages, by their names. */
const ASSETS = {
  'site.css': 'docs/site/site.css',
  'site.js': 'docs/site/site.js',
  'colours.js': 'docs/site/colours.js',
  'icon.svg': 'docs/site/icon.svg',
  'money-movement-client.tgz': 'docs/site/money-movement-client.tgz',
  'postman.json': 'docs/postman.json',
};

/** Renders every page by its path, every text by its path, and every asset by its name. */
export function renderSite(deps: SiteDeps) {
  const { urls, routes, baseUrl } = deps;
  const reference = new Reference(deps);
  const generated: Readonly<Record<string, string>> = {
    '/reference': reference.home(),
    '/errors': errorsPage(urls),
    '/permissions': permissionsPage(routes, reference.linkOf),
  };
  const others = reference.pages();
  const pageOf = (listed: Listed): SitePage => ({
    ...markdownPage(listed, urls, baseUrl, reference, generated[listed.path]),
    ...(listed.path === '/reference' && { below: others }),
  });
  const menu: MenuChapter[] = CONTENTS.map(({ title, pages }) => ({
    title,
    pages: pages.map(pageOf),
  }));
  const pages = [...menu.flatMap((chapter) => chapter.pages), ...others];
  return {
    pages: new Map(
      pages.flatMap((page) => {
        const text = pageHtml(urls, menu, page);
        return [page.path, ...(ALIASES[page.path] ?? [])].map((path) => [path, text] as const);
      }),
    ),
    assets: new Map<string, string | Buffer>([
      ...Object.entries(ASSETS).map(([name, file]) => [name, readPart(file)] as const),
      ['minisearch.js', readPart(fileURLToPath(import.meta.resolve('minisearch')))],
      ['search.json', searchIndex(urls, pages)],
    ]),
    texts: new Map([
      ...pages.flatMap(({ path, markdown = '' }) =>
        [path || '/index', ...(ALIASES[path] ?? [])].map((one) => [`${one}.md`, markdown] as const),
      ),
      ['/llms.txt', llmsText(urls, menu, others)],
      ['/llms-full.txt', wholeText(urls, pages)],
    ]),
    missing: pageHtml(urls, menu, missingPage(urls)),
  };
}

/** Lists the pages for programs that read text. (https://llmstxt.org) */
function llmsText(urls: SiteUrls, menu: readonly MenuChapter[], others: SitePage[]): string {
  const chapters = [...menu, { title: 'Reference of each resource', pages: others }].map(
    ({ title, pages }) => {
      const lines = pages.map(
        ({ path, title: name, description }) =>
          `- [${name}](${urls.markdown(path)}): ${description}`,
      );
      return `## ${title}\n\n${lines.join('\n')}\n`;
    },
  );
  return `# ${NAME}

> A REST API that moves money: transfers, bonuses, payouts to banks, approvals, an event log and signed webhooks. Amounts are integers,
> and every request that moves money has an idempotency key.

[All pages as one file](llms-full.txt)

${chapters.join('\n')}`;
}

/** Returns all pages as one Markdown file, each below its address. */
function wholeText(urls: SiteUrls, pages: readonly SitePage[]): string {
  const texts = pages.map(
    ({ path, markdown = '' }) => `---\n\n${urls.markdown(path)}\n\n${markdown}`,
  );
  return [`# ${NAME}: all pages\n`, ...texts].join('\n');
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
      page: title,
      title: '',
      href: urls.page(path),
      text: `${description} ${beginning?.text ?? ''}`.trim(),
      also: `${title} ${KEYWORDS[path] ?? ''}`,
    };
    const parts = sections
      .filter((section) => section !== beginning)
      .map(({ anchor, title: heading, text }) => ({
        page: title,
        title: heading,
        href: `${urls.page(path)}#${anchor}`,
        text: text.trim(),
        also: KEYWORDS[`${path}#${anchor}`] ?? '',
      }));
    return [wholePage, ...parts];
  });
  return JSON.stringify(entries.map((entry, id) => ({ id, ...entry })));
}
