/** Bundles the compiled workflows and their imports into files of dist/, without and with tracing, as a step of the build. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { ROOT } from './paths.mjs';

const DIST = join(ROOT, 'dist');
const silent = () => undefined;
const say = (message) => void process.stderr.write(`${message}\n`);
const fileOf = (name) => join(DIST, 'workflows', `${name}.js`);

for (const [name, interceptors] of [
  ['workflow-bundle.cjs', []],
  ['workflow-bundle-traced.cjs', [fileOf('tracing')]],
]) {
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileOf('index'),
    payloadConverterPath: fileOf('common'),
    workflowInterceptorModules: interceptors,
    logger: { log: silent, trace: silent, debug: silent, info: silent, warn: say, error: say },
  });
  // Renamed, so that a process that starts meanwhile finds a complete file.
  writeFileSync(join(DIST, `${name}.draft`), code);
  renameSync(join(DIST, `${name}.draft`), join(DIST, name));
}
