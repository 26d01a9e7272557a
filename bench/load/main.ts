import { generateLoad } from './generator.js';
import type { LoadJob } from './job.js';

/** The load generator's process: takes one job from its parent, sends back the result, and ends. */
process.once('message', (job) => {
  // Our own parent sent it (run-load.ts).
  generateLoad(job as LoadJob).then(
    (result) => process.send?.({ result }, () => process.exit(0)),
    (fault: unknown) => process.send?.({ fault: String(fault) }, () => process.exit(1)),
  );
});
process.once('disconnect', () => process.exit(1));
