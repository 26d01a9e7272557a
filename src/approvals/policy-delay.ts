import { type Actor, recordAction } from '../access/audit-log.js';
import { ApiError, existing, invalidField } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Database, DatabaseDeps } from '../db/database.js';
import { tenants } from '../db/entities/parties.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import type { Sweep } from '../temporal/sweeper.js';
import { recordEffective } from './policy-change.js';

export const MAX_POLICY_DELAY_S = 2_592_000;

/** Null removes the delay. A pending change keeps its time. Throws not_found, invalid_field. */
export async function setPolicyDelay(
  database: Database,
  clock: Clock,
  tenantId: Uuid,
  seconds: number | null,
  actor: Actor,
): Promise<void> {
  if (
    seconds !== null &&
    !(Number.isSafeInteger(seconds) && seconds >= 1 && seconds <= MAX_POLICY_DELAY_S)
  )
    throw new ApiError(invalidField('seconds', 'out_of_range'));
  await transact(database, async (transaction) => {
    const tenant = existing(await transaction.find(tenants, { id: tenantId }, { forUpdate: true }));
    const policyDelayS = seconds ?? 0;
    await transaction.execute(updateSql(tenants, { policyDelayS }, { id: tenantId }));
    const details = { seconds: policyDelayS, before: tenant.policyDelayS };
    const act = {
      tenantId,
      action: 'tenant.set_policy_delay',
      subjectType: 'tenant',
      subjectId: tenantId,
      details,
    };
    await recordAction(transaction, actor, clock(), act);
  });
}

const EVERY_MS = 1_000;
const AT_ONCE = 100;

export function policiesSweep(deps: DatabaseDeps): Sweep {
  return {
    name: 'approval policies',
    everyMs: EVERY_MS,
    run: async () => (await recordEffective(deps, AT_ONCE)) === AT_ONCE,
  };
}
