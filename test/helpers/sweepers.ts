import type { Database } from '../../src/db/database.js';
import { type Sweep, Sweeper } from '../../src/temporal/sweeper.js';

/** A sweeper, and the names of the sweeps that it has done, failed at and lost. */
export interface ObservedSweeper {
  readonly sweeper: Sweeper;
  readonly swept: string[];
  readonly failed: string[];
  readonly lost: string[];
}

/** Returns a sweeper as a worker process of its own has it. It is not started. */
export function sweeperOf(
  database: Database,
  sweeps: readonly Sweep[],
  beforeRenewal?: () => Promise<void>,
): ObservedSweeper {
  const [swept, failed, lost]: string[][] = [[], [], []];
  const observer = {
    swept: (name: string) => void swept!.push(name),
    failed: (name: string) => void failed!.push(name),
    lost: (name: string) => void lost!.push(name),
    renewalFailed: () => undefined,
    holds: () => undefined,
  };
  const own = beforeRenewal === undefined ? {} : { beforeRenewal };
  const sweeper = new Sweeper({ database, sweeps, label: 'test', observer, ...own });
  return { sweeper, swept: swept!, failed: failed!, lost: lost! };
}
