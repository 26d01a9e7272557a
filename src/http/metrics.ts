import type { Counter, Histogram, Registry } from 'prom-client';
import { metersOf } from '../core/meters.js';
import type { ErrorCode } from '../core/errors.js';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Metrics of HTTP requests, labelled with the route's template instead of the path. */
export class HttpMetrics {
  private readonly durations: Histogram<'method' | 'route' | 'status'>;
  private readonly faults: Counter;
  private readonly errors: Counter<'code'>;
  /** The labelled histograms, which are few because templates, methods and statuses are few. */
  private readonly known = new Map<string, { observe(seconds: number): void }>();

  constructor(registry: Registry) {
    const { counter, histogram } = metersOf(registry);
    this.durations = histogram(
      'http_request_duration_seconds',
      'Time from request to answer, by route template',
      SECONDS,
      ['method', 'route', 'status'],
    );
    this.faults = counter(
      'http_faults_total',
      'Requests that failed because of a fault of the service',
    );
    this.errors = counter('http_errors_total', 'Error answers, by code', ['code']);
  }

  refused(code: ErrorCode): void {
    this.errors.inc({ code });
  }

  observe(method: string, route: string, status: number, seconds: number): void {
    const name = `${method} ${route} ${status}`;
    let series = this.known.get(name);
    if (series === undefined) {
      series = this.durations.labels(method, route, String(status));
      this.known.set(name, series);
    }
    series.observe(seconds);
  }

  fault(): void {
    this.faults.inc();
  }
}
