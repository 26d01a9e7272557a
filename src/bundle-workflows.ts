import { renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { BUNDLE_FILE } from './temporal/bundle-file.js';

/** A step of the build: the compiled workflows, with what they import, as the one file that workers run. */

const silent = (): void => undefined;
const say = (message: string): void => void process.stderr.write(`${message}\n`);
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('../workflows/index.js', import.meta.url)),
  payloadConverterPath: fileURLToPath(new URL('../workflows/payload-converter.js', import.meta.url)),
  logger: { log: silent, trace: silent, debug: silent, info: silent, warn: say, error: say },
});
// Whoever starts meanwhile finds the old one whole, or the new one whole.
writeFileSync(`${BUNDLE_FILE}.draft`, code);
renameSync(`${BUNDLE_FILE}.draft`, BUNDLE_FILE);
