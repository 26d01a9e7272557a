/**
 * `npm run demo:code -- NAME`: the code of one of the demo world's people, for the `npm start` running in this
 * checkout.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { prepareCode } from './lib/build.mjs';
import { staffFile } from './lib/demo.mjs';
import { readJson } from './lib/files.mjs';
import { ROOT, RUN } from './lib/paths.mjs';
import { isAlive } from './lib/processes.mjs';
import { beQuiet, UserError } from './lib/progress.mjs';

// Programs read the output.
beQuiet();
try {
  const owner = readJson(join(RUN, 'pids.json'))?.owner;
  const runtime = readJson(join(RUN, 'runtime.json'));
  if (owner === undefined || !isAlive(owner) || !runtime)
    throw new UserError('The demo world is not running in this checkout. Start it with npm start.');
  await prepareCode();
  const args = [
    '--enable-source-maps',
    join(ROOT, 'dist/scripts/demo-code.js'),
    ...process.argv.slice(2),
  ];
  const env = { ...process.env, ...runtime.settings, ...staffFile() };
  process.exit(spawnSync(process.execPath, args, { stdio: 'inherit', env }).status ?? 1);
} catch (error) {
  process.stderr.write(`${error instanceof UserError ? error.message : error.stack}\n`);
  process.exit(1);
}
