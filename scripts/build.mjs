/** `npm run build`: compiles all sources and bundles the workflows, as every command of this checkout does by itself. */
import { prepareCode } from './lib/build.mjs';
import { say, UserError } from './lib/progress.mjs';

try {
  await prepareCode();
} catch (error) {
  say(error instanceof UserError ? error.message : error.stack);
  process.exit(1);
}
