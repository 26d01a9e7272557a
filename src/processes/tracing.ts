import type { TracingConfig } from '../config/observability.js';
import type { Tracing } from './tracing-sdk.js';

/** Returns null without loading the tracing packages if no endpoint is configured. */
export async function openTracing(config: TracingConfig, service: string): Promise<Tracing | null> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = config;
  if (endpoint === undefined) return null;
  const { startTracing } = await import('./tracing-sdk.js');
  return startTracing({ endpoint, headers, share: config.OTEL_TRACES_SAMPLER_ARG, service });
}
