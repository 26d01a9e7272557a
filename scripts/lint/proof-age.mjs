/**
 * Lists the rows of docs/proof.md whose code has changed in more than 200 commits since the run. `--write` stores the
 * number of commits in every row.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../lib/paths.mjs';

const MAX = 200;
const PAGE = join(ROOT, 'docs/proof.md');

/** Returns the commits after `commit` that changed these files; `?` if this clone does not have the commit. */
function commitsSince(commit, files) {
  try {
    const args = ['rev-list', '--count', `${commit}..HEAD`, '--', ...files];
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return '?';
  }
}

/** Returns the line, with its last cell replaced if it is the row of a campaign. */
function counted(line) {
  const [, campaign, , code, ...cells] = line.split(' | ').map((cell) => cell.trim());
  const commit = /\((?<commit>[0-9a-f]{7,40})\b[^)]*\)$/.exec(cells.at(-2) ?? '')?.groups.commit;
  if (commit === undefined) return line;
  const since = commitsSince(commit, code.replaceAll('`', '').split(' '));
  if (Number(since) > MAX)
    process.stdout.write(`docs/proof.md: ${since} commits have changed the code of ${campaign}\n`);
  return line.replace(/[^|]*\|$/, ` ${since} |`);
}

const lines = readFileSync(PAGE, 'utf8').split('\n').map(counted);
if (process.argv.includes('--write')) writeFileSync(PAGE, lines.join('\n'));
