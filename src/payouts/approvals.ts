import { Approvals } from '../approvals/service.js';
import type { Clock } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import type { Payout } from '../db/entities/payouts.js';
import type { PostingDesk } from '../ledger/desk/desk.js';
import type { Nudge } from '../temporal/nudge.js';
import { payoutApproval } from './settle.js';

/** What may be done with a payout before the rail has it: by members, by the staff, by time. */
export class PayoutApprovals extends Approvals<Payout> {
  constructor(desk: PostingDesk, reader: Reader, clock: Clock, nudge: Pick<Nudge, 'tell'>) {
    super(payoutApproval, desk, reader, clock, nudge);
  }
}
