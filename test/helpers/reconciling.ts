import { instant } from '../../src/core/instant.js';
import type { Core } from '../../src/processes/build-core.js';
import { reconciliationSweep } from '../../src/temporal/reconciliation.js';
import type { WorkflowResource } from '../../src/temporal/workflow-resources.js';

/**
 * Runs one pass of the reconciliation, as if two minutes had passed. Returns the number of
 * resources whose workflow was missing or showed another status.
 */
export async function reconcile(
  { core }: { readonly core: Pick<Core, 'database' | 'outbox' | 'client'> },
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
