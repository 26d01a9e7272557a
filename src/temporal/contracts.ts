/**
 * Names, ids, queues, signals, queries and payloads that the service and its workflows share. Pure,
 * because workflows import nothing else from src/temporal. Payloads contain ids, amounts, states
 * and the reasons given by staff. Times are ISO strings, amounts are decimal strings.
 * (docs/contract.md, Secrets and personal data)
 */

/** Task queues. Each kind of work has its own, so that no kind delays another. */
export const TASK_QUEUES = {
  approvals: 'approvals',
  payouts: 'payouts',
  batches: 'batches',
  webhooks: 'webhooks',
} as const;
export type TaskQueue = keyof typeof TASK_QUEUES;

/**
 * Returns the queue of a rail. Each rail has its own, so that a slow rail delays only its own
 * payouts.
 */
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

/** Returns the id of the workflow of a transfer that needs approval. */
export function transferWorkflowId(transferId: string): string {
  return `transfer/${transferId}`;
}

/** Returns the id of the workflow of a batch. */
export function batchWorkflowId(batchId: string): string {
  return `bonus-batch/${batchId}`;
}

/**
 * Returns the id of the workflow of a webhook endpoint, which runs until the endpoint is deleted.
 */
export function webhookWorkflowId(endpointId: string): string {
  return `webhook/${endpointId}`;
}

/** Returns the id of the workflow of a payout, which runs until the payout has ended. */
export function payoutWorkflowId(payoutId: string): string {
  return `payout/${payoutId}`;
}

/** Ids of the workflows that receive the staff's signals about a resource. */
export const WORKFLOW_ID_OF = {
  transfer: transferWorkflowId,
  payout: payoutWorkflowId,
  bonus_batch: batchWorkflowId,
  webhook_endpoint: webhookWorkflowId,
} as const;

/** Id of the schedule that starts audits, and prefix of their workflow ids. */
export const AUDIT_SCHEDULE_ID = 'ledger-audit';

/** Result of an audit, passed on to the next audit. */
export interface AuditResult {
  /** Number of contradictions, including known ones. */
  readonly findings: number;
  /** Position in the data, which shows a later audit whether the database was rolled back. */
  readonly checkpoint: unknown;
}

/** Heartbeat details of an audit. */
export interface AuditProgress extends AuditResult {
  /** Number of completed checks. */
  readonly reached: number;
}

/**
 * Search attributes for finding workflows in the Temporal UI, for example `TenantId="…" AND
 * BusinessStatus="pending_approval"`. All have the type Keyword. `Amount` is a formatted
 * text, because an Int of the SDK is a float.
 */
export const SEARCH_ATTRIBUTES = {
  tenantId: 'TenantId',
  resourceId: 'ResourceId',
  accountId: 'AccountId',
  businessStatus: 'BusinessStatus',
  amount: 'Amount',
} as const;

export const SIGNALS = {
  /**
   * Signal of the staff: `{"actor": "<name of active staff>", "reason": "<1 to 140 characters>",
   * "code": "<six digits>"}`. `reject` and `cancel` have the same content.
   */
  approve: 'approve',
  reject: 'reject',
  cancel: 'cancel',
  /** Notifies the workflow that its resource changed. The workflow reads it again. */
  changed: 'changed',
} as const;

export const QUERIES = {
  /**
   * Returns the resource's state as the workflow last read it, and a text about what the workflow
   * is waiting for.
   */
  state: 'state',
} as const;

/** Input that a run must pass on when it continues as new. */
export interface ContinuedInput {
  /** Summary that the UI shows next to the id of a first run. */
  readonly summary: string;
  /** Last signal that changed nothing, with the reason. Undefined in a first run. */
  readonly lastRefusal?: string | null;
  /** Longest time without a signal after which the workflow reads its resource again. */
  readonly lookAgainMs: number;
}

/** Part of a workflow's input that depends on its resource. The relay adds the other fields. */
export type ResourceInput<Input extends ContinuedInput> = Omit<Input, keyof ContinuedInput>;

/**
 * Input of a workflow that waits for approval. Later changes of the configuration do not affect it.
 */
export interface ApprovalWorkflowInput extends ContinuedInput {
  readonly resourceId: string;
  readonly tenantId: string;
}

/** Input of a payout's workflow, which waits for approval and then for the rail. */
export interface PayoutWorkflowInput extends ApprovalWorkflowInput {
  /**
   * Intervals of status requests to the rail. The first is `firstMs`, and each is twice the
   * previous one, up to `longestMs`.
   */
  readonly polling: { readonly firstMs: number; readonly longestMs: number };
  /** Number of status requests in earlier runs. */
  readonly asked?: number;
}

/** Content of a signal from the staff. A field is null if it is not a text or is too long. */
export interface SignalContent {
  readonly actor: string | null;
  readonly reason: string | null;
  /** Code from the actor's authenticator at the time of the signal. */
  readonly code: string | null;
  /**
   * Ordinal of the signal among the run's signals of this name, from 1. Identifies the signal in
   * the history.
   */
  readonly number: number;
}

/** Upper limit for texts in an activity's history. Valid names and reasons are shorter. */
const MAX_TEXT = 300;

export function parseSignal(given: unknown): Omit<SignalContent, 'number'> {
  const { actor, reason, code } = (
    typeof given === 'object' && given !== null ? given : {}
  ) as Record<string, unknown>;
  return { actor: textOf(actor), reason: textOf(reason), code: textOf(code) };
}

function textOf(given: unknown): string | null {
  return typeof given === 'string' && given.length <= MAX_TEXT ? given : null;
}

export interface StaffSignal extends SignalContent {
  readonly action: string;
  /** Id that all retries of the activity share, so that the action is recorded once. */
  readonly actId: string;
}

export interface StaffActionSignal extends StaffSignal {
  readonly resourceId: string;
  readonly action: 'approve' | 'reject' | 'cancel';
}

export interface ApprovalState {
  readonly status: string;
  readonly required: number;
  readonly received: number;
  /** ISO, UTC. */
  readonly expiresAt: string;
  /** Rail of a payout, if workers serve its queue. */
  readonly rail?: string;
  /**
   * True if a payout was not handed to its rail, because the rail does not respond, its queue is
   * not served, or the account may not send.
   */
  readonly isHeld?: boolean;
  /** True if the payout is held because of its account. */
  readonly isFrozen?: boolean;
  /**
   * False if the payout is held because no worker serves the rail's queue. The workflow is not
   * notified when a worker does.
   */
  readonly isServed?: boolean;
}

/**
 * Result of a staff action: the state of the resource afterwards, and the reason if the action was
 * refused.
 */
export interface StaffActionResult {
  readonly state: ApprovalState;
  readonly refused: string | null;
}

export interface WaitingState extends ApprovalState {
  readonly waitingFor: string;
  /** Last signal that changed nothing, with the reason. */
  readonly lastRefusal: string | null;
}

/** Signals by which staff control a webhook endpoint, with the content of `SIGNALS.approve`. */
export const ENDPOINT_SIGNALS = ['pause', 'resume', 'retry_now'] as const;

export interface WebhookWorkflowInput extends ContinuedInput {
  readonly endpointId: string;
}

export interface EndpointActionSignal extends StaffSignal {
  readonly endpointId: string;
  readonly action: (typeof ENDPOINT_SIGNALS)[number];
}

/** State of an endpoint, and what it is waiting for. */
export interface EndpointView {
  /**
   * End of the endpoint's backoff in RFC 3339. Null if nothing is waiting, or the dispatcher has
   * been asked to send.
   */
  readonly nextDueAt: string | null;
  readonly status: string;
  readonly isPaused: boolean;
  readonly waitingFor: string;
  /** True after the endpoint was deleted. */
  readonly isOver: boolean;
}

/** Signals by which staff control a batch, with the content of `SIGNALS.approve`. */
export const BATCH_SIGNALS = ['pause', 'resume', 'cancel'] as const;

export interface BatchWorkflowInput extends ContinuedInput {
  readonly batchId: string;
  /** Status of the batch when the workflow was started. Absent if the run continues another run. */
  readonly status?: string;
}

/** A staff action on a batch. */
export interface BatchActionSignal extends StaffSignal {
  readonly batchId: string;
  readonly action: (typeof BATCH_SIGNALS)[number];
}

export interface BatchState {
  readonly status: string;
  /** Total, formatted like the search attribute. Null until the file has been validated. */
  readonly amount: string | null;
  readonly rows: number;
  readonly rejected: number;
  readonly paid: number;
  readonly failed: number;
  /** True while the batch is executing and no row is paid until staff resume it. */
  readonly isPaused: boolean;
  readonly pauseReason: string | null;
  /** Reason for a rejection although the file was accepted. */
  readonly rejection: string | null;
}

/**
 * Result of paying rows for a limited time. `unavailable` means that MySQL did not return the
 * remaining rows, so the workflow tries again later.
 */
export interface BatchPayment {
  readonly state: BatchState;
  readonly end: 'over' | 'paused' | 'cut_off' | 'unavailable';
}
