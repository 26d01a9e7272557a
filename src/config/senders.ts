import { z } from 'zod';
import { count } from './values.js';

/** How a worker sends webhooks. */
export const SENDER_VARIABLES = {
  WORKER_DRAINS: count(1, 10_000).default(1_000).describe('webhook endpoints served at a time, plus as many slow ones'),
  WEBHOOK_WORKFLOWS: z
    .enum(['all', 'failing'])
    .default('all')
    .describe(
      'which webhook endpoints have a workflow at all times: all, or only those that fail or are paused or disabled',
    ),
} as const;
