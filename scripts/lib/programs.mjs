import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeFiles, hashOfCode, isStamped } from './build.mjs';
import { ROOT } from './paths.mjs';
import { part } from './progress.mjs';

const DIST = join(ROOT, 'dist');
const FOLDER = join(DIST, 'programs');
const STAMP = join(FOLDER, '.stamp');
const PROGRAMS = [
  ...['api', 'worker', 'support', 'migrate'].map((name) => `src/processes/${name}`),
  'scripts/demo-world',
  'development/ops',
];
/** The thread of a worker that runs workflows. */
const WORKFLOW_THREAD = '@temporalio/worker/lib/workflow/workflow-worker-thread.js';
/** Packages that are not bundled: core-bridge has native code, and two are loaded on demand. */
const EXTERNAL = ['@temporalio/core-bridge', '@redis/client', 'exceljs'];
const CODE = /^(src|activities|workflows|migrations|development|scripts)\//;
const DAY_MS = 86_400_000;
/** Defines `require` and the file names, which bundled CommonJS modules expect. */
const BANNER = `import { createRequire as __requireFrom } from 'node:module';
const require = __requireFrom(import.meta.url);
const __programs = require('node:path').dirname(require('node:url').fileURLToPath(import.meta.url)), __filename = __programs;`;
/** Returns the bundled file of a program, such as `api`. */
export const programFile = (name) => join(FOLDER, `${name}.mjs`);

/**
 * Bundles each program with its packages into dist/programs, unless their code is unchanged. Most of the time that a
 * process takes to start is spent on finding and loading more than a thousand files.
 */
export async function bundlePrograms() {
  const self = fileURLToPath(import.meta.url);
  // Reading all files would take longer than the rest of the start of a command.
  const stampedAt = modifiedAt(STAMP);
  if ([...codeFiles(CODE), self].every((file) => modifiedAt(file) < stampedAt)) return;
  const state = hashOfCode(CODE, [self]);
  if (isStamped(STAMP, state)) return writeFileSync(STAMP, state);
  await part('Bundled programs', async () => {
    // Imported here because the scripts start before the packages are installed.
    const { build, stop } = await import('esbuild');
    const { metafile } = await build({
      entryPoints: [
        ...PROGRAMS.map((name) => join(DIST, `${name}.js`)),
        join(ROOT, 'node_modules', WORKFLOW_THREAD),
      ],
      entryNames: '[name]',
      outdir: FOLDER,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      minifyWhitespace: true,
      minifySyntax: true,
      sourcemap: true,
      sourcesContent: false,
      external: EXTERNAL,
      banner: { js: BANNER },
      plugins: [{ name: 'programs', setup }],
      metafile: true,
      logLevel: 'error',
    });
    await stop();
    removeOld(Object.keys(metafile.outputs).map((file) => basename(file)));
    writeFileSync(STAMP, state);
  });
}

function modifiedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Removes files of earlier builds. Running processes may still load files of the last day. */
function removeOld(current) {
  for (const name of readdirSync(FOLDER)) {
    const file = join(FOLDER, name);
    if (!current.includes(name) && statSync(file).mtimeMs < Date.now() - DAY_MS) rmSync(file);
  }
}

function setup({ onLoad }) {
  onLoad({ filter: /\/node_modules\/.*\.(c?js|json)$/ }, ({ path }) => ({
    contents: `${adaptPackage(path)}\n//# sourceMappingURL=${packageSourceMap(path)}`,
    loader: 'js',
  }));
  onLoad({ filter: /\/dist\/.*\.js$/ }, ({ path }) => ({ contents: adaptModule(path) }));
}

/** Keeps the paths by which packages find other files. */
function adaptPackage(path) {
  // Workers run bundled workflows, so they do not need the bundler.
  if (path.endsWith('/@temporalio/worker/lib/workflow/bundler.js'))
    return 'exports.defaultWorkflowInterceptorModules = [];';
  const file = readFileSync(path, 'utf8');
  if (path.endsWith('.json')) return `module.exports = ${file};`;
  const text = file.replace(
    "require.resolve('./workflow-worker-thread')",
    "require.resolve('./workflow-worker-thread.mjs')",
  );
  const place = `const __dirname = require('node:path').join(__programs, '${relative(FOLDER, dirname(path))}');`;
  return `${text.includes('__dirname') ? place : ''}${text}`;
}

/**
 * Returns a source map that names only the file. Full maps of the packages would be most of what a process reads as it
 * starts, and parses when it first formats a stack.
 */
function packageSourceMap(path) {
  const map = JSON.stringify({ version: 3, sources: [basename(path)], mappings: 'AAAA' });
  return `data:application/json;base64,${Buffer.from(map).toString('base64')}`;
}

/** Keeps the URLs by which modules find other files. */
function adaptModule(path) {
  const urlOf = (file) => `new URL('${relative(FOLDER, file)}', import.meta.url).href`;
  return readFileSync(path, 'utf8')
    .replaceAll(/import\.meta\.resolve\('(.+?)'\)/g, (_, name) =>
      urlOf(fileURLToPath(import.meta.resolve(name))),
    )
    .replaceAll(/import\.meta\.url(?!\)\.href)/g, urlOf(path));
}
