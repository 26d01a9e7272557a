import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { ROOT } from './paths.mjs';
import { UserError } from './progress.mjs';

/**
 * Writes under `dist` what tsc would write for each source that is newer than that, without a look at its types: a second for
 * what was changed, and a few for everything. Whoever relies on the types runs tsc, which writes them again.
 */
export async function transpile(sources, dist) {
  const code = sources.filter((file) => !file.endsWith('.d.ts'));
  const stale = code.map((file) => ({ file, out: outputOf(file, dist) })).filter(isStale);
  if (stale.length === 0) return;
  // Loaded late: the scripts begin before there are any packages.
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

/** What of tsconfig.json the text depends on. By itself a file does not know that the package is of ES modules. */
function compilerOptions(ts) {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { target, sourceMap, verbatimModuleSyntax, isolatedModules } = config.compilerOptions;
  const wanted = { target, sourceMap, verbatimModuleSyntax, isolatedModules, module: 'ESNext' };
  return ts.convertCompilerOptionsFromJson(wanted, ROOT).options;
}
