import { Counter, type Registry } from 'prom-client';

/** What happens to the rows of batches. */
export type RowStep = 'validated' | 'settled';

/** Counts rows; the rate shows how fast batches progress. */
export function rowMetrics(registry: Registry): (step: RowStep, rows: number) => void {
  const rows = new Counter({
    name: 'batch_rows_total',
    help: 'Batch rows read and checked (validated), or paid or refused (settled)',
    labelNames: ['step'] as const,
    registers: [registry],
  });
  for (const step of ['validated', 'settled'] as const) rows.inc({ step }, 0);
  return (step, count) => rows.inc({ step }, count);
}
