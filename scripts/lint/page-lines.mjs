/** Reports lines of Markdown that an editor would wrap. Rows of tables cannot be shorter. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../lib/paths.mjs';

const MAX = 150;
const pages = execFileSync('git', ['ls-files', '-z', '*.md'], { cwd: ROOT, encoding: 'utf8' });
for (const page of pages.split('\0').slice(0, -1))
  readFileSync(join(ROOT, page), 'utf8')
    .split('\n')
    .forEach((line, index) => {
      if (line.length <= MAX || line.trimStart().startsWith('|')) return;
      process.stdout.write(`${page}:${index + 1} has ${line.length} characters, at most ${MAX}\n`);
      process.exitCode = 1;
    });
