import { withEscapes } from '../core/text.js';

/** HTML that is safe by construction: values are escaped unless they are such HTML, and invisible characters shown. */

class Markup {
  constructor(readonly text: string) {}
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

/** Null, undefined and false produce nothing; lists are concatenated. Throws for an attribute without quotes. */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Html {
  let text = strings[0] ?? '';
  contents.forEach((content, index) => {
    if (text.endsWith('=')) throw new TypeError('an attribute without quotes');
    text += rendered(content) + (strings[index + 1] ?? '');
  });
  return new Markup(text);
}

function rendered(content: Content): string {
  if (content === null || content === undefined || content === false) return '';
  if (content instanceof Markup) return content.text;
  if (typeof content === 'object') return content.map(rendered).join('');
  return withEscapes(String(content)).replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}
