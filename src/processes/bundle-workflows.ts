import { renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { BUNDLE_FILE, TRACED_BUNDLE_FILE } from '../temporal/bundle-file.js';

/** Bundles the compiled workflows and their imports into one file, as a step of the build. */

const silent = (): void => undefined;
const say = (message: string): void => void process.stderr.write(`${message}\n`);
const fileOf = (name: string): string =>
  fileURLToPath(new URL(`../../workflows/${name}.js`, import.meta.url));

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
  // Renamed, so that a process that starts meanwhile finds a complete file.
  writeFileSync(`${file}.draft`, code);
  renameSync(`${file}.draft`, file);
}
