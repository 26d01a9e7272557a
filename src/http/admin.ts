import type { RequestListener } from 'node:http';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { NOT_FOUND } from '../core/errors.js';
import { newId } from '../core/ids.js';
import type { ErrorWriter } from './errors.js';

/** True when the process can do its work now; what a readiness check asks. */
export type ReadyCheck = () => Promise<boolean>;

export interface AdminParts {
  readonly registry: Registry;
  readonly isReady: ReadyCheck;
  readonly errors: ErrorWriter;
  /** What another part of the process measures, in the same text form. */
  readonly moreMetrics?: () => Promise<string>;
}

/** A registry that measures the process itself; features add what they count. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const TEXT = 'text/plain; charset=utf-8';

/** The admin port: /livez (the process runs), /readyz (it can work), /metrics (Prometheus). Never open it to the world. */
export function createAdmin(parts: AdminParts): RequestListener {
  return (request, response) => {
    void reply(parts, request.url?.split('?')[0] ?? '').then(({ status, type, text }) => {
      response.writeHead(status, {
        'Svc-Request-Id': newId(),
        'Content-Type': type,
        'Content-Length': Buffer.byteLength(text),
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
      });
      response.end(text);
    });
  };
}

async function reply({ registry, isReady, errors, moreMetrics }: AdminParts, path: string): Promise<Reply> {
  switch (path) {
    case '/livez':
      return { status: 200, type: TEXT, text: 'ok\n' };
    case '/readyz': {
      // A check that fails says the same as one that says no.
      const ready = await isReady().catch(() => false);
      return { status: ready ? 200 : 503, type: TEXT, text: ready ? 'ready\n' : 'not ready\n' };
    }
    case '/metrics':
      return metrics(registry, moreMetrics);
    default:
      return { status: 404, type: 'application/json; charset=utf-8', text: errors.text(NOT_FOUND) };
  }
}

/** A measure of another part that fails to read itself must not end the process. */
async function metrics(registry: Registry, more: () => Promise<string> = () => Promise.resolve('')): Promise<Reply> {
  try {
    const [own, others] = await Promise.all([registry.metrics(), more()]);
    return { status: 200, type: registry.contentType, text: own + others };
  } catch {
    return { status: 500, type: TEXT, text: 'a metric could not be read\n' };
  }
}
