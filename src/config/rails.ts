import type { z } from 'zod';
import { count, railSeconds } from './values.js';

/** How a worker deals with rails. */
export const RAIL_WORK_VARIABLES = {
  PAYOUT_RAIL_CALLS: count(1, 1_000)
    .default(20)
    .describe(
      'payouts that one rail is given or asked about at a time, for each worker; every rail has as many of its own',
    ),
  PAYOUT_RAIL_OPENS_AFTER: count(2, 1_000)
    .default(5)
    .describe('calls in a row without an answer, about different payouts, after which a rail is left alone'),
  PAYOUT_RAIL_PROBE_S: count(1, 3_600)
    .default(10)
    .describe('after how long a rail that is left alone is tried again; then ever more rarely, up to six times this'),
  PAYOUT_STUCK_AFTER_S: count(1, 2_592_000)
    .default(900)
    .describe('after how long without a word from its rail a payout is raised to operators'),
  PAYOUT_APPROVED_STUCK_AFTER_S: count(1, 2_592_000)
    .default(300)
    .describe('after how long a payout that is approved and not handed to its rail is raised to operators'),
  PAYOUT_RAIL_RETURN_WINDOW_S: railSeconds(3_600, 31_536_000)
    .default(new Map())
    .describe('for how long completed payouts are asked about, by gateway: bank-a=2592000; 60 days unless said'),
} as const;

export type RailWorkConfig = Readonly<z.infer<z.ZodObject<typeof RAIL_WORK_VARIABLES>>>;
