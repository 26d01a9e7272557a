import { buildProgram } from './program.js';
import { runProgram } from './run-command.js';

await runProgram(buildProgram());
