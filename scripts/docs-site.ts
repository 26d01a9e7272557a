import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError } from '../src/config/config.js';
import { assembleSite } from '../src/http/docs/site.js';
import type { SiteUrls } from '../src/http/docs/layout.js';
import { describeApi } from './docs/openapi.js';

/**
 * `npm run docs:site -- FOLDER`: the docs as files for any web server that serves
 * `FOLDER/x/index.html` for `x/`. They link to the API by BASE_URL, and to each other by the path
 * of DOCS_URL, their future address.
 */
try {
  const folder = process.argv[2] ?? 'dist/site';
  const { docsUrl, ...api } = await describeApi(process.env);
  const base = new URL(docsUrl).pathname.replace(/\/+$/, '');
  const urls: SiteUrls = {
    page: (path) => `${base}${path}/`,
    asset: (name) => `${base}/assets/${name}`,
    openApi: `${base}/openapi.json`,
  };
  const { pages, assets, missing } = assembleSite({ ...api, urls });
  const files = [
    ...Array.from(pages, ([path, { content }]) => [join(path, 'index.html'), content] as const),
    ...Array.from(assets, ([name, { content }]) => [join('assets', name), content] as const),
    ['404.html', missing.content] as const,
    ['openapi.json', Buffer.from(JSON.stringify(api.openApi))] as const,
  ];
  for (const [name, content] of files) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  process.stdout.write(`${files.length} files in ${folder}, to be served at ${docsUrl}\n`);
} catch (failure) {
  if (!(failure instanceof ConfigError)) throw failure;
  process.stderr.write(`${failure.message}\n`);
  process.exit(2);
}
