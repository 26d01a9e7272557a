import type { Uuid } from '../core/ids.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import type { Command, LockedAccount, LockedState } from '../ledger/writer/types.js';

/** Ids of a batch that never change. Every command about a batch contains them. */
export interface BatchCommand extends Command {
  readonly batchId: Uuid;
  readonly sourceAccountId: Uuid;
}

export interface MemberCommand extends Command {
  readonly batchId: Uuid;
  readonly sourceAccountId: Uuid | null;
  readonly memberId: Uuid;
  /** Outbox entry that notifies the workflow. */
  readonly outboxId: Uuid;
  /**
   * Returns the milliseconds to wait before notifying the workflow. Called only when the payment of
   * a batch begins, because only that delays other tenants.
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
