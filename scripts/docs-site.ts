import { join } from 'node:path';
import { ConfigError } from '../src/config/config.js';
import { describeApi } from './docs/described-api.js';
import { writeSite } from './docs/site/write.js';

/**
 * `npm run docs:site -- FOLDER`: the docs as files for any web server that serves
 * `FOLDER/x/index.html` for `x/`. They link to the API by BASE_URL, and to each other by the path
 * of DOCS_URL, their future address.
 */
try {
  const folder = process.argv[2] ?? 'site';
  const api = await describeApi(process.env);
  const { origin, pathname } = new URL(api.docsUrl);
  const base = pathname.replace(/\/+$/, '');
  const urls = {
    page: (path: string) => `${base}${path}/`,
    markdown: (path: string) => `${origin}${base}${path || '/index'}.md`,
    asset: (name: string) => `${base}/assets/${name}`,
    openApi: `${base}/openapi.json`,
  };
  const count = writeSite(folder, api, urls, (path) => join(path, 'index.html'));
  process.stdout.write(`${count} files in ${folder}, to be served at ${api.docsUrl}\n`);
} catch (failure) {
  if (!(failure instanceof ConfigError)) throw failure;
  process.stderr.write(`${failure.message}\n`);
  process.exit(2);
}
