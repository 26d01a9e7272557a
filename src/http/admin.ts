import type { RequestListener } from 'node:http';
import { collectDefaultMetrics, Counter, Registry } from 'prom-client';
import { NOT_FOUND } from '../core/errors.js';
import { newId } from '../core/ids.js';
import { metersOf } from '../core/meters.js';
import { withTimeout } from '../core/timers.js';
import type { ErrorWriter } from './errors.js';

/** `degraded`: a shared part is unavailable. `unfit`: the fault is in this process. */
export type Fitness = 'ready' | 'degraded' | 'unfit';

/** (docs/operations/monitoring.md, Health) */
export class Readiness {
  private hasBeenReady = false;
  private isStopping = false;

  constructor(private readonly fitness: () => Promise<Fitness>) {}

  stop(): void {
    this.isStopping = true;
  }

  async check(): Promise<{ readonly status: number; readonly text: string }> {
    // A failed check counts as unfit, a slow one as degraded, because it waits for a shared part.
    const fitness = this.isStopping
      ? 'unfit'
      : await withTimeout(CHECK_MS, this.fitness, 'degraded' as const).catch(
          () => 'unfit' as const,
        );
    if (this.isStopping) return { status: 503, text: 'stopping\n' };
    this.hasBeenReady ||= fitness === 'ready';
    // A process that was never ready must not replace a ready one.
    if (!this.hasBeenReady) return { status: 503, text: 'not ready\n' };
    return fitness === 'unfit'
      ? { status: 503, text: 'not ready\n' }
      : { status: 200, text: `${fitness}\n` };
  }
}

/** Shorter than load balancers wait. */
const CHECK_MS = 1_000;

interface AdminDeps {
  readonly registry: Registry;
  readonly readiness: Readiness;
  readonly errors: ErrorWriter;
  readonly moreMetrics?: () => Promise<string>;
}

export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  metersOf(registry).counter(
    UNREAD,
    'Metrics left out of a scrape because they could not be read',
    ['metric'],
  );
  return registry;
}

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const TEXT = 'text/plain; charset=utf-8';

/** The admin port: /livez (the process runs), /readyz (it can work), /metrics (Prometheus). */
export function createAdmin(deps: AdminDeps): RequestListener {
  return (request, response) => {
    void reply(deps, request.url?.split('?')[0] ?? '').then(({ status, type, text }) => {
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

async function reply(
  { registry, readiness, errors, moreMetrics }: AdminDeps,
  path: string,
): Promise<Reply> {
  switch (path) {
    case '/livez':
      return { status: 200, type: TEXT, text: 'ok\n' };
    case '/readyz':
      return { ...(await readiness.check()), type: TEXT };
    case '/metrics':
      return metrics(registry, moreMetrics);
    default:
      return { status: 404, type: 'application/json; charset=utf-8', text: errors.text(NOT_FOUND) };
  }
}

const UNREAD = 'metrics_unread_total';
/** Shorter than Prometheus's limit of 10 s. */
const SCRAPE_MS = 5_000;

/** Omits and counts metrics that cannot be read. */
async function metrics(registry: Registry, more: AdminDeps['moreMetrics']): Promise<Reply> {
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  const texts = await Promise.all([
    ...names.map((name) =>
      readInTime(registry, name, () => registry.getSingleMetricAsString(name)),
    ),
    ...(more === undefined ? [] : [readInTime(registry, 'other', more)]),
  ]);
  return {
    status: 200,
    type: registry.contentType,
    text: texts.filter((text) => text !== '').join('\n\n') + '\n',
  };
}

async function readInTime(
  registry: Registry,
  metric: string,
  read: () => Promise<string>,
): Promise<string> {
  const text = await withTimeout(SCRAPE_MS, read, null).catch(() => null);
  if (text !== null) return text;
  const unread = registry.getSingleMetric(UNREAD);
  if (unread instanceof Counter) unread.inc({ metric });
  return '';
}
