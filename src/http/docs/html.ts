import { createRequire } from 'node:module';

export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | readonly Html[];

/** Escapes values that are not Html. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(
    strings.reduce((text, string, index) => `${text}${renderPart(parts[index - 1])}${string}`),
  );
}

export const NOTHING = new Html('');

function renderPart(part: Part | undefined): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  return String(part ?? '').replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Allows line breaks after punctuation, never within a word. */
export function breakable(text: string): Html {
  return new Html(renderPart(text).replace(/[/_.?](?=\w|{)/g, '$&<wbr />'));
}

export function prose(text: string): Html {
  const parts = text
    .split('`')
    .map((part, index) =>
      index % 2 === 0 ? html`${part}` : html`<code>${breakable(part)}</code>`,
    );
  return html`${parts}`;
}

export function joinHtml(parts: readonly Html[], between: string): Html {
  return new Html(parts.map(({ text }) => text).join(between));
}

/** Headings of code blocks by language. Blocks in any other language have none. */
const LABELS: Readonly<Record<string, string>> = {
  bash: 'Shell',
  csv: 'CSV',
  go: 'Go',
  java: 'Java',
  json: 'JSON',
  php: 'PHP',
  python: 'Python',
  sql: 'SQL',
  typescript: 'TypeScript',
};

/** The part of highlight.js that is used. Its own types would declare a browser's globals. */
interface Highlighter {
  readonly registerLanguage: (name: string, language: unknown) => void;
  readonly highlight: (text: string, options: { language: string }) => { value: string };
}
const load = createRequire(import.meta.url);
let loaded: Highlighter | undefined;

export function codeBlock(text: string, language: string): Html {
  const label = LABELS[language];
  const isPlain = label === undefined || language === 'csv';
  const content = isPlain
    ? html`${text}`
    : new Html((loaded ??= loadHighlighter()).highlight(text, { language }).value);
  const block = html`<pre tabindex="0"><code>${content}</code></pre>`;
  return label === undefined
    ? block
    : html`<div class="code">
        <p>${label}</p>
        ${block}
      </div>`;
}

/** Loaded late, so that it does not delay the start. */
function loadHighlighter(): Highlighter {
  const highlighter = load('highlight.js/lib/core') as Highlighter;
  for (const name of Object.keys(LABELS).filter((one) => one !== 'csv'))
    highlighter.registerLanguage(name, load(`highlight.js/lib/languages/${name}`));
  return highlighter;
}

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly content: Html;
}

/** Shows one of at most five alternatives, without JavaScript. */
export function tabs(name: string, legend: Html | string, all: readonly Tab[]): Html {
  const choices = all.map(
    ({ id, label }, index) =>
      html`<input
          type="radio"
          name="${name}"
          id="${id}"
          ${index === 0 ? new Html('checked') : ''}
        />
        <label for="${id}">${label}</label>`,
  );
  const panels = all.map(({ content }) => html`<div>${content}</div>`);
  return html`<fieldset class="tabs">
    <legend>${legend}</legend>
    ${choices} ${panels}
  </fieldset>`;
}
