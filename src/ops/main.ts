import { explainFailure, runCommand } from './run-command.js';

/** `npm run ops -- …`, and `money-ops …` of a package. */

process.on('uncaughtException', (failure: unknown) => process.exit(explainFailure(failure)));
// A reader such as `head` has seen enough.
process.stdout.on('error', () => process.exit(0));
process.exitCode = await runCommand(process.argv);
