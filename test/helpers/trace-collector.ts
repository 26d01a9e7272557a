import { createServer } from 'node:http';
import getRawBody from 'raw-body';
import { z } from 'zod';
import { listenAt } from './service-process.js';

const value = z.union([
  z.object({ stringValue: z.string() }).transform(({ stringValue }) => stringValue),
  z
    .object({ intValue: z.union([z.number(), z.string()]) })
    .transform(({ intValue }) => String(intValue)),
  z.unknown().transform((other) => JSON.stringify(other)),
]);
const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes: z
    .array(z.object({ key: z.string(), value }))
    .default([])
    .transform((pairs) => Object.fromEntries(pairs.map(({ key, value: own }) => [key, own]))),
});
const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({ scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })) }),
  ),
});
type CollectedSpan = z.infer<typeof spanSchema>;

/** A collector of traces: OTLP over HTTP, as JSON. */
export class TraceCollector {
  readonly spans: CollectedSpan[] = [];
  /** All that came, as it came. */
  text = '';
  url = '';
  private readonly server = createServer((request, response) => {
    void getRawBody(request, { encoding: 'utf8' }).then((body) => {
      this.text += body;
      const { resourceSpans } = exportSchema.parse(JSON.parse(body));
      for (const { scopeSpans } of resourceSpans)
        for (const { spans } of scopeSpans) this.spans.push(...spans);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });

  async start(): Promise<this> {
    this.url = `http://127.0.0.1:${await listenAt(this.server)}`;
    return this;
  }

  of(traceId: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}
