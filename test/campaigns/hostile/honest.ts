import { setTimeout as sleep } from 'node:timers/promises';
import { LEAST } from '../../support/bank.js';
import type { PayrollBank } from '../../support/batch-workflows.js';

/** What the honest tenant has of the service, in milliseconds. */
export interface Experience {
  /** From request to answer of its transfers. */
  readonly p99: number;
  /** From the upload of a batch of 100 rows until it is ready, the slowest of all. */
  readonly slowestBatch: number;
  readonly batches: number;
}

const ROWS = 100;
const TRANSFER_EVERY_MS = 50;
const BATCH_EVERY_MS = 2_000;

/** Sends transfers and uploads batches until it is over, at least one batch. Throws where anything is refused. */
export async function liveOn(payroll: PayrollBank, isOver: () => boolean): Promise<Experience> {
  const [transfers, batches]: [number[], number[]] = [[], []];
  await Promise.all([
    again(TRANSFER_EVERY_MS, isOver, async () => {
      const [to] = payroll.people;
      const began = performance.now();
      await payroll.bank.sent({ from: payroll.source, to: to!, raw: LEAST });
      transfers.push(performance.now() - began);
    }),
    again(BATCH_EVERY_MS, isOver, async () => {
      const began = performance.now();
      await payroll.ready(ROWS);
      batches.push(performance.now() - began);
    }),
  ]);
  return {
    p99: percentile99(transfers),
    slowestBatch: Math.round(Math.max(...batches)),
    batches: batches.length,
  };
}

async function again(everyMs: number, isOver: () => boolean, act: () => Promise<void>): Promise<void> {
  do {
    await act();
    await sleep(everyMs);
  } while (!isOver());
}

function percentile99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0);
}
