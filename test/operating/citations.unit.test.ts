import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesUnder, headingsOf, PAGES } from './pages.js';

const FOLDERS = [
  'src',
  'development',
  'workflows',
  'activities',
  'migrations',
  'test',
  'scripts',
  'bench',
  'deploy/docker',
  '.ci',
];
const ALONE = [
  'docker-compose.yml',
  'Dockerfile',
  'eslint.config.mjs',
  '.dependency-cruiser.cjs',
  '.mocharc.cjs',
];
/** Files that a run makes, and the repository does not hold. */
const MADE_BY_RUNNING = ['latest.md', 'bench/results/latest.md', '.run/prove-runs.md'];

const sources = [
  ...FOLDERS.flatMap(filesUnder).filter((file) => /\.(ts|mjs|cjs|sh)$|\.ci\/run$/.test(file)),
  ...ALONE,
];

/** A citation may run over the end of a line of its comment. */
function unwrapped(file: string): string {
  return readFileSync(file, 'utf8').replaceAll(/\n\s*(?:\*|\/\/|#) +/g, ' ');
}

describe('a documentation page cited in code', () => {
  it('exists', () => {
    const missing = [...sources, ...PAGES].flatMap((file) =>
      Array.from(unwrapped(file).matchAll(/(?<![\w/.-])[\w./-]+\.md\b/g), ([page]) => page)
        .filter((page) => !MADE_BY_RUNNING.includes(page))
        .filter(
          (page) =>
            !existsSync(page) && !(PAGES.includes(file) && existsSync(join(dirname(file), page))),
        )
        .map((page) => `${file}: ${page}`),
    );
    assert.deepEqual(missing, []);
  });

  it('has the cited heading', () => {
    let seen = 0;
    const wrong = sources.flatMap((file) =>
      Array.from(
        unwrapped(file).matchAll(/\((docs\/[\w./-]+\.md, [^()]+)\)/g),
        ([, cited = '']) => cited,
      )
        .flatMap((cited) => cited.split('; '))
        .filter((cited) => {
          const [page = '', heading] = cited.split(/, (.*)/s);
          seen += 1;
          return heading !== undefined && !(existsSync(page) && headingsOf(page).includes(heading));
        })
        .map((cited) => `${file}: ${cited}`),
    );
    assert.deepEqual(wrong, []);
    assert.ok(seen > 80, `only ${seen} citations were found`);
  });
});
