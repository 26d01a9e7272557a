import { armFailpoint, FAILPOINTS } from '../../src/core/failpoints.js';

/** Loaded before a program of the service. Arms the failpoint of `TEST_FAILPOINT`, such as after_commit:3 for its third passing. */

const [wanted, passing = '1'] = (process.env.TEST_FAILPOINT ?? '').split(':');
const name = FAILPOINTS.find((known) => known === wanted);
if (name === undefined) throw new Error(`there is no failpoint ${wanted}`);
armFailpoint({ name, passing: Number.parseInt(passing, 10) });
