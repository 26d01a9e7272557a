import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../helpers/service-process.js';

interface Rule {
  readonly name: string;
}
const { forbidden } = createRequire(import.meta.url)(join(ROOT, '.dependency-cruiser.cjs')) as {
  readonly forbidden: readonly Rule[];
};

describe('docs/architecture.md', () => {
  it('shows every folder of the code in one layer, which the import rules enforce', () => {
    const ruled = forbidden.flatMap(
      ({ name }) => /^(\w+)-imports-lower-layers$/.exec(name)?.[1] ?? [],
    );
    const folders = readdirSync('src', { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );
    assert.deepEqual(ruled.sort(), [...folders, 'activities', 'workflows'].sort());
  });
});
