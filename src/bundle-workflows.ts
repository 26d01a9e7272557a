import { renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { BUNDLE_FILE, TRACED_BUNDLE_FILE } from './temporal/bundle-file.js';

/** A step of the build: the compiled workflows, with what they import, as the one file that workers run. */

const silent = (): void => undefined;
const say = (message: string): void => void process.stderr.write(`${message}\n`);
const fileOf = (name: string): string => fileURLToPath(new URL(`../workflows/${name}.js`, import.meta.url));

for (const [file, interceptors] of [
  [BUNDLE_FILE, []],
  [TRACED_BUNDLE_FILE, [fileOf('tracing')]],
] as const) {
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileOf('index'),
    payloadConverterPath: fileOf('payload-converter'),
    workflowInterceptorModules: [...interceptors],
    logger: { log: silent, trace: silent, debug: silent, info: silent, warn: say, error: say },
  });
  // Whoever starts meanwhile finds the old one whole, or the new one whole.
  writeFileSync(`${file}.draft`, code);
  renameSync(`${file}.draft`, file);
}
