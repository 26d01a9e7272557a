import type { z } from 'zod';
import { allowedHosts, count, railKeys, railSeconds, railUrls } from './values.js';

/** (CONTRIBUTING.md, A rail) */
export const RAIL_VARIABLES = {
  PAYOUT_RAIL_URLS: railUrls
    .default(new Map())
    .describe('where gateways are, such as bank-a=https://gateway.example'),
  PAYOUT_RAIL_ALLOWED_HOSTS: allowedHosts
    .default([])
    .describe(
      'hosts whose gateways may be called over http, such as http://127.0.0.1:*; for development',
    ),
  PAYOUT_RAIL_KEYS: railKeys
    .default(new Map())
    .describe(
      'secret: keys shared with gateways, such as bank-a=k1:base64; the first of each signs, all verify',
    ),
} as const;

export const RAIL_WORK_VARIABLES = {
  PAYOUT_RAIL_CALLS: count(1, 1_000)
    .default(20)
    .describe('calls to a rail at a time, per worker; each rail has its own limit'),
  PAYOUT_RAIL_PROBE_S: count(1, 3_600)
    .default(10)
    .describe(
      'how long until a rail that is left alone is tried again; the interval grows up to six times this',
    ),
  PAYOUT_STUCK_AFTER_S: count(1, 2_592_000)
    .default(900)
    .describe(
      'how long a payout may go without news from its rail before it is raised to operators',
    ),
  PAYOUT_RAIL_RETURN_WINDOW_S: railSeconds(3_600, 31_536_000)
    .default(new Map())
    .describe(
      'seconds for which completed payouts are still asked about, by gateway, such as bank-a=2592000; otherwise 60 days',
    ),
} as const;

export type RailWorkConfig = Readonly<z.infer<z.ZodObject<typeof RAIL_WORK_VARIABLES>>>;
