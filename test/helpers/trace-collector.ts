import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import getRawBody from 'raw-body';
import { z } from 'zod';

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
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  get url(): string {
    // Listening on a TCP port, so it has this kind of address.
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  of(traceId: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}
