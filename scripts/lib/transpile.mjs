import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { ROOT } from './paths.mjs';
import { UserError } from './progress.mjs';

/**
 * Writes to `dist` what tsc would for each newer source, without checking types: a second for changed files, a few for
 * everything. To check types, run tsc, which writes the files again.
 */
export async function transpile(sources, dist) {
  const code = sources.filter((file) => !file.endsWith('.d.ts'));
  const stale = code.map((file) => ({ file, out: outputOf(file, dist) })).filter(isStale);
  if (stale.length === 0) return;
  // Loaded late: the scripts start before any packages exist.
  const { default: ts } = await import('typescript');
  const options = compilerOptions(ts);
  for (const { file, out } of stale) {
    const { outputText, sourceMapText, diagnostics } = ts.transpileModule(readFileSync(file, 'utf8'), {
      compilerOptions: options,
      fileName: basename(file),
      reportDiagnostics: true,
    });
    const [fault] = diagnostics;
    if (fault)
      throw new UserError(`${relative(ROOT, file)}: ${ts.flattenDiagnosticMessageText(fault.messageText, '\n')}`);
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(
      `${out}.map`,
      JSON.stringify({ ...JSON.parse(sourceMapText), sources: [relative(dirname(out), file)] }),
    );
    writeFileSync(out, outputText);
  }
}

function outputOf(file, dist) {
  return join(dist, relative(ROOT, file).replace(/\.ts$/, '.js'));
}

function isStale({ file, out }) {
  const made = statSync(out, { throwIfNoEntry: false });
  return made === undefined || made.mtimeMs < statSync(file).mtimeMs;
}

/**
 * The options of tsconfig.json that affect the output. A single file does not show that the package uses ES modules.
 */
function compilerOptions(ts) {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { target, sourceMap, verbatimModuleSyntax, isolatedModules } = config.compilerOptions;
  const wanted = { target, sourceMap, verbatimModuleSyntax, isolatedModules, module: 'ESNext' };
  return ts.convertCompilerOptionsFromJson(wanted, ROOT).options;
}
