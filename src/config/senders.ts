import { z } from 'zod';
import { count } from './values.js';

/** How a worker sends webhooks. */
export const SENDER_VARIABLES = {
  WORKER_DRAINS: count(1, 10_000)
    .default(1_000)
    .describe('webhook endpoints that are sent to at a time, and as many again that take long; they mostly wait'),
  WEBHOOK_WORKFLOWS: z
    .enum(['all', 'failing'])
    .default('all')
    .describe('which webhook endpoints have a workflow all the time: all, or those that fail, are paused or disabled'),
} as const;
