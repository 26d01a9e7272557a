import { z } from 'zod';
import { count } from './values.js';

const redisUrl = z
  .string()
  .refine(
    (text) => /^rediss?:$/.test(protocolOf(text)),
    'must be redis://user:password@host:port/database, or rediss:',
  );

function protocolOf(text: string): string {
  return URL.canParse(text) ? new URL(text).protocol : '';
}

/** How much of the API one token may use. */
export const RATE_VARIABLES = {
  REDIS_URL: redisUrl
    .optional()
    .describe(
      'secret: Redis in which API processes share the rate limits; unset: each grants its share, as while it is away',
    ),
  API_PROCESSES: count(1, 1000).default(1).describe('how many API processes share the rate limits'),
  RATE_LIMIT_REQUESTS_PER_S: count(1, 1_000_000).default(100).describe('requests a second of one token'),
  RATE_LIMIT_BURST: count(1, 1_000_000).default(200).describe('requests at once of one token'),
  RATE_LIMIT_LOOKUP_PER_S: count(1, 1_000_000).default(5).describe('lookups a second of one token'),
  RATE_LIMIT_LOOKUP_BURST: count(1, 1_000_000).default(20).describe('lookups at once of one token'),
  RATE_LIMIT_UPLOADS_PER_MIN: count(1, 1_000_000)
    .default(10)
    .describe('file uploads a minute of one token, at once too'),
  RATE_LIMIT_REDELIVER_PER_MIN: count(1, 1_000_000)
    .default(60)
    .describe('redeliveries and test deliveries a minute of one token, and at once'),
} as const;

export type RateConfig = Readonly<z.infer<z.ZodObject<typeof RATE_VARIABLES>>>;
