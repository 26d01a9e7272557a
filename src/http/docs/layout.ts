/** HTML that is already safe. Made by `html`, and of the guides. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | Html[];

/** HTML from a template: what is put in is escaped, unless it is Html itself. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, index) => `${text}${shown(parts[index - 1])}${string}`));
}

function shown(part: Part | undefined): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(({ text }) => text).join('');
  return String(part ?? '').replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Text with its `code` marked as such. */
export function prose(text: string): Html {
  const parts = text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
  return html`${parts}`;
}

/** Where the pages are, as paths on this service. `base` is the path of DOCS_URL, without a slash at its end. */
export interface Site {
  readonly base: string;
  readonly guides: readonly Guide[];
}

/** A page that is written by hand. */
export interface Guide {
  /** Under the docs' own path: `/batches`. */
  readonly path: string;
  readonly title: string;
  readonly content: Html;
}

export function page({ base, guides }: Site, title: string, content: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Money Movement Service</title>
        <link rel="stylesheet" href="${base}/assets/style.css" />
      </head>
      <body>
        <nav>
          <a href="${base || '/'}">Docs</a>
          <a href="${base}/reference">Reference</a>
          <a href="${base}/conceptos/errores">Errors</a>
          <a href="${base}/permissions">Permissions</a>
          ${guides.map(({ path, title }) => html`<a href="${base}${path}">${title}</a> `)}
        </nav>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`.text;
}

export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2330; --paper: #ffffff; --line: #d9dee7; --soft: #f4f6f9; --accent: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ef; --paper: #14181f; --line: #333b48; --soft: #1d232d; --accent: #7db8f5; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.6 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; padding: 0.75rem 1rem; border-bottom: 1px solid var(--line); }
main { max-width: 52rem; margin: 0 auto; padding: 0 1rem 4rem; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 2rem 0 1rem; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 0.5rem; }
code, pre { font: 0.9em/1.5 ui-monospace, Menlo, Consolas, monospace; background: var(--soft); border-radius: 4px; }
code { padding: 0.1em 0.3em; overflow-wrap: anywhere; }
pre { padding: 0.75rem 1rem; overflow-x: auto; }
pre code { padding: 0; overflow-wrap: normal; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.95rem; }
th, td { text-align: left; vertical-align: top; padding: 0.45rem 0.75rem 0.45rem 0; border-bottom: 1px solid var(--line); }
article { border-top: 1px solid var(--line); padding-top: 0.25rem; margin-top: 1.25rem; }
article:target { border-left: 4px solid var(--accent); padding-left: 0.75rem; }
.status { color: #8a93a3; font-weight: normal; font-size: 0.9rem; }
`;
