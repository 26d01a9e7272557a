import { count } from './values.js';

/** What waits in workflows. */
export const WAITING_VARIABLES = {
  WORKFLOW_LOOK_AGAIN_S: count(1, 86_400)
    .default(3_600)
    .describe(
      'how long until a workflow checks its resource on its own; waiting resources are announced again slightly sooner',
    ),
} as const;
