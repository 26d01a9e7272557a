import { z } from 'zod';
import { RATE_SETTINGS, type RateVariable } from '../http/rate-limit.js';
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

const RATE_LIMITS = Object.fromEntries(
  RATE_SETTINGS.map(({ variable, usual, meaning }) => [variable, count(1, 1_000_000).default(usual).describe(meaning)]),
) as Readonly<Record<RateVariable, z.ZodDefault<z.ZodType<number, string>>>>;

/** How many may be looked for at once by default: those of the largest file with a token, and of two with all of a tenant's. */
export const NEW_RECIPIENTS = { ofToken: 100_000, ofTenant: 200_000 } as const;

export const RATE_VARIABLES = {
  REDIS_URL: redisUrl
    .optional()
    .describe(
      'secret: Redis for rate limits that API processes share; if unset or unreachable, each process grants its share',
    ),
  API_PROCESSES: count(1, 1000).default(1).describe('how many API processes share the rate limits'),
  ...RATE_LIMITS,
} as const;

export type RateConfig = Readonly<z.infer<z.ZodObject<typeof RATE_VARIABLES>>>;
