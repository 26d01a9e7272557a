/**
 * `npm run replay`: replays the recorded histories on this checkout's workflows; with `-- --address host:7233` also
 * those of open workflows in that Temporal, before this version is deployed there.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { prepareCode } from './lib/build.mjs';
import { ROOT } from './lib/paths.mjs';
import { UserError } from './lib/progress.mjs';

try {
  await prepareCode();
} catch (error) {
  process.stderr.write(`${error instanceof UserError ? error.message : error.stack}\n`);
  process.exit(1);
}
const args = [
  '--enable-source-maps',
  join(ROOT, 'dist/development/replay.js'),
  ...process.argv.slice(2),
];
process.exit(spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' }).status ?? 1);
