import { z } from 'zod';
import { count, webUrl } from './values.js';

/** `name=value,name=value`, as OpenTelemetry writes it; values may be percent-encoded. */
const headers = z.string().transform((text, context): Readonly<Record<string, string>> => {
  const pairs = text.split(',').map((pair) => /^\s*([A-Za-z0-9_-]+)\s*=\s*(.*?)\s*$/.exec(pair));
  if (pairs.includes(null)) context.addIssue('must be name=value pairs with commas between');
  return Object.fromEntries(
    pairs.flatMap((pair) => (pair === null ? [] : [[pair[1], decoded(pair[2] ?? '')]])),
  );
});

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const TRACING_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl
    .optional()
    .describe(
      'where traces go: an OTLP collector over HTTP, such as http://collector:4318; if unset, nothing is traced',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: headers
    .default({})
    .describe('secret: headers that the collector asks for, comma-separated name=value'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe(
      'the share of traces to keep, by trace id; traces that the caller did not sample are never kept',
    ),
} as const;

export type TracingConfig = Readonly<z.infer<z.ZodObject<typeof TRACING_VARIABLES>>>;

export const AUDIT_VARIABLES = {
  AUDIT_PASS_EVERY_S: count(0, 2_592_000)
    .default(3_600)
    .describe(
      'how often a full audit of the ledger begins; its reading is spread over this time; 0: never',
    ),
} as const;

type AuditConfig = Readonly<z.infer<z.ZodObject<typeof AUDIT_VARIABLES>>>;

/** How soon the next step of an audit starts. */
const STEP_EVERY_MS = 60_000;
/** A little less than ten intervals: the starts in between are left out. Where a step ends, it stores some megabytes. */
const STEP_INTERVALS = 9.9;

/** How often a step of the audit starts; 0: never. A step that ends earlier waits, so that it stores checkpoints all the time. */
export function auditStepMs({ AUDIT_PASS_EVERY_S: everyS }: AuditConfig): number {
  return Math.min(everyS * 1_000, STEP_EVERY_MS);
}

/** Leaves the database to others for three quarters of the time, after each slice, even when it is late. */
export function auditPace(config: AuditConfig): {
  readonly passEveryMs: number;
  readonly workMs: number;
  readonly share: number;
} {
  return {
    passEveryMs: config.AUDIT_PASS_EVERY_S * 1_000,
    workMs: auditStepMs(config) * STEP_INTERVALS,
    share: 0.25,
  };
}
