import { continueAsNew } from '@temporalio/workflow';
import type { TransferActivities } from '../activities/approvals.js';
import type { ApprovalState, ApprovalWorkflowInput } from '../src/temporal/contracts.js';
import { waitForApproval, WorkflowInterface } from './approval.js';
import { ATTEMPT, describedActivities } from './common.js';

const { readTransfer, actOnTransfer, expireTransfer } = describedActivities<TransferActivities>(
  ATTEMPT,
  {
    readTransfer: 'Read the transfer',
    actOnTransfer: 'Apply a decision of support to the transfer',
    expireTransfer: 'Read the transfer, and expire it if it is due',
  },
);

/** A transfer that waits for approval, `transfer/{id}`. */
export async function transfer(input: ApprovalWorkflowInput): Promise<ApprovalState> {
  const activities = { read: readTransfer, perform: actOnTransfer, expire: expireTransfer };
  const ui = new WorkflowInterface('transfer', input);
  return waitForApproval(ui, input, activities, () =>
    continueAsNew<typeof transfer>(ui.nextInput(input)),
  );
}
