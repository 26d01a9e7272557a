import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { configurationPage } from '../../scripts/docs/configuration.js';

describe('docs/configuration.md', () => {
  it('equals the output of npm run docs:configuration', async () => {
    assert.equal(readFileSync('docs/configuration.md', 'utf8'), await configurationPage());
  });
});
