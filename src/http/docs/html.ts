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
