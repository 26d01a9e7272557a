import { readdirSync, readFileSync } from 'node:fs';
import markdownIt from 'markdown-it';
import { type Guide, Html } from './layout.js';

const FOLDER = new URL('../../../../docs/guides/', import.meta.url);
/** Where the commands of the guides reach the API: that of `npm start`. */
const WRITTEN_URL = 'http://127.0.0.1:8080';

/** Leaves HTML in the text as text. */
const markdown = markdownIt();
markdown.renderer.rules.table_open = () => '<div class="scroll"><table>';
markdown.renderer.rules.table_close = () => '</table></div>';

/** The pages of docs/guides, by their names. Throws where the folder or the title of a page is missing. */
export function readGuides(baseUrl: string): Guide[] {
  const files = readdirSync(FOLDER).sort();
  return files.map((file) => {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    const [, title, rest] = /^# (.+)\n([^]+)$/.exec(text) ?? [];
    if (title === undefined || rest === undefined) throw new Error(`${file} does not begin with a title`);
    const content = markdown.render(rest.replaceAll(WRITTEN_URL, () => baseUrl));
    return { path: `/${file.replace(/\.md$/, '')}`, title, content: new Html(content) };
  });
}
