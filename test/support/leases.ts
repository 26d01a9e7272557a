import type { Database } from '../../src/db/database.js';
import { SweepLeases } from '../../src/temporal/sweep-leases.js';
import { leaseNames, type SharedSweep, type Sweep } from '../../src/temporal/sweeper.js';

/** The leases of these sweeps, as a worker process of its own has them. */
export function leasesOf(
  database: Database,
  sweeps: readonly (Sweep | SharedSweep)[],
  label = 'test',
): SweepLeases {
  const unobserved = { failed: () => undefined, lost: () => undefined, holds: () => undefined };
  return new SweepLeases(database, sweeps.flatMap(leaseNames), label, unobserved);
}
