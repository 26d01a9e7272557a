import type { Registry } from 'prom-client';
import { metersOf } from '../core/meters.js';

export type RowStep = 'validated' | 'settled';

export function rowMetrics(registry: Registry): (step: RowStep, rows: number) => void {
  const rows = metersOf(registry).counter(
    'batch_rows_total',
    'Batch rows read and checked (validated), or paid or refused (settled)',
    ['step'],
  );
  for (const step of ['validated', 'settled'] as const) rows.inc({ step }, 0);
  return (step, count) => rows.inc({ step }, count);
}
