import { count } from './values.js';

/** For processes behind a load balancer. (docs/operations.md, Stopping) */
export const STOP_DELAY_MS = count(0, 600_000)
  .default(0)
  .describe('how long a stopping process keeps serving, not ready on /readyz, so that the load balancer notices');
