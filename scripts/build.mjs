/** `npm run build`: compiles all sources, bundles the workflows and renders the docs pages, as commands that need them do by themselves. */
import { buildSite, prepareCode } from './lib/build.mjs';
import { say, UserError } from './lib/progress.mjs';

try {
  await prepareCode();
  await buildSite();
} catch (error) {
  say(error instanceof UserError ? error.message : error.stack);
  process.exit(1);
}
