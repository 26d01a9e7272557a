import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesUnder } from './pages.js';

const FOLDERS = ['src', 'workflows', 'activities'];

/** The folders of the page's diagram, with the number of their layer: 0 is the top. */
function layers(): ReadonlyMap<string, number> {
  const page = readFileSync('docs/architecture.md', 'utf8').split('\n## Layers\n')[1] ?? '';
  const diagram = page.split('```')[1] ?? '';
  return new Map(
    diagram
      .trim()
      .split(/^─+$/m)
      .flatMap((layer, number) =>
        layer
          .trim()
          .split('\n')
          .map((line): [string, number] => [line.split(' ')[0] ?? '', number]),
      ),
  );
}

/** `src/ledger/writer/x.ts` is in `ledger`, `workflows/x.ts` in `workflows`. */
function folderOf(file: string): string {
  const [top = '', folder = ''] = file.split('/');
  return top === 'src' ? folder : top;
}

describe('docs/architecture.md', () => {
  const shown = layers();
  const files = FOLDERS.flatMap(filesUnder).filter((file) => file.endsWith('.ts'));

  it('docs/architecture.md shows every folder of the code in one layer', () => {
    assert.deepEqual([...shown.keys()].sort(), [...new Set(files.map(folderOf))].sort());
  });

  it('docs/architecture.md shows a folder above all folders that it imports', () => {
    const layerOf = (file: string): number => shown.get(folderOf(file)) ?? -1;
    const upwards = files.flatMap((file) =>
      Array.from(
        readFileSync(file, 'utf8').matchAll(/(?:from|import) '(\.[^']+)\.js'/g),
        ([, path = '']) => `${join(file, '..', path)}.ts`,
      )
        .filter((imported) => folderOf(imported) !== folderOf(file) && !isOutside(imported))
        .filter((imported) => layerOf(imported) <= layerOf(file))
        .map((imported) => `${file} imports ${imported}`),
    );
    assert.deepEqual(upwards, []);
  });
});

/** `src/db` lists the migrations, which are not part of the diagram. */
function isOutside(file: string): boolean {
  return !FOLDERS.includes(file.split('/')[0] ?? '');
}
