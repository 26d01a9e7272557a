import { Approvals } from '../approvals/service.js';
import type { Clock } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import type { Transfer } from '../db/entities/operations.js';
import type { PostingDesk } from '../ledger/desk/desk.js';
import type { OutboxNotifier } from '../temporal/outbox-notifier.js';
import { transferApproval } from './approval-outcomes.js';

/** What members, the staff and time do to a transfer that waits for approval. */
export class TransferApprovals extends Approvals<Transfer> {
  constructor(desk: PostingDesk, reader: Reader, clock: Clock, notifier: Pick<OutboxNotifier, 'notify'>) {
    super(transferApproval, desk, reader, clock, notifier);
  }
}
