import { html, page, prose, type Site } from './layout.js';

/** A page about a part of the service that its feature writes, as plain data. Text may have `code` in it. */
export interface Guide {
  /** Its address below the docs: `payouts`. */
  readonly slug: string;
  readonly title: string;
  /** What the home page says of it. */
  readonly about: string;
  readonly sections: readonly GuideSection[];
}

export interface GuideSection {
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly table?: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };
}

export function guidePage(site: Site, { title, sections }: Guide): string {
  const content = sections.map(
    (section) => html`
      <h2>${section.title}</h2>
      ${section.paragraphs.map((text) => html`<p>${prose(text)}</p>`)}
      ${section.table === undefined ? '' : tableOf(section.table)}
    `,
  );
  return page(site, title, html`${content}`);
}

function tableOf({ head, rows }: NonNullable<GuideSection['table']>): ReturnType<typeof html> {
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${head.map((text) => html`<th>${text}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((text) => html`<td>${prose(text)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
