import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeApi } from '../../scripts/docs/described-api.js';
import { renderSite } from '../../scripts/docs/site/site.js';
import { filesUnder } from '../operating/pages.js';
import { linksOf } from './links.js';

const EXPORT = fileURLToPath(new URL('../../scripts/docs-site.js', import.meta.url));

describe('npm run docs:site', () => {
  it('writes the site as files whose links work in any folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'site-'));
    try {
      const env = {
        PATH: process.env.PATH,
        BASE_URL: 'https://api.example',
        DOCS_URL: 'https://docs.example/money',
      };
      await promisify(execFile)(process.execPath, [EXPORT, folder], { env });
      const files = filesUnder(folder).filter((file) => file.endsWith('.html'));
      const urls = {
        page: (path: string) => path,
        markdown: (path: string) => path,
        asset: (name: string) => name,
        openApi: '/openapi.json',
      };
      const { pages } = renderSite({ ...(await describeApi({})), urls });
      assert.equal(files.length, pages.size + 1, 'each page, and one for what has none');
      for (const file of files) {
        const text = readFileSync(file, 'utf8');
        assert.doesNotMatch(text, /127\.0\.0\.1:8080/, file);
        for (const link of linksOf(text)) {
          const [place = ''] = link.split('#');
          if (place === '') continue;
          assert.match(place, /^\/money\//, `${file}: ${link}`);
          const target = join(
            folder,
            place.slice('/money'.length),
            place.endsWith('/') ? 'index.html' : '',
          );
          assert.ok(existsSync(target), `${file}: there is no ${link}`);
        }
      }
      assert.match(
        readFileSync(join(folder, 'first-transfer/index.html'), 'utf8'),
        /SVC_URL=https:\/\/api\.example\/v1/,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('explains an invalid URL', async () => {
    const env = { PATH: process.env.PATH, DOCS_URL: 'nowhere' };
    await assert.rejects(promisify(execFile)(process.execPath, [EXPORT, 'never-made'], { env }), {
      code: 2,
      stderr: /DOCS_URL/,
    });
    assert.ok(!existsSync('never-made'));
  });
});
