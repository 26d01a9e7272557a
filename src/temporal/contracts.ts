/**
 * Shared by the service and its workflows, which import nothing else from src/temporal. Payloads
 * contain ids, amounts, states and reasons; times are ISO strings, amounts decimal strings.
 * (docs/contract.md, Secrets and personal data)
 */

/** Each kind of work has a queue, so that it does not delay other kinds. */
export const TASK_QUEUES = ['approvals', 'payouts', 'batches', 'webhooks'] as const;
export type TaskQueue = (typeof TASK_QUEUES)[number];

/** Each rail has a queue, so that a slow one delays only its own payouts. */
export function railQueue(rail: string): string {
  return `payouts/${rail}`;
}

export const WORKFLOW_TYPES = [
  'transfer',
  'payout',
  'bonusBatch',
  'payoutBatch',
  'webhookEndpoint',
  'schedule',
  'ledgerAudit',
] as const;
export type WorkflowType = (typeof WORKFLOW_TYPES)[number];

export const transferWorkflowId = (id: string): string => `transfer/${id}`;
export const payoutWorkflowId = (id: string): string => `payout/${id}`;
export const batchWorkflowId = (id: string): string => `bonus-batch/${id}`;
export const payoutBatchWorkflowId = (id: string): string => `payout-batch/${id}`;
export const webhookWorkflowId = (id: string): string => `webhook/${id}`;
export const scheduleWorkflowId = (id: string): string => `schedule/${id}`;

export const WORKFLOW_ID_OF = {
  transfer: transferWorkflowId,
  payout: payoutWorkflowId,
  bonus_batch: batchWorkflowId,
  payout_batch: payoutBatchWorkflowId,
  webhook_endpoint: webhookWorkflowId,
  schedule: scheduleWorkflowId,
} as const;

/** The schedule's id, and prefix of its workflow ids. */
export const AUDIT_SCHEDULE_ID = 'ledger-audit';

export interface AuditResult {
  readonly findings: number;
  /** Shows a later audit whether the database was put back to an earlier moment. */
  readonly checkpoint: unknown;
}

export interface AuditProgress extends AuditResult {
  /** Number of checks completed in this pass. */
  readonly reached: number;
}

/** Search attributes of type Keyword. `Amount` is text, because an Int of the SDK is a float. */
export const SEARCH_ATTRIBUTES = {
  tenantId: 'TenantId',
  resourceId: 'ResourceId',
  accountId: 'AccountId',
  businessStatus: 'BusinessStatus',
  amount: 'Amount',
} as const;

export const SIGNALS = {
  /** Content: `{"actor": "<active staff>", "reason": "<1 to 140 characters>", "code": "<digits>"}`. */
  approve: 'approve',
  reject: 'reject',
  cancel: 'cancel',
  /** The workflow reads its resource again. */
  changed: 'changed',
} as const;

export const QUERIES = {
  /** The resource's state as last read, and what the workflow waits for. */
  state: 'state',
} as const;

export interface ContinuedInput {
  /** Shown in the UI next to the id of a first run. */
  readonly summary: string;
  /** Undefined in a first run. */
  readonly lastRefusal?: string | null;
  /** The workflow reads its resource again after this long without a signal. */
  readonly lookAgainMs: number;
}

/** Input without the fields of `ContinuedInput`, which the relay adds. */
export type ResourceInput<Input extends ContinuedInput> = Omit<Input, keyof ContinuedInput>;

/** Input of a workflow. Later changes of the configuration do not affect it. */
export interface ApprovalWorkflowInput extends ContinuedInput {
  readonly resourceId: string;
  readonly tenantId: string;
}

export interface PayoutWorkflowInput extends ApprovalWorkflowInput {
  /** Intervals of status requests: each is twice the previous one, up to `longestMs`. */
  readonly polling: { readonly firstMs: number; readonly longestMs: number };
  /** Status requests that earlier runs have sent. */
  readonly asked?: number;
}

/** A field is null if it is not a text or is too long. */
interface SignalContent {
  readonly actor: string | null;
  readonly reason: string | null;
  readonly code: string | null;
  /** Position among the run's signals of this name, from 1, which finds it in the history. */
  readonly number: number;
}

/** Valid names and reasons are shorter. */
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
  /** Id shared by all retries, so that the action is recorded once. */
  readonly actionId: string;
}

export interface StaffActionSignal extends StaffSignal {
  readonly resourceId: string;
  readonly action: 'approve' | 'reject' | 'cancel';
}

export interface ApprovalState {
  readonly status: string;
  readonly required: number;
  readonly received: number;
  readonly expiresAt: string;
  /** The payout's rail, if the worker that answered has it configured. */
  readonly rail?: string;
  /** True if a payout waits for its rail, for a worker, or for its account to be unfrozen. */
  readonly isHeld?: boolean;
  readonly isFrozen?: boolean;
  /** True if it waits for the rail to say who holds its key. Its workflow asks again by itself. */
  readonly isUnresolved?: boolean;
  /** False if no worker took the rail's call in time. One that starts later does not notify. */
  readonly isServed?: boolean;
}

export interface StaffActionResult {
  readonly state: ApprovalState;
  readonly refused: string | null;
}

export interface WaitingState extends ApprovalState {
  readonly waitingFor: string;
  readonly lastRefusal: string | null;
}

/** Signals from staff, with the content of `SIGNALS.approve`. */
export const ENDPOINT_SIGNALS = ['pause', 'resume', 'retry_now'] as const;

export interface WebhookWorkflowInput extends ContinuedInput {
  readonly endpointId: string;
}

export interface EndpointActionSignal extends StaffSignal {
  readonly endpointId: string;
  readonly action: (typeof ENDPOINT_SIGNALS)[number];
}

export interface EndpointView {
  /** End of the backoff, RFC 3339; null without one. The column `next_due_at` is the dispatcher's. */
  readonly nextDueAt: string | null;
  readonly status: string;
  readonly isPaused: boolean;
  readonly waitingFor: string;
  readonly isOver: boolean;
}

/** Signals from staff, with the content of `SIGNALS.approve`. */
export const BATCH_SIGNALS = ['pause', 'resume', 'cancel'] as const;

export interface BatchWorkflowInput extends ContinuedInput {
  readonly batchId: string;
  /** Absent if the run continues another. */
  readonly status?: string;
}

export interface BatchActionSignal extends StaffSignal {
  readonly batchId: string;
  readonly action: (typeof BATCH_SIGNALS)[number];
}

export interface BatchState {
  readonly status: string;
  /** Formatted like the search attribute. Null until the file is validated. */
  readonly amount: string | null;
  readonly rows: number;
  readonly rejected: number;
  readonly paid: number;
  readonly failed: number;
  /** True if no row is paid until staff resume the executing batch. */
  readonly isPaused: boolean;
  readonly pauseReason: string | null;
  /** Why it was rejected although the file was accepted. */
  readonly rejection: string | null;
}

/** `unavailable`: MySQL did not return the remaining rows. */
export interface BatchPayment {
  readonly state: BatchState;
  readonly end: 'over' | 'paused' | 'interrupted' | 'unavailable';
}

/** Signals from staff, with the content of `SIGNALS.approve`. */
export const SCHEDULE_SIGNALS = ['pause', 'resume', 'cancel'] as const;

export interface ScheduleWorkflowInput extends ContinuedInput {
  readonly scheduleId: string;
}

export interface ScheduleActionSignal extends StaffSignal {
  readonly scheduleId: string;
  readonly action: (typeof SCHEDULE_SIGNALS)[number];
}

export interface ScheduleState {
  readonly status: string;
  /** RFC 3339. Null unless it is active. */
  readonly nextRunAt: string | null;
  /** Time until the next run by the clock of MySQL: 0 if it is due, null without one. */
  readonly dueInMs: number | null;
  readonly runs: number;
  /** The result of the last run. Null before the first. */
  readonly lastResult: string | null;
}
