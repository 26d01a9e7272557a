/**
 * What the service and its workflows agree on: names, ids, queues, signals, queries and what they carry. Pure: workflows
 * reach this and nothing else of src/temporal. Payloads hold ids, amounts, states and operators' reasons; times are ISO
 * strings, amounts decimal strings. (decisions.md, Secrets and personal data)
 */

/** One queue for each kind of work, so that none starves another. */
export const TASK_QUEUES = { approvals: 'approvals' } as const;
export type TaskQueue = keyof typeof TASK_QUEUES;

export const WORKFLOW_TYPES = { transfer: 'transfer' } as const;
export type WorkflowType = keyof typeof WORKFLOW_TYPES;

/** One workflow for each transfer that waits for approval. */
export function transferWorkflowId(transferId: string): string {
  return `transfer/${transferId}`;
}

/** By these every workflow is found in the Temporal UI: `TenantId="…" AND BusinessStatus="pending_approval"`. All are keywords. */
export const SEARCH_ATTRIBUTES = {
  tenantId: 'TenantId',
  resourceId: 'ResourceId',
  accountId: 'AccountId',
  businessStatus: 'BusinessStatus',
} as const;

export const SIGNALS = {
  /** `{"actor": "<name of active staff>", "reason": "<1 to 140 characters>"}`, as the next two. */
  approve: 'approve',
  reject: 'reject',
  cancel: 'cancel',
  /** Something was decided elsewhere: the workflow reads its resource again. */
  changed: 'changed',
} as const;

export const QUERIES = {
  /** What the resource is, as far as the workflow knows, and in words what it waits for. */
  state: 'state',
} as const;

/** What a workflow that waits for approval is started with. Fixed at its start, whatever the configuration becomes. */
export interface ApprovalWorkflowInput {
  readonly resourceId: string;
  readonly tenantId: string;
}

/** An act of the staff as a signal brought it; what is no text, or too long, came as null. */
export interface StaffAct {
  readonly resourceId: string;
  readonly action: 'approve' | 'reject' | 'cancel';
  readonly actor: string | null;
  readonly reason: string | null;
  /** The same at every retry of the activity, so that the act is recorded once. */
  readonly actId: string;
}

/** Where a resource that waits for approval stands. */
export interface ApprovalState {
  readonly status: string;
  readonly required: number;
  readonly received: number;
  /** ISO, UTC. */
  readonly expiresAt: string;
}

/** What an act came to: where the resource stands after it, and why the act was refused, if it was. */
export interface ActResult {
  readonly state: ApprovalState;
  readonly refused: string | null;
}

/** The answer of the `state` query. */
export interface WaitingState extends ApprovalState {
  readonly waitingFor: string;
  /** The last signal that changed nothing, and why. */
  readonly lastRefusal: string | null;
}
