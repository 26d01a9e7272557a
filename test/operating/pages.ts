import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The pages that people read, by their paths from the root, and what tests ask of them. */

const ALONE = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'test/histories/README.md'],
  ...['packages/client/README.md', 'examples/README.md'],
];

export const PAGES: readonly string[] = [
  ...ALONE,
  ...filesUnder('docs').filter((file) => file.endsWith('.md')),
];

/** Every file under a folder of the repository, sorted. */
export function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** The headings of a page, as they are written. Comments in shell blocks do not count. */
export function headingsOf(page: string): string[] {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  return Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = '']) => heading.trim());
}

/** The anchor that GitHub gives a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** The shell blocks of a page, in order; with a heading those under it alone. */
export function shellBlocks(page: string, heading?: string): string[] {
  const text = readFileSync(page, 'utf8');
  const part =
    heading === undefined ? text : (text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '');
  return Array.from(part.matchAll(/^```sh(?: \w+)?\n([\s\S]*?)^```$/gm), ([, block = '']) => block);
}

/** The rows of the tables of a page, each cell without its marks of code. */
export function tableRows(page: string): string[][] {
  return readFileSync(page, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}
