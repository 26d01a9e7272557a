/**
 * `npm run ops -- …`: the operators' command line, on the database that MYSQL_URL names
 * or else on the database of the `npm start` that runs in this checkout. It has the commands of `development/` as well.
 */
import { spawnSync } from 'node:child_process';
import { basename, join } from 'node:path';
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
const env = { ...process.env, ...runtime.settings };
const args = ['--enable-source-maps', programFile('ops'), ...process.argv.slice(2)];
// The program names itself in its help as it was called (src/ops/help.ts).
const argv0 = basename(process.argv[1]);
const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env, argv0 });
// With 2, the program has printed that it was called wrongly.
if (status !== 0 && status !== 2 && !env.MYSQL_URL) {
  process.stderr.write('No database: start the service with npm start, or set MYSQL_URL.\n');
}
process.exit(status ?? 1);
