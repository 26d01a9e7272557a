import { runProgram } from '../src/ops/program.js';
import { buildDevelopmentProgram } from './program.js';

/** `npm run ops -- …` in a checkout. */
await runProgram(buildDevelopmentProgram());
