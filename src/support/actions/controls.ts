import { APPROVAL_ACTIONS, type ApprovalAction, approvalProgress } from '../../approvals/rules.js';
import type { Approvals } from '../../approvals/service.js';
import { performBatchAction } from '../../batches/control.js';
import { CANCELABLE, isPaused, PAUSABLE } from '../../batches/rules.js';
import { formatAmount } from '../../core/amount.js';
import { ApiError } from '../../core/errors.js';
import { counted } from '../../core/collections.js';
import type { Batch, BatchType } from '../../db/entities/batches.js';
import type { Transfer } from '../../db/entities/operations.js';
import type { Payout } from '../../db/entities/payouts.js';
import type { Schedule } from '../../db/entities/schedules.js';
import type { WebhookEndpoint } from '../../db/entities/webhooks.js';
import { actAsStaff } from '../../transfers/schedules/actions.js';
import { movedAmount } from '../../transfers/rules.js';
import { type ScheduleAction, stateRefusal } from '../../transfers/schedules/rules.js';
import {
  type EndpointAction,
  pauseEndpoint,
  resumeEndpoint,
  retryNow,
} from '../../webhooks/staff-actions.js';
import type { DeskDeps } from '../desk.js';
import { destinationText } from '../../payouts/rules.js';
import { inWords, moneyText, sentence } from '../reading/payouts.js';
import type { Names } from '../reading/transfers.js';
import type { DeskAction } from './action.js';

const APPROVAL_WORDS: Readonly<
  Record<ApprovalAction, readonly [label: string, explanation: string]>
> = {
  approve: ['Approve', 'Support counts as one approver, whoever on the staff approves.'],
  reject: [
    'Reject',
    'Ends it against the wish of the requester. No money leaves the account. The tenant can read the reason.',
  ],
  cancel: [
    'Cancel',
    'Ends it because the requester no longer wants it. No money leaves the account. The tenant can read the reason.',
  ],
};

/** Returns how many approvals are missing. 0 if none is waited for. */
function missingOf(row: Transfer | Payout): number {
  const waiting = row.status === 'pending_approval' ? approvalProgress(row) : null;
  return waiting === null ? 0 : waiting.required - waiting.received;
}

function approvalText(row: Transfer | Payout): string {
  const missing = missingOf(row) - 1;
  if (missing > 0)
    return `${APPROVAL_WORDS.approve[1]} After yours, ${counted(missing, 'more approval')} must come from the account's members.`;
  return 'captureWithinS' in row && row.captureWithinS !== null
    ? `Your approval holds ${formatAmount(row)} until a member captures it.`
    : `Your approval moves ${formatAmount(row)} now.`;
}

function doneText(action: ApprovalAction, row: Transfer | Payout, names: Names): string {
  const { status, sourceAccountId, rejectionCode, rejectionReason, asset } = row;
  const [sum, source] = [formatAmount(row), names.account(sourceAccountId)];
  const back = `${sum} is available in ${source} again.`;
  if (action !== 'approve') return `${action === 'reject' ? 'Rejected' : 'Canceled'}. ${back}`;
  const missing = missingOf(row);
  if (missing > 0)
    return `Approved; ${counted(missing, 'more approval')} ${missing === 1 ? 'is' : 'are'} needed.`;
  if (['rejected', 'expired', 'canceled', 'failed', 'returned'].includes(status))
    return `Approved, but then ${inWords(status, inWords(rejectionCode, rejectionReason))}. ${back}`;
  if (!('holderName' in row)) {
    if (status === 'held') return `Approved. ${sum} is held in ${source} until it is captured.`;
    const moved = formatAmount({ raw: movedAmount(row).raw, asset });
    return sentence(`Approved. ${moved} moved to ${names.account(row.destinationAccountId)}`);
  }
  const paid = moneyText(row, source);
  return `Approved. ${paid ?? `${sum} goes to ${destinationText(row)}, and its rail reports when it is paid.`}`;
}

/** Returns the actions on a resource that waits. `rowOf` returns its row from the page's data. */
export function approvalActions<Shown, Row extends Transfer | Payout>(
  noun: Row extends Payout ? 'payout' : 'transfer',
  approvalsOf: (deps: DeskDeps) => Approvals<Row>,
  rowOf: (shown: Shown) => Row,
): readonly DeskAction<Shown>[] {
  return APPROVAL_ACTIONS.map((action) => ({
    verb: action,
    name: `${noun}.${action}` as const,
    label: APPROVAL_WORDS[action][0] + (action === 'cancel' ? ` the ${noun}` : ''),
    explanation: (shown) =>
      action === 'approve' ? approvalText(rowOf(shown)) : APPROVAL_WORDS[action][1],
    done: (after, names) => doneText(action, rowOf(after), names),
    ...(action !== 'approve' && { endsSomething: true as const }),
    isOffered: (shown, by) => {
      const { status, createdBy } = rowOf(shown);
      if (createdBy === by.id && action !== 'cancel') return false;
      return (
        status === 'pending_approval' ||
        (action === 'cancel' && (status === 'approved' || status === 'held'))
      );
    },
    recordsRefusals: true,
    run: async (deps, shown, { by, reason, actionId }) => {
      const { outcome } = await approvalsOf(deps).performByStaff(
        rowOf(shown),
        action,
        by,
        reason,
        actionId,
      );
      if (!outcome.done) throw new ApiError(outcome.refusal);
    },
  }));
}

type BatchAction = Parameters<typeof performBatchAction>[1]['action'];

function batchAction(
  type: BatchType,
  action: BatchAction,
  shown: Omit<DeskAction<Batch>, 'verb' | 'name' | 'recordsRefusals' | 'run'>,
): DeskAction<Batch> {
  return {
    ...shown,
    verb: action,
    name: `${type}.${action}`,
    recordsRefusals: true,
    run: async (deps, { id: batchId }, { by, reason, actionId }) => {
      const result = await performBatchAction(deps, { batchId, action, by, reason, actionId });
      if ('refusal' in result) throw new ApiError(result.refusal);
    },
  };
}

export const batchActions = (type: BatchType): readonly DeskAction<Batch>[] => [
  batchAction(type, 'pause', {
    label: 'Pause',
    explanation: 'Pays no further rows until the batch is resumed.',
    done: 'Paused. No further rows are paid until the batch is resumed.',
    isOffered: (batch) =>
      PAUSABLE.includes(batch.status) && !isPaused(batch) && batch.canceledAt === null,
  }),
  batchAction(type, 'resume', {
    label: 'Resume',
    explanation: 'Continues to pay the remaining rows.',
    done: 'Resumed. The remaining rows are being paid.',
    isOffered: isPaused,
  }),
  batchAction(type, 'cancel', {
    label: 'Cancel the batch',
    explanation: 'Ends the batch. Paid rows stay paid, and all other rows fail.',
    done: 'The batch is being canceled. Paid rows stay paid, and all other rows fail.',
    endsSomething: true,
    isOffered: (batch) => CANCELABLE.includes(batch.status) && batch.canceledAt === null,
  }),
];

function scheduleAction(
  verb: ScheduleAction,
  shown: Pick<DeskAction<Schedule>, 'label' | 'explanation' | 'done' | 'endsSomething'>,
): DeskAction<Schedule> {
  return {
    ...shown,
    verb,
    name: `schedule.${verb}`,
    isOffered: (schedule) => stateRefusal(schedule, verb) === null,
    recordsRefusals: true,
    run: async (deps, { id }, { by, reason, actionId }) => {
      await actAsStaff(deps, id, verb, by, reason, actionId);
    },
  };
}

export const SCHEDULE_ACTIONS = [
  scheduleAction('pause', {
    label: 'Pause',
    explanation: 'Creates no transfers until the schedule is resumed.',
    done: 'Paused. It creates no transfers until it is resumed.',
  }),
  scheduleAction('resume', {
    label: 'Resume',
    explanation: 'Continues with the next run. Runs that were due before are skipped.',
    done: 'Resumed. Runs that were due before are skipped.',
  }),
  scheduleAction('cancel', {
    label: 'Cancel the schedule',
    explanation: 'Ends the schedule. Transfers that it has created stay as they are.',
    done: 'Canceled. It creates no further transfers.',
    endsSomething: true,
  }),
];

function runOf(operation: EndpointAction): DeskAction<WebhookEndpoint>['run'] {
  return async (deps, { id }, { by, reason, actionId }) => {
    await operation(deps, id, by, { reason }, actionId);
  };
}

export const ENDPOINT_ACTIONS: readonly DeskAction<WebhookEndpoint>[] = [
  {
    verb: 'pause',
    name: 'webhook.pause',
    label: 'Pause',
    explanation: 'Sends nothing until the endpoint is resumed. Its deliveries stay in order.',
    done: 'Paused. Nothing is sent until the endpoint is resumed.',
    isOffered: ({ status, pausedAt }) => status !== 'deleted' && pausedAt === null,
    run: runOf(pauseEndpoint),
  },
  {
    verb: 'resume',
    name: 'webhook.resume',
    label: 'Resume',
    explanation: 'Continues to send, in order.',
    done: 'Resumed. The deliveries that waited are being sent, in order.',
    isOffered: ({ status, pausedAt }) => status !== 'deleted' && pausedAt !== null,
    run: runOf(resumeEndpoint),
  },
  {
    verb: 'retry',
    name: 'webhook.retry_now',
    label: 'Retry now',
    explanation: 'Sends all deliveries that wait for a retry now.',
    done: 'All deliveries that waited for a retry are being sent. Reload the page to see the result.',
    isOffered: ({ status, pausedAt }) => status === 'enabled' && pausedAt === null,
    run: runOf(retryNow),
  },
];
