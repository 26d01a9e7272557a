import { createRequire } from 'node:module';
import { type Content, element, html, type Html, trustedHtml } from '../../../src/support/html.js';

/** Allows line breaks after punctuation, never within a word or before a host. */
export function breakable(text: string): Html {
  const [first, ...others] = text.split(/(?<=[_.?]|(?<!\/)\/)(?=\w|{)/);
  return html`${first}${others.map((part) => html`<wbr />${part}`)}`;
}

/** Shows the text between backquotes as code. */
export function prose(text: string): Html {
  const parts = text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part : html`<code>${breakable(part)}</code>`));
  return html`${parts}`;
}

/** Puts `between` between the parts. */
export function joined(parts: readonly Content[], between: string): Content {
  return parts.map((part, index) => (index === 0 ? part : [between, part]));
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
