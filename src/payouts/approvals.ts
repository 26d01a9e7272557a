import { Approvals } from '../approvals/service.js';
import type { Clock } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import type { Payout } from '../db/entities/payouts.js';
import type { PostingDesk } from '../ledger/desk/desk.js';
import type { ApprovalState } from '../temporal/contracts.js';
import type { OutboxNotifier } from '../temporal/outbox-notifier.js';
import { payoutApproval } from './approval-outcomes.js';

/** What members, the staff and time do to a payout before the rail has it. */
export class PayoutApprovals extends Approvals<Payout> {
  /** `rails` are those with a queue: the workflow learns the rail from the payout's state. */
  constructor(
    desk: PostingDesk,
    reader: Reader,
    clock: Clock,
    notifier: Pick<OutboxNotifier, 'notify'>,
    private readonly rails: ReadonlySet<string> = new Set(),
  ) {
    super(payoutApproval, desk, reader, clock, notifier);
  }

  override stateOf(payout: Payout): ApprovalState {
    const state = super.stateOf(payout);
    return this.rails.has(payout.rail) ? { ...state, rail: payout.rail } : state;
  }
}
