import { element, html, type Html } from '../../../src/support/html.js';

export interface Section {
  /** Empty for the beginning of the page. */
  readonly anchor: string;
  readonly title: string;
  readonly level: number;
  readonly text: string;
}

/** Returns the section below a heading of the second level. */
export function sectionOf(anchor: string, title: string, text = ''): Section {
  return { anchor, title, level: 2, text };
}

export interface SitePage {
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly content: () => Html;
  /** The whole page in Markdown; undefined for the page of a missing address. */
  readonly markdown?: string;
  readonly sections: readonly Section[];
  /** Pages that the menu lists below this one, while it shows this one or one of them. */
  readonly below?: readonly SitePage[];
}

export interface SiteUrls {
  readonly page: (path: string) => string;
  /** The address of a page's Markdown. */
  readonly markdown: (path: string) => string;
  readonly asset: (name: string) => string;
  readonly openApi: string;
}

export interface MenuChapter {
  readonly title: string;
  readonly pages: readonly SitePage[];
}

export const NAME = 'Money Movement Service';

export function pageHtml(urls: SiteUrls, menu: readonly MenuChapter[], page: SitePage): string {
  const title = page.title === NAME ? NAME : `${page.title} · ${NAME}`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content="${page.description}" />
        ${element('title', {}, title)}
        ${page.markdown !== undefined && element('link', { rel: 'alternate', type: 'text/markdown', href: urls.markdown(page.path) })}
        <link rel="icon" href="${urls.asset('icon.svg')}" />
        <link rel="stylesheet" href="${urls.asset('site.css')}" />
        <script src="${urls.asset('colours.js')}"></script>
        <script defer src="${urls.asset('site.js')}"></script>
      </head>
      <body data-search="${urls.asset('search.json')}">
        <a class="skip" href="#content">Skip to the text</a>
        <header>
          <button type="button" class="menu" popovertarget="menu">Menu</button>
          <a class="home" href="${urls.page('')}">${NAME}</a>
        </header>
        <div class="frame">
          <nav id="menu" popover aria-label="Pages">
            ${menu.map((chapter) => chapterList(urls, chapter, page))}
          </nav>
          <main id="content">
            <h1>${page.title}</h1>
            ${page.content()} ${neighbours(urls, menu, page)}
          </main>
        </div>
      </body>
    </html>`.text;
}

function chapterList(urls: SiteUrls, { title, pages }: MenuChapter, current: SitePage): Html {
  return html`<p>${title}</p>
    <ul>
      ${pages.map((page) => entry(urls, page, current))}
    </ul>`;
}

function entry(urls: SiteUrls, page: SitePage, current: SitePage): Html {
  const { path, title, sections, below } = page;
  const isCurrent = path === current.path;
  const isOpen = isCurrent || below?.some((one) => one.path === current.path) === true;
  const own = isOpen
    ? (below?.map((one) => entry(urls, one, current)) ?? sections.flatMap(sectionEntry))
    : [];
  return html`<li>
    ${element('a', { href: urls.page(path), 'aria-current': isCurrent && 'page' }, title)}
    ${
      own.length > 0 &&
      html`<ul>
        ${own}
      </ul>`
    }
  </li>`;
}

function sectionEntry({ level, anchor, title }: Section): Html[] {
  return level === 2 && anchor !== '' ? [html`<li><a href="#${anchor}">${title}</a></li>`] : [];
}

function neighbours(urls: SiteUrls, menu: readonly MenuChapter[], page: SitePage): Html | null {
  const all = menu.flatMap(({ pages }) => pages);
  const at = all.findIndex(({ path }) => path === page.path);
  if (at < 0) return null;
  const link = (to: SitePage | undefined, rel: string, word: string): Html | false =>
    to !== undefined &&
    html`<a rel="${rel}" href="${urls.page(to.path)}"><small>${word}</small> ${to.title}</a>`;
  return html`<nav class="neighbours" aria-label="Neighbours">
    ${link(all[at - 1], 'prev', 'Previous')} ${link(all[at + 1], 'next', 'Next')}
  </nav>`;
}
