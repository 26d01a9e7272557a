import { runProgram } from '../src/ops/run-command.js';
import { buildDevelopmentProgram } from './program.js';

/** `npm run ops -- …`, and `npx money-ops …` in a checkout. */
await runProgram(buildDevelopmentProgram());
