/**
 * `npm run ops -- …`: the operators' command line, on the database that MYSQL_URL names
 * or else on the database of the `npm start` that runs in this checkout. It has the commands of `development/` as well.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compile } from './lib/build.mjs';
import { readJson } from './lib/files.mjs';
import { RUN } from './lib/paths.mjs';
import { isAlive } from './lib/processes.mjs';
import { bundlePrograms, programFile } from './lib/programs.mjs';
import { beQuiet, UserError } from './lib/progress.mjs';

// The command's output may be read by a program.
beQuiet();
try {
  await compile({ onlyService: true });
  await bundlePrograms();
} catch (error) {
  process.stderr.write(`${error instanceof UserError ? error.message : error.stack}\n`);
  process.exit(1);
}
const owner = readJson(join(RUN, 'pids.json'))?.owner;
const isRunning = owner !== undefined && isAlive(owner);
const runtime = process.env.MYSQL_URL || !isRunning ? {} : readJson(join(RUN, 'runtime.json'));
if (runtime === undefined) {
  process.stderr.write('The service is still starting: repeat this when npm start is ready.\n');
  process.exit(1);
}
Object.assign(process.env, runtime.settings);
process.once('exit', (status) => {
  // With 2, the program has printed that it was called wrongly.
  if (status !== 0 && status !== 2 && !process.env.MYSQL_URL)
    process.stderr.write('No database: start the service with npm start, or set MYSQL_URL.\n');
});
// In this process, because another one would take as long to start as some commands take.
await import(pathToFileURL(programFile('ops')).href);
