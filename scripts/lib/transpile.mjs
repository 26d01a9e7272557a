import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathIn, ROOT } from './paths.mjs';
import { UserError } from './progress.mjs';

/** The sources that are newer than their output in `dist`, as `{file, out}`. */
export function staleSources(sources, dist) {
  return sources
    .filter((file) => !file.endsWith('.d.ts'))
    .map((file) => ({ file, out: join(dist, pathIn(ROOT, file).replace(/\.ts$/, '.js')) }))
    .filter(isStale);
}

/** Compiles the sources that `staleSources` returned with swc, without checking types. */
export async function transpile(stale) {
  // Imported here because the scripts start before the packages are installed.
  const { transformFile } = await import('@swc/core');
  await Promise.all(
    stale.map(async ({ file, out }) => {
      const name = pathIn(ROOT, file);
      const { code, map } = await transformFile(file, OPTIONS).catch((error) => {
        throw new UserError(`${name}: ${error.message}`);
      });
      mkdirSync(dirname(out), { recursive: true });
      writeFileSync(
        `${out}.map`,
        JSON.stringify({
          ...JSON.parse(map),
          sources: [relative(dirname(out), file)],
          sourcesContent: undefined,
        }),
      );
      writeFileSync(
        out,
        `${code}//# sourceMappingURL=${out.slice(out.lastIndexOf('/') + 1)}.map\n`,
      );
    }),
  );
}

const OPTIONS = {
  swcrc: false,
  sourceMaps: true,
  jsc: {
    target: 'es2023',
    parser: { syntax: 'typescript' },
    transform: { verbatimModuleSyntax: true },
  },
  module: { type: 'es6' },
};

function isStale({ file, out }) {
  const made = statSync(out, { throwIfNoEntry: false });
  return made === undefined || made.mtimeMs < statSync(file).mtimeMs;
}
