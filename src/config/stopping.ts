import { count } from './values.js';

/** For processes behind a load balancer. (docs/operations.md, Stopping) */
export const STOP_DELAY_MS = count(0, 600_000)
  .default(0)
  .describe(
    'how long a process that is told to stop only says so on /readyz, and serves, until the balancer has heard',
  );
