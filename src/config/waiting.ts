import { count } from './values.js';

/** What waits in workflows. */
export const WAITING_VARIABLES = {
  WORKFLOW_LOOK_AGAIN_S: count(1, 86_400)
    .default(3_600)
    .describe(
      'after how long a workflow looks by itself how its resource stands; what waits is told again a little sooner',
    ),
} as const;
