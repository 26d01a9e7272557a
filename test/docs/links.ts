/** The addresses of a page within the site. */
export function linksOf(text: string): string[] {
  return Array.from(
    text.matchAll(/(?:href|src|data-search)="([^"]*)"/g),
    ([, link = '']) => link,
  ).filter((link) => !/^https?:/.test(link));
}
