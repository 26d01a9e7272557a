import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './service-process.js';

/** The bundled workflows that a worker loads. */
const BUNDLE = 'dist/workflow-bundle.cjs';
/** Where a workflow waits for approvals, in the bundle: with the module's own name of the SDK. */
const WAITS = /await \(0,(\w+)\.condition\)\(\(\) ?=> ?\w+\.hasSignals, Math\./;

/** Copies this release into `folder`, with workflows that sleep before they wait for approvals, behind `patched()`. */
export function changedRelease(folder: string): string {
  mkdirSync(join(folder, 'dist'), { recursive: true });
  for (const part of ['src', 'workflows', 'activities', 'migrations', 'development', 'programs'])
    cpSync(join(ROOT, 'dist', part), join(folder, 'dist', part), { recursive: true });
  const bundle = readFileSync(join(ROOT, BUNDLE), 'utf8');
  const changed = bundle.replace(
    WAITS,
    (wait, sdk: string) =>
      `if ((0,${sdk}.patched)('a-later-release')) await (0,${sdk}.sleep)(1);\n        ${wait}`,
  );
  if (changed === bundle) throw new Error('the bundle has no place to be changed');
  writeFileSync(join(folder, BUNDLE), changed);
  for (const beside of ['node_modules', 'package.json', 'docs', 'test'])
    symlinkSync(join(ROOT, beside), join(folder, beside));
  return folder;
}
