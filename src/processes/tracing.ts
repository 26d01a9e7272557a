import type { TracingConfig } from '../config/watching.js';
import type { Tracing } from './tracing-sdk.js';

/**
 * Starts tracing. Returns null if no endpoint is configured, without loading the tracing packages.
 * (docs/operations/monitoring.md, Traces)
 */
export async function openTracing(config: TracingConfig, service: string): Promise<Tracing | null> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = config;
  if (endpoint === undefined) return null;
  const { startTracing } = await import('./tracing-sdk.js');
  return startTracing({ endpoint, headers, share: config.OTEL_TRACES_SAMPLER_ARG, service });
}
