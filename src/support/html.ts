import { withEscapes } from '../core/text.js';

/**
 * HTML that is safe by construction: whatever is put into a template is escaped, unless it is such HTML itself. What cannot be
 * seen, or would move what is seen, is shown as an escape, since most texts here were written by others.
 */

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

/** Null, undefined and false are nothing; the items of a list follow one another. Attributes stand in quotes, or it throws. */
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
