import type { Uuid } from '../core/ids.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import type { Command, LockedAccount, LockedState } from '../ledger/writer/types.js';

/** The ids of a batch that never change, which every command about it names. */
export interface BatchCommand extends Command {
  readonly batchId: Uuid;
  readonly sourceAccountId: Uuid;
}

export interface MemberCommand extends Command {
  readonly batchId: Uuid;
  readonly sourceAccountId: Uuid | null;
  readonly memberId: Uuid;
  /** The outbox entry that notifies the workflow. */
  readonly outboxId: Uuid;
  /** How long to wait before telling it, in milliseconds. Asked by what begins to be paid: that alone delays others. */
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
