import { z } from 'zod';
import type { NewRecipients } from '../accounts/recipient-budget.js';
import {
  eachRateClass,
  RATE_CLASSES,
  RATE_CLASS_DEFAULTS,
  type Rate,
  type RateClass,
  type Rates,
} from '../http/rate-limit.js';
import { count, parsePairs } from './values.js';

const redisUrl = z
  .string()
  .refine(
    (text) => /^rediss?:$/.test(protocolOf(text)),
    'must be redis://user:password@host:port/database, or rediss:',
  );

function protocolOf(text: string): string {
  return URL.canParse(text) ? new URL(text).protocol : '';
}

/** `requests=100/200,uploads=10`: requests per time unit of the class and, optionally, the burst. */
const rateLimits = z.string().transform((text, context): Rates => {
  const limits = parsePairs(text).map(([name, limit]): [RateClass, Rate] => {
    const rateClass = RATE_CLASSES.find((known) => known === name);
    const [, rate = '', burst] = /^([1-9]\d{0,6})(?:\/([1-9]\d{0,6}))?$/.exec(limit) ?? [];
    if (rateClass === undefined || rate === '')
      context.addIssue(
        `${name} must be one of ${RATE_CLASSES.join(', ')}, with = and a rate or rate/burst`,
      );
    return [rateClass ?? 'requests', rateOf(rateClass ?? 'requests', Number(rate), burst)];
  });
  return { ...DEFAULT_RATES, ...Object.fromEntries(limits) };
});

function rateOf(rateClass: RateClass, rate: number, burst?: string): Rate {
  const { seconds, ...defaults } = RATE_CLASS_DEFAULTS[rateClass];
  const defaultBurst = (rate * defaults.burst) / defaults.rate;
  return { perSecond: rate / seconds, burst: Number(burst ?? defaultBurst) };
}

const DEFAULT_RATES = eachRateClass((name) => rateOf(name, RATE_CLASS_DEFAULTS[name].rate));

const newRecipients = z.string().transform((text, context): NewRecipients => {
  const [, ofToken, ofTenant] = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(text) ?? [];
  if (ofTenant === undefined)
    context.addIssue('must be two whole numbers above 0 with a slash between');
  return { ofToken: Number(ofToken), ofTenant: Number(ofTenant) };
});

/** A token may name as many new people at once as the largest file has rows. */
export const DEFAULT_NEW_RECIPIENTS: NewRecipients = { ofToken: 100_000, ofTenant: 200_000 };

export const NEW_RECIPIENTS = newRecipients
  .default(DEFAULT_NEW_RECIPIENTS)
  .describe(
    "new people that one token, and after a slash all of a tenant's tokens together, may name by alias or phone in look-ups, bonuses and batches; a used budget is full again after ten days; by default 100000/200000",
  );

export const RATE_VARIABLES = {
  REDIS_URL: redisUrl
    .optional()
    .describe(
      'secret: Redis for rate limits that API processes share; if unset or unreachable, each process grants its share',
    ),
  API_PROCESSES: count(1, 1000).default(1).describe('how many API processes share the rate limits'),
  RATE_LIMITS: rateLimits
    .default(DEFAULT_RATES)
    .describe(
      'limits of each token, with the number at once after a slash: requests and lookup per second, uploads and redeliver per minute; by default requests=100/200,lookup=5/20,uploads=10/10,redeliver=60/60',
    ),
} as const;

export type RateConfig = Readonly<z.infer<z.ZodObject<typeof RATE_VARIABLES>>>;
