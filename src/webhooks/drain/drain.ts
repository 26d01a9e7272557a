import type { Uuid } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import { transact } from '../../db/transact.js';
import type { WebhookDeps } from '../deps.js';
import { DrainRun } from './drain-run.js';
import { takeLease } from './lease.js';
import type { DrainOptions, DrainResult, Random } from './types.js';

/** Safe to start twice and to abandon. Throws DatabaseUnavailable. (docs/architecture.md, Events and webhooks) */
export async function drain(
  deps: WebhookDeps,
  endpointId: Uuid,
  options: DrainOptions,
  random: Random = Math.random,
): Promise<DrainResult> {
  const { database, clock } = deps;
  const state = await transact(database, (transaction) =>
    takeLease(transaction, endpointId, clock()),
  );
  if (typeof state === 'string') return { ended: state, attempts: 0, nextDueAt: null };
  const run = new DrainRun(deps, state, options, random);
  const { ended, attempts, nextDueAt } = await run.run();
  return { ended, attempts, nextDueAt: toRfc3339(nextDueAt) };
}
