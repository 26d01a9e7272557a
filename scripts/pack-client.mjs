/** Compiles the client package, before `npm pack ./packages/client`. Installs the packages first if they are missing. */
import { join } from 'node:path';
import { ensurePackages } from './lib/packages.mjs';
import { ROOT } from './lib/paths.mjs';
import { beQuiet, UserError } from './lib/progress.mjs';
import { run } from './lib/run.mjs';

// `npm pack` prints the name of the file, which a script may read.
beQuiet();
try {
  await ensurePackages();
  await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'], {
    cwd: join(ROOT, 'packages/client'),
    failure: 'The client cannot be compiled',
  });
} catch (error) {
  process.stderr.write(`${error instanceof UserError ? error.message : error.stack}\n`);
  process.exit(1);
}
