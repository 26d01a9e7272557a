import { html, type Html, NOTHING } from './html.js';

export interface Section {
  /** '' is the beginning of the page. */
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
  readonly about: string;
  readonly also?: string | undefined;
  readonly content: () => Html;
  readonly sections: readonly Section[];
  /** The menu's page for a page that it does not list. */
  readonly under?: string;
}

export interface Places {
  readonly page: (path: string) => string;
  readonly asset: (name: string) => string;
  readonly openApi: string;
}

export interface MenuChapter {
  readonly title: string;
  readonly pages: readonly SitePage[];
}

const NAME = 'Money Movement Service';

export function framed(places: Places, menu: readonly MenuChapter[], page: SitePage): string {
  const title = page.title === NAME ? NAME : `${page.title} · ${NAME}`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content="${page.about}" />
        <title>${title}</title>
        <link rel="icon" href="${places.asset('icon.svg')}" />
        <link rel="stylesheet" href="${places.asset('site.css')}" />
        <script src="${places.asset('colours.js')}"></script>
        <script src="${places.asset('site.js')}" defer></script>
      </head>
      <body data-search="${places.asset('search.json')}">
        <a class="skip" href="#content">Skip to the text</a>
        <header>
          <button type="button" class="menu" popovertarget="menu">Menu</button>
          <a class="home" href="${places.page('')}">${NAME}</a>
        </header>
        <div class="frame">
          <nav id="menu" popover aria-label="Pages">
            ${menu.map((chapter) => chapterList(places, chapter, page))}
          </nav>
          <main id="content">
            <h1>${page.title}</h1>
            ${page.content()} ${neighbours(places, menu, page)}
          </main>
        </div>
      </body>
    </html>`.text;
}

function chapterList(places: Places, { title, pages }: MenuChapter, current: SitePage): Html {
  return html`<p>${title}</p>
    <ul>
      ${pages.map((page) => entry(places, page, current))}
    </ul>`;
}

function entry(places: Places, page: SitePage, current: SitePage): Html {
  const isCurrent = page.path === current.path;
  const isOpen = isCurrent || page.path === current.under;
  const mark = isCurrent ? html` aria-current="page"` : NOTHING;
  const sections = isOpen
    ? current.sections.filter(({ level, anchor }) => level === 2 && anchor !== '')
    : [];
  const own = sections.map(
    ({ anchor, title }) =>
      html`<li><a href="${isCurrent ? '' : places.page(current.path)}#${anchor}">${title}</a></li>`,
  );
  return html`<li>
    <a href="${places.page(page.path)}" ${mark}>${page.title}</a>
    ${
      own.length === 0
        ? NOTHING
        : html`<ul>
            ${own}
          </ul>`
    }
  </li>`;
}

function neighbours(places: Places, menu: readonly MenuChapter[], page: SitePage): Html {
  const all = menu.flatMap(({ pages }) => pages);
  const at = all.findIndex(({ path }) => path === page.path);
  if (at < 0) return NOTHING;
  const link = (to: SitePage | undefined, rel: string, word: string): Html =>
    to === undefined
      ? NOTHING
      : html`<a rel="${rel}" href="${places.page(to.path)}"><small>${word}</small> ${to.title}</a>`;
  return html`<nav class="neighbours" aria-label="Neighbours">
    ${link(all[at - 1], 'prev', 'Before')} ${link(all[at + 1], 'next', 'Next')}
  </nav>`;
}
