import { escapeInvisible, RIGHT_TO_LEFT } from '../core/text.js';

/** Values that files have in place of a content, by the headings of their columns; '' is its own. */
export type Values = Readonly<Record<string, string | null>>;

class Markup {
  constructor(
    readonly text: string,
    readonly values: Values | null = null,
  ) {}
}
export type Html = Markup;

type One = Html | string | number | bigint | null | undefined | false;
export type Content = One | readonly Content[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

type Context = 'text' | 'tag' | 'attribute';

/** Context after each literal. Values are not parsed, so they cannot change a context. */
const known = new WeakMap<TemplateStringsArray, readonly Context[]>();

/**
 * Builds HTML. Concatenates lists, and omits null, undefined and false. Isolates texts of scripts
 * that are written from right to left, so that they do not reorder what is around them. Throws
 * `TypeError` for a value in a tag outside double quotes, for Markup in an attribute, and for a
 * template that ends in a tag.
 */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Html {
  const contexts = known.get(strings) ?? contextsOf(strings);
  const parts = contents.map(
    (content, index) => render(content, contexts[index]) + (strings[index + 1] ?? ''),
  );
  return new Markup((strings[0] ?? '') + parts.join(''));
}

export function withValues({ text }: Html, values: Values = {}): Html {
  return new Markup(text, values);
}

/** Returns a paragraph, which files have without its markup. */
export function paragraph({ text, values }: Html): Html {
  return new Markup(`<p>${text}</p>`, values);
}

/** Marks text as HTML that needs no escaping. Only for the docs pages: a lint rule refuses it in `src`. */
export function trustedHtml(text: string): Html {
  return new Markup(text);
}

/** Elements whose content cannot contain other elements. */
const ONLY_TEXT = ['title', 'textarea', 'option'];

export type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

/**
 * Builds an element whose attributes may be absent: null, undefined and false omit one, and true
 * shows its name alone.
 */
export function element(name: string, attributes: Attributes, content: Content = null): Html {
  const given = Object.entries(attributes).map(([attribute, value]) => {
    if (!/^[a-z-]+$/.test(name + attribute)) throw new TypeError('a name is not a word');
    if (value === null || value === undefined || value === false) return '';
    return value === true ? ` ${attribute}` : ` ${attribute}="${render(value, 'attribute')}"`;
  });
  const context = ONLY_TEXT.includes(name) ? 'attribute' : 'text';
  // All other elements show line breaks as spaces.
  const shown =
    (name === 'textarea' || name === 'pre') && typeof content === 'string'
      ? content.split('\n').map((line) => render(line, context))
      : [render(content, context)];
  const inside = name === 'input' || name === 'link' ? '' : `${shown.join('\n')}</${name}>`;
  return new Markup(`<${name}${given.join('')}>${inside}`);
}

function contextsOf(strings: TemplateStringsArray): readonly Context[] {
  // `strings` lack the values, so a script is only allowed if its `src` is a value.
  if (/<(?:script(?!(?: defer)? src="")|style|!--)/i.test(strings.join('')))
    throw new TypeError('a template contains an inline script, a style or a comment');
  let context: Context = 'text';
  const contexts = strings.map((literal) => {
    for (const sign of literal) context = contextAfter(context, sign);
    return context;
  });
  if (contexts.pop() !== 'text') throw new TypeError('a template ends inside a tag');
  if (contexts.includes('tag')) throw new TypeError('a value in a tag is outside double quotes');
  known.set(strings, contexts);
  return contexts;
}

function contextAfter(context: Context, sign: string): Context {
  if (context === 'attribute') return sign === '"' ? 'tag' : context;
  if (context === 'text') return sign === '<' ? 'tag' : context;
  if (sign === "'") throw new TypeError('an attribute has single quotes');
  return sign === '"' ? 'attribute' : sign === '>' ? 'text' : context;
}

function render(content: Content, context: Context | undefined): string {
  if (content === null || content === undefined || content === false) return '';
  if (content instanceof Markup) {
    if (context === 'attribute') throw new TypeError('an attribute contains markup');
    return content.text;
  }
  if (typeof content === 'object') return content.map((one) => render(one, context)).join('');
  const text = String(content);
  const escaped = escapeInvisible(text).replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
  return context === 'text' && RIGHT_TO_LEFT.test(text) ? `<bdi>${escaped}</bdi>` : escaped;
}

/** Returns the text of a content, with times in RFC 3339, for files. */
export function plainText(content: Content): string {
  return render(content, 'text')
    .replace(/<time datetime="([^"]*)">[^<]*<\/time>/g, '$1')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => SIGNS.get(entity) ?? '')
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Returns what a file has in place of a content: its text, or the lines of its values. Text beside
 * values has a column of its own.
 */
export function valuesOf(content: Content): readonly Values[] {
  const parts = partsOf(content);
  const known = parts.flatMap((part): readonly Values[] =>
    part instanceof Markup && part.values !== null ? [part.values] : [],
  );
  const others = parts.filter((part) => !(part instanceof Markup) || part.values === null);
  const text = others.flatMap((part) => plainText(part) || []).join('; ') || null;
  if (known.length === 0) return [{ '': text }];
  return known.length === parts.length
    ? known
    : known.map((values) => ({ ...values, Details: text }));
}

function partsOf(content: Content): readonly One[] {
  if (typeof content !== 'object' || content === null || content instanceof Markup)
    return [content];
  return content.flatMap(partsOf);
}

const SIGNS = new Map(Object.entries(ENTITIES).map(([sign, entity]) => [entity, sign]));
