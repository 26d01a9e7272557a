import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { TransferActivities } from '../activities/transfers.js';
import type { ApprovalState, ApprovalWorkflowInput } from '../src/temporal/contracts.js';
import { WorkflowInterface, waitForApproval } from './approval.js';
import { ATTEMPT } from './common.js';

const { readTransfer, actOnTransfer, expireTransfer } =
  proxyActivities<TransferActivities>(ATTEMPT);

/** Workflow of a transfer that waits for approval. Its id is `transfer/{id}`. */
export async function transfer(input: ApprovalWorkflowInput): Promise<ApprovalState> {
  const activities = { read: readTransfer, act: actOnTransfer, expire: expireTransfer };
  const front = new WorkflowInterface('transfer', input);
  return waitForApproval(front, input, activities, () =>
    continueAsNew<typeof transfer>(front.nextInput(input)),
  );
}
