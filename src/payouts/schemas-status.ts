import type { PayoutStatus } from '../db/entities/payouts.js';
import { withValues } from '../http/resource.js';

/** The meaning of each state of a payout. (docs/contract.md, Payouts) */
export const STATUS_MEANING = withValues<PayoutStatus>(
  'The state; `status_transitions` lists the earlier ones.',
  {
    pending_approval: 'other members must approve it. Becomes `approved`, `rejected` or `canceled`',
    approved:
      'it is sent to its rail within seconds. Becomes `in_progress`; `canceled`; or `failed` if the holder of its key has changed',
    in_progress: 'the rail may have it, and it cannot be canceled. Becomes `completed` or `failed`',
    completed: 'it was paid. Becomes `returned` if the bank returns it',
    returned: 'the bank returned it, and the account has the amount again. Final',
    rejected: 'an approver or a rule refused it, as `rejection` says. Final',
    canceled: 'it was canceled before its rail had it, or not approved in time. Final',
    failed: 'it was not paid, as `failure` says. Becomes `completed` only if it was paid after all',
  },
);
