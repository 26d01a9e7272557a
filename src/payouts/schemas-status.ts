import type { PayoutStatus } from '../db/entities/payouts.js';
import { withValues } from '../http/resource.js';
import { type FailureCode, FAILURES } from './rails/rail.js';
import { EXPIRED } from './rules.js';

const REMEDIES: Readonly<Record<FailureCode | typeof EXPIRED.failureCode, string>> = {
  account_unknown: 'Ask the holder for the right account',
  account_closed: 'Ask the holder for another account',
  account_blocked: 'Ask the holder for another account',
  holder_mismatch: 'Ask the holder for name, document and account',
  bank_unavailable: 'Pay again later',
  limit_exceeded: 'Pay less, or ask your operator for the limit',
  not_supported: 'Pay to an account elsewhere, or ask your operator',
  rejected_by_bank: 'Ask the holder, or your operator',
  recipient_changed: 'Look the key up again, and ask the recipient before you pay',
  approval_expired: 'Create it again, and have it approved before `approval.expires_at`',
};

/** The values of `failure.code`: what each means, and what to do. */
export const PAYOUT_FAILURES = Object.fromEntries(
  Object.entries<string>({ ...FAILURES, [EXPIRED.failureCode]: EXPIRED.failureMessage }).map(
    ([code, meaning]) => [code, `${meaning}. ${REMEDIES[code as keyof typeof REMEDIES]}`],
  ),
);

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
