import { instant } from '../../src/core/instant.js';
import { reconciliationSweep } from '../../src/temporal/reconciliation.js';
import type { WorkflowResource } from '../../src/temporal/workflow-resources.js';
import type { TestWorker } from './temporal-worker.js';

/**
 * Runs one pass of the reconciliation, as if two minutes had passed. Returns the number of
 * resources whose workflow was missing or showed another status.
 */
export async function reconcile(
  { core }: Pick<TestWorker, 'core'>,
  resources: readonly WorkflowResource[],
): Promise<number> {
  let behind = 0;
  await reconciliationSweep({
    ...core,
    resources,
    clock: () => instant(Date.now() + 120_000),
    lookAgainMs: 3_600_000,
    onBehind: (_, count) => void (behind += count),
  }).run(new AbortController().signal);
  return behind;
}
