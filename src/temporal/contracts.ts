/**
 * What the service and its workflows agree on: names, ids, queues, signals, queries and their contents. Pure: workflows
 * import nothing else from src/temporal. Payloads hold ids, amounts, states and operators' reasons; times are ISO
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

/** Each rail has its own queue, so a rail that hangs delays only its own payouts. */
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

/** One workflow for each payout, until it has ended. */
export function payoutWorkflowId(payoutId: string): string {
  return `payout/${payoutId}`;
}

/** The id of the workflow that takes the staff's signals about a resource. */
export const WORKFLOW_ID_OF = {
  transfer: transferWorkflowId,
  payout: payoutWorkflowId,
  bonus_batch: batchWorkflowId,
  webhook_endpoint: webhookWorkflowId,
} as const;

/** The schedule that starts audits, and the prefix of these workflows' ids. */
export const AUDIT_SCHEDULE_ID = 'ledger-audit';

/** The result of an audit, which the next one receives. */
export interface AuditResult {
  /** Contradictions, including known ones. */
  readonly findings: number;
  /** Rows that existed, by which a rolled-back database is noticed. */
  readonly checkpoint: unknown;
}

/** The details of an audit's heartbeats. */
export interface AuditProgress extends AuditResult {
  /** The number of checks that are done. */
  readonly reached: number;
}

/** For finding workflows in the Temporal UI: `TenantId="…" AND BusinessStatus="pending_approval"`. All are keywords. */
export const SEARCH_ATTRIBUTES = {
  tenantId: 'TenantId',
  resourceId: 'ResourceId',
  accountId: 'AccountId',
  businessStatus: 'BusinessStatus',
} as const;

export const SIGNALS = {
  /**
   * `{"actor": "<name of active staff>", "reason": "<1 to 140 characters>", "code": "<six digits>"}`, like the next
   * two.
   */
  approve: 'approve',
  reject: 'reject',
  cancel: 'cancel',
  /** Something was decided elsewhere: the workflow reads its resource again. */
  changed: 'changed',
} as const;

export const QUERIES = {
  /** The resource's state as the workflow knows it, and in words what it waits for. */
  state: 'state',
} as const;

/** What a run passes on when it continues as new, since Temporal does not. */
export interface HandedOn {
  /** The summary that the UI shows beside the id of a first run. */
  readonly summary: string;
  /** The last signal that changed nothing, and why; undefined in a first run. */
  readonly lastRefusal?: string | null;
  /** The longest wait before the workflow reads its resource again, although no signal has arrived. */
  readonly lookAgainMs: number;
}

/** The part of a workflow's input that its resource determines. The relay adds the rest. */
export type ResourceInput<Input extends HandedOn> = Omit<Input, keyof HandedOn>;

/** The input of a workflow that waits for approval. Fixed when it starts, whatever the configuration becomes. */
export interface ApprovalWorkflowInput extends HandedOn {
  readonly resourceId: string;
  readonly tenantId: string;
}

/** The same for a payout, which then waits for its rail. */
export interface PayoutWorkflowInput extends ApprovalWorkflowInput {
  /** How long to wait before asking the rail again: the first pause, each one twice the last, up to the longest. */
  readonly polling: { readonly firstMs: number; readonly longestMs: number };
  /** How often it has been asked, if the workflow continues an earlier run. */
  readonly asked?: number;
}

/** The contents of a signal from the staff; anything that is not text, or is too long, is null. */
export interface SignedText {
  readonly actor: string | null;
  readonly reason: string | null;
  /** From the actor's authenticator, when the signal was sent. */
  readonly code: string | null;
  /** The ordinal of the signal among those of its name in this run, from 1: it is found in the history by it. */
  readonly number: number;
}

/** No valid name or reason is longer; anything that is has no place in an activity's history. */
const MAX_TEXT = 300;

export function signedText(given: unknown): Omit<SignedText, 'number'> {
  const { actor, reason, code } = (
    typeof given === 'object' && given !== null ? given : {}
  ) as Record<string, unknown>;
  return { actor: textOf(actor), reason: textOf(reason), code: textOf(code) };
}

function textOf(given: unknown): string | null {
  return typeof given === 'string' && given.length <= MAX_TEXT ? given : null;
}

export interface SignedAct extends SignedText {
  readonly action: string;
  /** The same for every retry of the activity, so that the act is recorded once. */
  readonly actId: string;
}

export interface StaffAct extends SignedAct {
  readonly resourceId: string;
  readonly action: 'approve' | 'reject' | 'cancel';
}

export interface ApprovalState {
  readonly status: string;
  readonly required: number;
  readonly received: number;
  /** ISO, UTC. */
  readonly expiresAt: string;
  /** For a payout: its rail, if workers serve its queue. */
  readonly rail?: string;
  /** For a payout: true if its rail does not answer, or its account may not send, so that it was not handed over. */
  readonly isHeld?: boolean;
  /** True if that was because of its account. */
  readonly isFrozen?: boolean;
  /** False if that was because no worker served the rail's queue: nobody announces when one does. */
  readonly isServed?: boolean;
}

/** The result of an act: the state of the resource after it, and why the act was refused, if it was. */
export interface ActResult {
  readonly state: ApprovalState;
  readonly refused: string | null;
}

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

export interface EndpointAct extends SignedAct {
  readonly endpointId: string;
  readonly action: (typeof ENDPOINT_SIGNALS)[number];
}

/** What a webhook endpoint waits for, as its workflow shows it. */
export interface EndpointView {
  /** RFC 3339. When the endpoint's backoff ends; null if nothing waits, or the dispatcher has been asked to send. */
  readonly nextDueAt: string | null;
  readonly status: string;
  readonly isPaused: boolean;
  readonly waitingFor: string;
  /** True once the endpoint is deleted. */
  readonly isOver: boolean;
}

/** What the staff can ask of a batch by a signal: `{"actor": …, "reason": …, "code": …}` as above. */
export const BATCH_SIGNALS = ['pause', 'resume', 'cancel'] as const;

export interface BatchWorkflowInput extends HandedOn {
  readonly batchId: string;
  /** The batch's status when the workflow was requested. Absent in a run that continues another. */
  readonly status?: string;
}

/** Like StaffAct, for a batch. */
export interface BatchAct extends SignedAct {
  readonly batchId: string;
  readonly action: (typeof BATCH_SIGNALS)[number];
}

export interface BatchState {
  readonly status: string;
  readonly rows: number;
  readonly rejected: number;
  readonly paid: number;
  readonly failed: number;
  /** It is executing, but nothing is paid until it is resumed. */
  readonly isPaused: boolean;
  readonly pauseReason: string | null;
  /** Why it is rejected although its file was accepted. */
  readonly rejection: string | null;
}

/** The result of paying for a while. `unavailable`: MySQL does not say what is left; try again later. */
export interface BatchPayment {
  readonly state: BatchState;
  readonly end: 'over' | 'paused' | 'cut_off' | 'unavailable';
}
