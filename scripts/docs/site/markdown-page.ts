import { readFileSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import markdownIt, { type Token } from 'markdown-it';
import type { Scope } from '../../../src/core/permissions.js';
import { type Html, trustedHtml } from '../../../src/support/html.js';
import { breakable, codeBlock, tabs } from './html.js';
import { CONTENTS, type Listed } from './contents.js';
import type { SiteUrls, Section, SitePage } from './layout.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** URL of the service in the Markdown files, as `npm start` serves it. Pages show the real URL. */
export const MARKDOWN_BASE_URL = 'http://127.0.0.1:8080';
export const MARKDOWN_DOCS_URL = `${MARKDOWN_BASE_URL}/docs`;
const MARKDOWN_ASSETS_URL = `${MARKDOWN_DOCS_URL}/assets/`;

/** Reads a file of the checkout. */
export function readPart(file: string): Buffer {
  return readFileSync(resolve(ROOT, file));
}

const PROGRAMS: ReadonlySet<string> = new Set(['ts', 'python', 'go', 'php', 'java']);
const LANGUAGES: Readonly<Record<string, string>> = {
  sh: 'bash',
  ts: 'typescript',
  python: 'python',
  go: 'go',
  php: 'php',
  java: 'java',
  csv: 'csv',
  json: 'json',
  sql: 'sql',
};
/** Marks a box, as on GitHub. */
const NOTE = /^\[!(\w+)\]\n/;
/** Returns what stands above the first section or command of a guide whose commands need what another page defines. */
function setupOf(scopes: readonly Scope[]): string {
  const named = scopes
    .map((scope) => `\`${scope}\``)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' and ');
  return `> [!NOTE]
> The commands need \`SVC_URL\` (here \`${MARKDOWN_BASE_URL}/v1\`), \`SVC_TOKEN\` and \`svc\`: set them as in
> [a first transfer](${MARKDOWN_DOCS_URL}/first-transfer#your-token), which lists the tools. Programs read the two variables; those in TypeScript
> use [the client](${MARKDOWN_DOCS_URL}/clients#the-typed-client). The token needs the ${scopes.length === 1 ? 'scope' : 'scopes'} ${named}.

`;
}

/** HTML in the text is shown as text. */
const markdown = markdownIt();
const { rules } = markdown.renderer;
rules.table_open = () => '<div class="scroll" tabindex="0"><table>';
rules.table_close = () => '</table></div>';
rules.heading_open = (tokens, index) => {
  const id = tokens[index]?.attrGet('id') ?? '';
  return `<${tokens[index]?.tag} id="${id}"><a href="#${id}">`;
};
rules.heading_close = (tokens, index) => `</a></${tokens[index]?.tag}>\n`;
rules.code_inline = (tokens, index) =>
  `<code>${breakable(tokens[index]?.content ?? '').text}</code>`;
rules.fence = (tokens, index, _options, env) => {
  const { info, content: command } = tokens[index] ?? { info: '', content: '' };
  const [language = '', operationId, program] = info.split(' ');
  const block = codeBlock(command, LANGUAGES[language] ?? '');
  const samples = env?.samples as CallSamples | undefined;
  if (operationId === undefined || samples === undefined) return block.text;
  return samples.inAllLanguages({ operationId, program, command }, block).text;
};

/** A shell command of a guide, with the operation and the program that its mark names. */
export interface GuideBlock {
  readonly operationId: string;
  /** A program of docs/site/programs, which replaces the request of the command in other languages. */
  readonly program: string | undefined;
  readonly command: string;
}

export interface CallSamples {
  /** Shows the command beside its request in other languages, or beside its program. */
  readonly inAllLanguages: (block: GuideBlock, shown: Html) => Html;
  /** Returns the other languages of the command as blocks of Markdown. */
  readonly inMarkdown: (block: GuideBlock) => string;
  /** Returns the scopes that the guide's commands and programs need. */
  readonly scopesOf: (guide: string) => readonly Scope[];
}

export function renderMarkdown(text: string): Html {
  return trustedHtml(markdown.render(text));
}

/**
 * Returns the page of a file, or of `text`. Throws if the file is missing, or if the text has no
 * title or a heading twice, or links outside the site.
 */
export function markdownPage(
  { path, description, file }: Listed,
  urls: SiteUrls,
  baseUrl: string,
  samples: CallSamples,
  text = readPart(file).toString('utf8'),
): SitePage {
  const needsSetup = /^```sh/m.test(text) && !text.includes('export SVC_URL');
  const tokens = markdown.parse(text, {});
  const [opening, inline] = tokens;
  if (opening?.tag !== 'h1' || inline === undefined)
    throw new Error(`${file} does not begin with a title`);
  const rest = tokens.slice(3);
  const setup = needsSetup ? setupOf(samples.scopesOf(text)) : '';
  const note = markdown.parse(setup, {});
  const context = { file, urls, baseUrl };
  for (const some of [rest, note]) {
    frameNotes(some);
    some.forEach((token) => rewriteLinks(token, context));
  }
  labelCells(rest);
  // Without the note, by whose words the search would find every page.
  const sections = sectionsOf(rest, file);
  const first = rest.findIndex(({ type }) => type === 'heading_open' || type === 'fence');
  rest.splice(first, 0, ...note);
  const content = (): Html => trustedHtml(renderTokens(rest, samples));
  const whole = text.replace(/^(?=## |```)/m, () => setup);
  const source = withLinks(whole, { ...context, urls: { ...urls, page: urls.markdown } }, samples);
  return { path, title: inline.content, description, content, markdown: source, sections };
}

interface LinkContext {
  readonly file: string;
  readonly urls: SiteUrls;
  readonly baseUrl: string;
}

/** Returns the Markdown with the links and the samples of the page. */
function withLinks(text: string, context: LinkContext, samples: CallSamples): string {
  const parts = text.split(/(^ *```[\s\S]*?^ *```$)/m);
  return parts
    .map((part, index) =>
      index % 2 === 1
        ? withSamples(part, samples)
        : part.replace(/\]\(([^)\s]+)\)/g, (_, href: string) => `](${linkTarget(href, context)})`),
    )
    .join('')
    .replaceAll(MARKDOWN_BASE_URL, () => context.baseUrl);
}

/** Writes the samples that a mark adds below the block, in place of the mark. */
function withSamples(block: string, samples: CallSamples): string {
  const [, opening = '', operationId, program] = /^( *```\w+) (\w+)(?: (\S+))?/.exec(block) ?? [];
  if (operationId === undefined) return block;
  const command = block.slice(block.indexOf('\n'));
  return `${opening}${command}\n\n${samples.inMarkdown({ operationId, program, command })}`.trimEnd();
}

/** Makes links point to this service and this site. */
function rewriteLinks(token: Token, context: LinkContext): void {
  const href = token.attrGet('href');
  if (href !== null) token.attrSet('href', linkTarget(String(href), context));
  token.content = token.content.replaceAll(MARKDOWN_BASE_URL, () => context.baseUrl);
  token.children?.forEach((child) => rewriteLinks(child, context));
}

function linkTarget(href: string, { file, urls, baseUrl }: LinkContext): string {
  if (href.startsWith('#')) return href;
  const [place = '', anchor] = href.split('#');
  const suffix = anchor === undefined ? '' : `#${anchor}`;
  if (place.startsWith(MARKDOWN_ASSETS_URL))
    return urls.asset(place.slice(MARKDOWN_ASSETS_URL.length));
  if (place === MARKDOWN_DOCS_URL || place.startsWith(`${MARKDOWN_DOCS_URL}/`))
    return urls.page(place.slice(MARKDOWN_DOCS_URL.length)) + suffix;
  if (place === `${MARKDOWN_BASE_URL}/openapi.json`) return urls.openApi;
  if (/^[a-z]+:/.test(place)) return href.replace(MARKDOWN_BASE_URL, () => baseUrl);
  const named = posix.join(posix.dirname(file), place);
  const listed = CONTENTS.flatMap(({ pages }) => pages).find(({ file: own }) => own === named);
  if (listed === undefined) throw new Error(`${file} links to ${named}, which is not on the site`);
  return urls.page(listed.path) + suffix;
}

/** Turns quotations such as `[!WARNING]` into boxes with that heading. */
function frameNotes(tokens: readonly Token[]): void {
  tokens.forEach((token, index) => {
    const text = tokens[index + 2];
    const [mark, name = ''] = NOTE.exec(text?.content ?? '') ?? [];
    if (token.type !== 'blockquote_open' || text === undefined || mark === undefined) return;
    token.attrSet('class', `note ${name.toLowerCase()}`);
    text.content = `**${name.charAt(0)}${name.slice(1).toLowerCase()}.** ${text.content.slice(mark.length)}`;
    text.children = markdown.parseInline(text.content, {})[0]?.children ?? null;
  });
}

/** Renders programs in several languages as tabs. */
function renderTokens(tokens: readonly Token[], samples: CallSamples): string {
  const render = (some: readonly Token[]): string =>
    markdown.renderer.render([...some], markdown.options, { samples });
  const starts = tokens.flatMap(({ type, tag }, at) =>
    type === 'heading_open' && (tag === 'h2' || tag === 'h3') ? [at] : [],
  );
  const parts = [0, ...starts].map((start, at) => tokens.slice(start, starts[at] ?? tokens.length));
  const isProgram = ([first, ...others]: readonly Token[]): boolean =>
    first?.tag === 'h3' && others.some(({ info }) => PROGRAMS.has(info));
  return parts
    .map((part, at) => {
      if (!isProgram(part)) return render(part);
      if (isProgram(parts[at - 1] ?? [])) return '';
      const end = parts.findIndex((one, later) => later > at && !isProgram(one));
      const alternatives = parts.slice(at, end < 0 ? undefined : end).map((one) => ({
        id: String(one[0]?.attrGet('id')),
        label: plainText(one[1]),
        content: trustedHtml(render(one.slice(3))),
      }));
      return tabs('language', 'Language', alternatives).text;
    })
    .join('');
}

/** Labels each cell with its column, for phones. */
function labelCells(tokens: readonly Token[]): void {
  let [heads, column]: [string[], number] = [[], 0];
  tokens.forEach((token, index) => {
    const text = plainText(tokens[index + 1]);
    if (token.type === 'table_open') heads = [];
    else if (token.type === 'th_open') heads.push(text);
    else if (token.type === 'tr_open') column = 0;
    else if (token.type === 'td_open') token.attrSet('data-label', heads[column++] ?? '');
  });
}

/** Gives the headings anchors, and returns their sections. */
function sectionsOf(tokens: readonly Token[], file: string): Section[] {
  const sections = [{ anchor: '', title: '', level: 1, text: '' }];
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open') {
      const title = plainText(tokens[index + 1]);
      const anchor = anchorOf(title);
      if (sections.some((section) => section.anchor === anchor))
        throw new Error(`${file} has #${anchor} twice`);
      token.attrSet('id', anchor);
      sections.push({ anchor, title, level: token.tag === 'h2' ? 2 : 3, text: '' });
    } else if (
      ['inline', 'fence', 'code_block'].includes(token.type) &&
      tokens[index - 1]?.type !== 'heading_open'
    ) {
      const last = sections.at(-1);
      if (last !== undefined) last.text += `${plainText(token)} `;
    }
  });
  return sections;
}

function plainText(token: Token | undefined): string {
  if (token === undefined) return '';
  // A line break in the source is a space.
  if (token.type === 'softbreak') return ' ';
  return token.children === null ? token.content : token.children.map(plainText).join('');
}

/** Makes anchors as GitHub does. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
