import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readMutants } from '../campaigns/mutants.js';
import { ROOT } from '../helpers/service-process.js';

/** A change of the code that a patch names must change the patch too, or the campaign ends at it. */
describe('a planted bug', () => {
  it('applies to the code, and names tests that exist', async () => {
    for (const { name, patch, tests } of await readMutants()) {
      execFileSync('git', ['apply', '--check', patch], { cwd: ROOT });
      for (const test of tests) assert(existsSync(join(ROOT, test)), `${name}: ${test}`);
    }
  });
});
