/** `npm run listen -- …` and `npm run trigger -- …`: the programs of the client package, from this checkout. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { prepareCode } from './lib/build.mjs';
import { ROOT } from './lib/paths.mjs';
import { beQuiet, UserError } from './lib/progress.mjs';

// Progress would mix with output that a program may read.
beQuiet();
const [name, ...args] = process.argv.slice(2);
try {
  await prepareCode();
} catch (error) {
  process.stderr.write(`${error instanceof UserError ? error.message : error.stack}\n`);
  process.exit(1);
}
// The terminal sends Ctrl-C to both processes. This one waits until the program has ended.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
const child = spawn(
  process.execPath,
  [join(ROOT, `dist/packages/client/src/bin/${name}.js`), ...args],
  {
    stdio: 'inherit',
  },
);
child.once('exit', (code) => process.exit(code ?? 1));
