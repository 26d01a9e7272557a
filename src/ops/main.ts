import { buildProgram } from './program.js';
import { runProgram } from './run-command.js';

/** The operators' command line as an installation has it. */
await runProgram(buildProgram());
