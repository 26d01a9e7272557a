import { z } from 'zod';
import { count, webUrl } from './values.js';

/** `name=value,name=value`, as OpenTelemetry writes it; values may be percent-encoded. */
const headers = z.string().transform((text, context): Readonly<Record<string, string>> => {
  const pairs = text.split(',').map((pair) => /^\s*([A-Za-z0-9_-]+)\s*=\s*(.*?)\s*$/.exec(pair));
  if (pairs.includes(null)) context.addIssue('must be name=value pairs with commas between');
  return Object.fromEntries(
    pairs.flatMap((pair) => (pair === null ? [] : [[pair[1], decodeValue(pair[2] ?? '')]])),
  );
});

function decodeValue(text: string): string {
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
      'how often a full audit of the ledger begins; a shorter time also lets it read faster; 0: never',
    ),
} as const;
