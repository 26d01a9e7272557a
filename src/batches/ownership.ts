import type { Uuid } from '../core/ids.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import type { Command, LockedAccount, LockedState } from '../ledger/writer/types.js';

/** The ids of a batch, which never change. */
export interface BatchCommand extends Command {
  readonly batchId: Uuid;
  readonly sourceAccountId: Uuid;
}

export interface MemberCommand extends Command {
  readonly batchId: Uuid;
  readonly sourceAccountId: Uuid | null;
  readonly memberId: Uuid;
  readonly outboxId: Uuid;
  /**
   * Milliseconds before the workflow is notified, when payment begins, in fairness to other
   * tenants.
   */
  readonly delayMs: () => number;
}

export function findOwnBatch(
  { tenantId, batchId, sourceAccountId }: MemberCommand,
  state: LockedState,
): { readonly batch: BonusBatch; readonly source: LockedAccount } | null {
  const source = sourceAccountId === null ? undefined : state.named(sourceAccountId);
  const batch = source === undefined ? undefined : state.row(bonusBatches, { id: batchId });
  return source === undefined || batch?.tenantId !== tenantId ? null : { batch, source };
}
