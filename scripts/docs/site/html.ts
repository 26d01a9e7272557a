import { createRequire } from 'node:module';
import { element, html, type Html, trustedHtml } from '../../../src/support/html.js';

/** Allows line breaks after punctuation, never within a word or before a host. */
export function breakable(text: string): Html {
  const [first, ...others] = text.split(/(?<=[_.?]|(?<!\/)\/)(?=\w|{)/);
  return html`${first}${others.map((part) => html`<wbr />${part}`)}`;
}

/** Shows the text between backquotes as code, and links the code of a link. */
export function prose(text: string): Html {
  const parts = text.split(/(\[`\w+`\]\([^)]*\)|`[^`]*`)/).map((part, index) => {
    if (index % 2 === 0) return part;
    const [, code = '', href] = /`(.*)`(?:\]\((.*)\))?/.exec(part) ?? [];
    const shown = html`<code>${breakable(code)}</code>`;
    return href === undefined ? shown : html`<a href="${href}">${shown}</a>`;
  });
  return html`${parts}`;
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
const highlighter = load('highlight.js/lib/core') as Highlighter;
for (const name of Object.keys(LABELS).filter((one) => one !== 'csv'))
  highlighter.registerLanguage(name, load(`highlight.js/lib/languages/${name}`));

export function codeBlock(text: string, language: string): Html {
  const label = LABELS[language];
  const isPlain = label === undefined || language === 'csv';
  const content = isPlain
    ? linesOf(text)
    : trustedHtml(highlighter.highlight(text, { language }).value);
  const block = html`<pre tabindex="0"><code>${content}</code></pre>`;
  return label === undefined
    ? block
    : html`<div class="code">
        <p>${label}</p>
        ${block}
      </div>`;
}

/** Escapes each line by itself, because a line break within a value is shown as an invisible character. */
function linesOf(text: string): Html {
  const lines = text.split(/\r?\n/).map((line) => html`${line}`.text);
  return trustedHtml(lines.join('\n'));
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
      html`${element('input', { type: 'radio', name, id, checked: index === 0 })}
        <label for="${id}">${label}</label>`,
  );
  const panels = all.map(({ content }) => html`<div>${content}</div>`);
  return html`<fieldset class="tabs">
    <legend>${legend}</legend>
    ${choices} ${panels}
  </fieldset>`;
}
