import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PLACEHOLDERS } from '../../../src/http/docs.js';
import { type DescribedApi, describeApi } from '../described-api.js';
import type { SiteUrls } from './layout.js';
import { renderSite } from './site.js';

/**
 * Writes the site of an API into the folder, with `openapi.json`, and returns the number of files.
 * `fileOf` returns the file of a page by its path.
 */
export function writeSite(
  folder: string,
  api: DescribedApi,
  urls: SiteUrls,
  fileOf: (path: string) => string,
): number {
  const { pages, texts, assets, missing } = renderSite({ ...api, urls });
  const files = [
    ...Array.from(pages, ([path, text]) => [fileOf(path), text] as const),
    ...texts,
    ...Array.from(assets, ([name, content]) => [join('assets', name), content] as const),
    ['404.html', missing] as const,
    ['openapi.json', JSON.stringify(api.openApi)] as const,
  ];
  for (const [name, content] of files) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return files.length;
}

/** Writes the files that API processes serve, with placeholders for the addresses of the installation. */
export async function buildSite(folder: string): Promise<void> {
  const { baseUrl, docsUrl, docsPath } = PLACEHOLDERS;
  const urls: SiteUrls = {
    page: (path) => docsPath + path,
    markdown: (path) => `${docsUrl}${path || '/index'}.md`,
    asset: (name) => `${docsPath}/assets/${name}`,
    openApi: '/openapi.json',
  };
  const api = await describeApi({ BASE_URL: baseUrl, DOCS_URL: docsUrl });
  writeSite(folder, api, urls, (path) => `${path || 'index'}.html`);
}
