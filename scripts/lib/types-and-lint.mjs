/** Checks types and lint over one program: the rules ask for nearly every type that the compiler has found. */
import { join } from 'node:path';
import { ESLint } from 'eslint';
import ts from 'typescript';
import tseslint from 'typescript-eslint';
import { ROOT } from './paths.mjs';

const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: report };
const parsed = ts.getParsedCommandLineOfConfigFile(
  join(ROOT, 'tsconfig.json'),
  { noEmit: true, incremental: true },
  host,
);
const builder = ts.createIncrementalProgram({
  rootNames: parsed.fileNames,
  options: parsed.options,
  configFileParsingDiagnostics: parsed.errors,
});
const program = builder.getProgram();
const faults = [
  ...builder.getConfigFileParsingDiagnostics(),
  ...builder.getOptionsDiagnostics(),
  ...builder.getGlobalDiagnostics(),
  ...builder.getSyntacticDiagnostics(),
  ...builder.getSemanticDiagnostics(),
];
faults.forEach(report);
// Writes which files were checked.
builder.emit();

const parser = {
  meta: tseslint.parser.meta,
  parseForESLint: (code, options) =>
    tseslint.parser.parseForESLint(code, {
      ...options,
      projectService: false,
      programs: [program],
    }),
};
const eslint = new ESLint({
  cwd: ROOT,
  cache: true,
  cacheStrategy: 'content',
  cacheLocation: join(ROOT, 'dist/.eslint'),
  overrideConfig: { files: ['**/*.ts'], languageOptions: { parser } },
});
const results = await eslint.lintFiles('.');
const formatter = await eslint.loadFormatter('stylish');
process.stdout.write(await formatter.format(results));
const isClean = results.every(({ errorCount, warningCount }) => errorCount + warningCount === 0);
process.exitCode = Number(faults.length > 0 || !isClean);

function report(fault) {
  process.stdout.write(
    ts.formatDiagnosticsWithColorAndContext([fault], {
      getCurrentDirectory: () => ROOT,
      getCanonicalFileName: (name) => name,
      getNewLine: () => '\n',
    }),
  );
}
