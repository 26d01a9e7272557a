import { Gauge, type Registry } from 'prom-client';
import { metersOf } from '../core/meters.js';
import type { PoolName, PoolUse } from './connections.js';

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** `lock`: a locking read, which mostly waits for locks. `many`: several statements at once. */
export type StatementKind = 'read' | 'lock' | 'write' | 'many' | 'commit';

export interface StatementObserver {
  connectionAcquired(pool: PoolName, seconds: number): void;
  connectionMissed(pool: PoolName): void;
  answered(pool: PoolName, kind: StatementKind, seconds: number): void;
  /** `errno` is null if MySQL did not respond. */
  failed(pool: PoolName, errno: number | null): void;
}

export const NO_OBSERVER: StatementObserver = {
  connectionAcquired: () => undefined,
  connectionMissed: () => undefined,
  answered: () => undefined,
  failed: () => undefined,
};

/** Lock wait timeout, deadlock, disk full, table full. */
const ALERTED_ERRORS = ['1205', '1213', '1021', '1114'] as const;

interface Series {
  observe(seconds: number): void;
}

export function statementMetrics(registry: Registry): StatementObserver {
  const { counter, histogram } = metersOf(registry);
  const waits = histogram(
    'mysql_connection_wait_seconds',
    'Time spent waiting for a connection, by pool',
    SECONDS,
    ['pool'],
  );
  const missing = counter(
    'mysql_connections_missed_total',
    'Times no connection of the pool became free in time, or MySQL refused one',
    ['pool'],
  );
  const statements = histogram(
    'mysql_statement_seconds',
    "Time to a statement's answer, by pool and kind; lock: including the wait for the rows it locks",
    SECONDS,
    ['pool', 'kind'],
  );
  const failures = counter(
    'mysql_statement_failures_total',
    "Failed statements, by MySQL's error number; 1205: lock wait timeout, 1213: deadlock",
    ['pool', 'errno'],
  );
  // Prometheus sees an increase only from an existing 0, so series with alerts start there.
  for (const errno of ALERTED_ERRORS) failures.inc({ pool: 'transactions', errno }, 0);
  // Caches each series, because finding it by its labels costs more than the measured operation.
  const series = new Map<string, Series>();
  const seriesOf = (name: string, open: () => Series): Series => {
    let one = series.get(name);
    if (one === undefined) series.set(name, (one = open()));
    return one;
  };
  return {
    connectionAcquired: (pool, seconds) =>
      seriesOf(pool, () => waits.labels(pool)).observe(seconds),
    connectionMissed: (pool) => missing.inc({ pool }),
    answered: (pool, kind, seconds) =>
      seriesOf(`${pool} ${kind}`, () => statements.labels(pool, kind)).observe(seconds),
    failed: (pool, errno) =>
      failures.inc({ pool, errno: errno === null ? 'none' : errno.toString() }),
  };
}

export function poolMetrics(
  registry: Registry,
  database: { isPrimaryKnown(): boolean; poolUse(): ReadonlyMap<PoolName, PoolUse> },
): void {
  new Gauge({
    name: 'mysql_up',
    help: '1 while this process sees a MySQL server that takes writes',
    registers: [registry],
    collect() {
      this.set(database.isPrimaryKnown() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'mysql_connections',
    help: 'Connections by pool: in use, waited for, and the maximum',
    labelNames: ['pool', 'state'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const [pool, { used, waiting, limit }] of database.poolUse()) {
        this.set({ pool, state: 'used' }, used);
        this.set({ pool, state: 'waiting' }, waiting);
        this.set({ pool, state: 'limit' }, limit);
      }
    },
  });
}
