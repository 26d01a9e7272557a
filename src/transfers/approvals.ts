import { Approvals } from '../approvals/service.js';
import type { Clock } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import type { Transfer } from '../db/entities/operations.js';
import type { PostingDesk } from '../ledger/desk/desk.js';
import type { OutboxNotifier } from '../temporal/outbox-notifier.js';
import { transferApproval } from './approval-outcomes.js';

/** What may be done with a transfer that waits for approval: by members, by the staff, by time. */
export class TransferApprovals extends Approvals<Transfer> {
  constructor(desk: PostingDesk, reader: Reader, clock: Clock, notifier: Pick<OutboxNotifier, 'notify'>) {
    super(transferApproval, desk, reader, clock, notifier);
  }
}
