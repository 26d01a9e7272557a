import { type Actor, recordOnce } from '../../access/audit-log.js';
import { newId, type Uuid } from '../../core/ids.js';
import type { DatabaseDeps } from '../../db/database.js';
import type { Payout } from '../../db/entities/payouts.js';
import { Outbox } from '../../temporal/outbox.js';

/**
 * Asks the rail again for the outcome of a payout, and notifies its workflow if the status changed.
 * The action is recorded before the rail is called, so that the person is known in any case.
 */
export async function retryByStaff(
  { database, clock }: DatabaseDeps,
  { id: resourceId, tenantId, status }: Payout,
  by: Actor,
  ask: () => Promise<Payout>,
  { reason, actionId = newId() }: { readonly reason?: string; readonly actionId?: Uuid } = {},
): Promise<Payout> {
  const details = { status, ...(reason !== undefined && { reason }) };
  const subject = { subjectType: 'payout', subjectId: resourceId, details } as const;
  await recordOnce({ database, clock }, actionId, by, {
    tenantId,
    action: 'payout.retry',
    ...subject,
  });
  const after = await ask();
  const changed = { tenantId, resourceType: 'payout', resourceId } as const;
  if (after.status !== status) await new Outbox(database, clock).add([changed]);
  return after;
}
