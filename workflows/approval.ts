import {
  condition,
  defineQuery,
  defineSignal,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ApprovalActivities } from '../activities/approvals.js';
import {
  type StaffActionResult,
  type ApprovalState,
  type ApprovalWorkflowInput,
  QUERIES,
  SIGNALS,
  type StaffActionSignal,
  type WaitingState,
} from '../src/temporal/contracts.js';
import { clockTime, Notice, showStatus, SIGNED_INPUT, SignalReader } from './common.js';
import { counted } from '../src/core/plural.js';

const STAFF_SIGNALS = ['approve', 'reject', 'cancel'] as const;
const changedSignal = defineSignal(SIGNALS.changed);
const stateQuery = defineQuery<WaitingState | null>(QUERIES.state);
const PENDING = 'pending_approval';

/**
 * Delay of the timer after the expiry. It is a fallback, because the sweeper expires resources
 * within a second.
 */
const AFTER_THE_SWEEPER_MS = 5_000;

/** Signals that were received and not handled yet. */
interface Inbox {
  readonly acts: StaffActionSignal[];
  isChanged: boolean;
}

/** A workflow's interface to people: its signals, its state as text, and its search attribute. */
export class WorkflowInterface {
  state: WaitingState | null = null;
  private readonly inbox: Inbox = { acts: [], isChanged: true };
  private readonly waitsFor: (state: ApprovalState) => string | null;
  private readonly notice: Notice;

  /**
   * `waitsFor` returns a text about what the resource is waiting for in a state that is neither
   * final nor waiting for approval.
   */
  constructor(
    private readonly what: string,
    input: ApprovalWorkflowInput,
    waitsFor: WorkflowInterface['waitsFor'] = () => null,
  ) {
    const { resourceId } = input;
    this.notice = new Notice(input);
    this.waitsFor = waitsFor;
    const mail = new SignalReader();
    for (const action of STAFF_SIGNALS)
      setHandler(
        defineSignal<[unknown]>(SIGNALS[action]),
        (given) => void this.inbox.acts.push({ resourceId, action, ...mail.read(action, given) }),
        { description: `${action} the ${what}. ${SIGNED_INPUT}` },
      );
    setHandler(changedSignal, () => void (this.inbox.isChanged = true), {
      description: 'It changed elsewhere: look again.',
    });
    setHandler(stateQuery, () => this.state, {
      description: 'Where it stands, and what it waits for.',
    });
  }

  /** Whether staff signals are queued. They would be lost if the run ended. */
  get hasStaffSignals(): boolean {
    return this.inbox.acts.length > 0;
  }

  get hasSignals(): boolean {
    return this.inbox.acts.length > 0 || this.inbox.isChanged;
  }

  /** Handles the oldest signal and returns the new state, or null without a signal. */
  async handleSignal(
    activities: ApprovalActivities,
    resourceId: string,
  ): Promise<WaitingState | null> {
    const act = this.inbox.acts.shift();
    if (act !== undefined) return this.recordResult(act, await activities.act(act));
    if (!this.inbox.isChanged) return null;
    this.inbox.isChanged = false;
    return this.update(await activities.read(resourceId));
  }

  update(found: ApprovalState): WaitingState {
    const waitingFor = this.waitsFor(found) ?? waitingForOf(this.what, found);
    this.state = { ...found, waitingFor, lastRefusal: this.notice.lastRefusal };
    showStatus(found.status);
    this.notice.show(waitingFor);
    return this.state;
  }

  /** Returns the input for continuing as new. */
  nextInput<Input extends ApprovalWorkflowInput>(input: Input): Input {
    return this.notice.nextInput(input);
  }

  private recordResult(
    act: StaffActionSignal,
    { state, refused }: StaffActionResult,
  ): WaitingState {
    if (refused !== null) this.notice.recordRefusal(act, refused);
    return this.update(state);
  }
}

/**
 * Waits until the resource does not wait for approval, because of signals from the staff, another
 * decision or its expiry. The activities decide in MySQL. `again` continues as new.
 */
export async function waitForApproval(
  front: WorkflowInterface,
  { resourceId, lookAgainMs }: ApprovalWorkflowInput,
  activities: ApprovalActivities,
  again: () => Promise<never>,
): Promise<WaitingState> {
  for (;;) {
    const state =
      (await front.handleSignal(activities, resourceId)) ??
      front.update(await activities.expire(resourceId));
    const isPending = state.status === PENDING;
    if (isPending && !front.hasStaffSignals && workflowInfo().continueAsNewSuggested) await again();
    if (front.hasSignals) continue;
    if (!isPending) return state;
    const untilDueMs = Date.parse(state.expiresAt) - Date.now() + AFTER_THE_SWEEPER_MS;
    // Limited, because if Temporal is restored to an earlier state, lost notifications are not
    // repeated.
    await condition(
      () => front.hasSignals,
      Math.min(lookAgainMs, Math.max(untilDueMs, AFTER_THE_SWEEPER_MS)),
      {
        summary: untilDueMs > lookAgainMs ? 'Regular check for changes' : 'Expiry of the approval',
      },
    );
  }
}

function waitingForOf(
  what: string,
  { status, required, received, expiresAt }: ApprovalState,
): string {
  if (status !== PENDING) return `The ${what} is ${status}. Nothing is waited for.`;
  const missing = required - received;
  return `Waiting for ${missing} of ${counted(required, 'approval')}; expires ${clockTime(new Date(expiresAt))}.`;
}
