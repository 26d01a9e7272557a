import { count } from './values.js';

/** For processes behind a load balancer. (docs/operations.md, Stopping) */
export const STOP_DELAY_MS = count(0, 600_000)
  .default(0)
  .describe('how long a process told to stop keeps serving and only says so on /readyz, so that the balancer notices');
