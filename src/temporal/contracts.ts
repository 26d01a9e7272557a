/**
 * What the service and its workflows agree on: names, ids, queues, signals, queries and what they carry. Pure: workflows
 * reach this and nothing else of src/temporal. Payloads hold ids, amounts, states and operators' reasons; times are ISO
 * strings, amounts decimal strings. (docs/contract.md, Secrets and personal data)
 */

/** One queue for each kind of work, so that none starves another. */
export const TASK_QUEUES = {
  approvals: 'approvals',
  payouts: 'payouts',
  batches: 'batches',
  webhooks: 'webhooks',
} as const;
export type TaskQueue = keyof typeof TASK_QUEUES;

/** What is asked of one rail waits in a queue of its own: a rail that hangs holds up its own payouts alone. */
export function railQueue(rail: string): string {
  return `${TASK_QUEUES.payouts}/${rail}`;
}

export const WORKFLOW_TYPES = {
  transfer: 'transfer',
  payout: 'payout',
  bonusBatch: 'bonusBatch',
  webhookEndpoint: 'webhookEndpoint',
  ledgerAudit: 'ledgerAudit',
} as const;
export type WorkflowType = keyof typeof WORKFLOW_TYPES;

/** One workflow for each transfer that waits for approval. */
export function transferWorkflowId(transferId: string): string {
  return `transfer/${transferId}`;
}

/** One workflow for each batch, however many rows it has. */
export function batchWorkflowId(batchId: string): string {
  return `bonus-batch/${batchId}`;
}

/** One workflow for each webhook endpoint, until it is deleted. */
export function webhookWorkflowId(endpointId: string): string {
  return `webhook/${endpointId}`;
}

/** One workflow for each payout, until it has come to an end. */
export function payoutWorkflowId(payoutId: string): string {
  return `payout/${payoutId}`;
}

/** The schedule that starts a step of the audit, and what the ids of these workflows begin with. */
export const AUDIT_SCHEDULE_ID = 'ledger-audit';

/** By these every workflow is found in the Temporal UI: `TenantId="…" AND BusinessStatus="pending_approval"`. All are keywords. */
export const SEARCH_ATTRIBUTES = {
  tenantId: 'TenantId',
  resourceId: 'ResourceId',
  accountId: 'AccountId',
  businessStatus: 'BusinessStatus',
} as const;

export const SIGNALS = {
  /** `{"actor": "<name of active staff>", "reason": "<1 to 140 characters>", "code": "<six digits>"}`, as the next two. */
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

/** What a run that goes on as new is told by the one before: Temporal hands on neither. */
export interface HandedOn {
  /** What the UI shows beside the id of a first run; undefined where an older process started it. */
  readonly summary?: string;
  /** The last signal that changed nothing, and why; undefined in a first run. */
  readonly lastRefusal?: string | null;
  /** It looks again after so long, though nobody has told it anything; undefined where an older process started it. */
  readonly lookAgainMs?: number;
}

/** Where nobody said after how long. */
export const LOOK_AGAIN_MS = 3_600_000;

/** What a workflow that waits for approval is started with. Fixed at its start, whatever the configuration becomes. */
export interface ApprovalWorkflowInput extends HandedOn {
  readonly resourceId: string;
  readonly tenantId: string;
}

/** The same for a payout, which then waits for its rail. */
export interface PayoutWorkflowInput extends ApprovalWorkflowInput {
  /** How long the rail is left alone before it is asked again: the first pause, each twice the last, up to the longest. */
  readonly polling: { readonly firstMs: number; readonly longestMs: number };
  /** How often it has been asked, where the workflow goes on from an earlier run. */
  readonly asked?: number;
}

/** What a signal of the staff brought; what is no text, or too long, came as null. */
export interface SignedText {
  readonly actor: string | null;
  readonly reason: string | null;
  /** Of the actor's authenticator, as the signal was sent; undefined from a worker of before it was asked for. */
  readonly code?: string | null;
  /** Which signal of its name it is in this run, from 1: so it is found in the history. Undefined as the code. */
  readonly number?: number;
}

/** Of the act that a signal asks for. */
export interface SignedAct extends SignedText {
  /** The signal's name. */
  readonly action: string;
  /** The same at every retry of the activity, so that the act is recorded once. */
  readonly actId: string;
}

/** An act of the staff on what waits for approval. */
export interface StaffAct extends SignedAct {
  readonly resourceId: string;
  readonly action: 'approve' | 'reject' | 'cancel';
}

/** Where a resource that waits for approval stands. */
export interface ApprovalState {
  readonly status: string;
  readonly required: number;
  readonly received: number;
  /** ISO, UTC. */
  readonly expiresAt: string;
  /** Of a payout: its rail, where workers serve its queue. Undefined from a worker of before rails had queues. */
  readonly rail?: string;
  /** Of a payout: true where its rail gives no answers, so that it was not brought to it. */
  readonly isHeld?: boolean;
  /** False where it was not because no worker served its rail's queue: nobody tells when one does. */
  readonly isServed?: boolean;
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

/** What an operator can ask of a webhook endpoint by a signal: `{"actor": …, "reason": …, "code": …}` as above. */
export const ENDPOINT_SIGNALS = ['pause', 'resume', 'retry_now'] as const;

export interface WebhookWorkflowInput extends HandedOn {
  readonly endpointId: string;
}

/** As StaffAct, of a webhook endpoint. */
export interface EndpointAct extends SignedAct {
  readonly endpointId: string;
  readonly action: (typeof ENDPOINT_SIGNALS)[number];
}

/** What a look at an endpoint found: how the sending ended, if there was any, and what it waits for now. */
export interface DrainState {
  readonly ended: 'idle' | 'time' | 'stopped' | 'held' | 'taken_over';
  /** ISO, UTC; null: nothing waits for its time. */
  readonly nextDueAt: string | null;
  readonly status: string;
  readonly isPaused: boolean;
  /** In words. */
  readonly waitingFor: string;
  /** Its workflow has nothing more to show: it is deleted, or well where only others have one. Undefined from a worker of before. */
  readonly isOver?: boolean;
}

/** What a step of the audit came to. */
export interface AuditSummary {
  readonly ended: 'idle' | 'rests' | 'done' | 'superseded';
  readonly rows: number;
  readonly findings: number;
}

/** What the staff can ask of a batch by a signal: `{"actor": …, "reason": …, "code": …}` as above. */
export const BATCH_SIGNALS = ['pause', 'resume', 'cancel'] as const;

export interface BatchWorkflowInput extends HandedOn {
  readonly batchId: string;
  /** Where it stood when the workflow was asked for. Runs of an earlier release, and those that continue another, have none. */
  readonly status?: string;
}

/** As StaffAct, of a batch. */
export interface BatchAct extends SignedAct {
  readonly batchId: string;
  readonly action: (typeof BATCH_SIGNALS)[number];
}

/** Where a batch stands. Counts are of its rows. */
export interface BatchState {
  readonly status: string;
  readonly rows: number;
  readonly rejected: number;
  readonly paid: number;
  readonly failed: number;
  /** It is executing, and nothing is paid until it is resumed. */
  readonly isPaused: boolean;
  /** As whoever paused it said. */
  readonly pauseReason: string | null;
  /** Why it is rejected though its file was accepted. */
  readonly rejection: string | null;
}

/** What some time of paying came to. `unavailable`: MySQL tells nothing of what is left; try again later. */
export interface BatchPayment {
  readonly state: BatchState;
  readonly end: 'over' | 'paused' | 'cut_off' | 'unavailable';
}
