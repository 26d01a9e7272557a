import { condition, workflowInfo } from '@temporalio/workflow';
import type {
  ApprovalState,
  ApprovalWorkflowInput,
  StaffActionResult,
  StaffActionSignal,
  WaitingState,
} from '../src/temporal/contracts.js';
import { clockTime, Notice, setHandlers, showStatus } from './common.js';
import { counted } from '../src/core/collections.js';

/** Temporal may run each activity twice or late. */
interface ApprovalActivities {
  read(resourceId: string): Promise<ApprovalState>;
  perform(signal: StaffActionSignal): Promise<StaffActionResult>;
  /** Expires the resource if that is due, and returns its state. */
  expire(resourceId: string): Promise<ApprovalState>;
}

const STAFF_SIGNALS = ['approve', 'reject', 'cancel'] as const;
const PENDING = 'pending_approval';
const HELD = 'held';

/** Delay of the workflow's own expiry, because the sweeper usually expires resources within a second. */
const AFTER_THE_SWEEPER_MS = 5_000;

/** Receives a workflow's signals, and shows its state in the Temporal UI. */
export class WorkflowInterface {
  state: WaitingState | null = null;
  /** Staff signals that were received and not handled yet. */
  private readonly staffSignals: StaffActionSignal[] = [];
  private isChanged = true;
  private readonly waitsFor: (state: ApprovalState) => string | null;
  private readonly notice: Notice;

  /** `waitsFor` describes what a state that is neither final nor pending waits for. */
  constructor(
    private readonly resourceName: string,
    input: ApprovalWorkflowInput,
    waitsFor: WorkflowInterface['waitsFor'] = () => null,
  ) {
    const { resourceId } = input;
    this.notice = new Notice(input);
    this.waitsFor = waitsFor;
    setHandlers({
      actions: STAFF_SIGNALS,
      onAction: (signal) => void this.staffSignals.push({ resourceId, ...signal }),
      onChanged: () => void (this.isChanged = true),
      stateOf: () => this.state,
      describe: (action) => `${action} the ${resourceName}`,
      changed: `The ${resourceName}'s state has changed: read it again.`,
      state: 'Its state, and what it waits for.',
    });
  }

  /** True if staff signals wait, which would be lost if the run ended. */
  get hasStaffSignals(): boolean {
    return this.staffSignals.length > 0;
  }

  get hasSignals(): boolean {
    return this.staffSignals.length > 0 || this.isChanged;
  }

  /** Handles the oldest signal. Returns null without one. */
  async handleSignal(
    activities: ApprovalActivities,
    resourceId: string,
  ): Promise<WaitingState | null> {
    const signal = this.staffSignals.shift();
    if (signal !== undefined) return this.recordResult(signal, await activities.perform(signal));
    if (!this.isChanged) return null;
    this.isChanged = false;
    return this.update(await activities.read(resourceId));
  }

  update(state: ApprovalState): WaitingState {
    const waitingFor = this.waitsFor(state) ?? describeWait(this.resourceName, state);
    this.state = { ...state, waitingFor, lastRefusal: this.notice.lastRefusal };
    showStatus(state.status);
    this.notice.show(waitingFor);
    return this.state;
  }

  nextInput<Input extends ApprovalWorkflowInput>(input: Input): Input {
    return this.notice.nextInput(input);
  }

  private recordResult(
    signal: StaffActionSignal,
    { state, refused }: StaffActionResult,
  ): WaitingState {
    if (refused !== null) this.notice.recordRefusal(signal, refused);
    return this.update(state);
  }
}

/** Waits until the resource is neither pending nor held. `restart` continues the workflow as a new run. */
export async function waitForApproval(
  ui: WorkflowInterface,
  { resourceId, lookAgainMs }: ApprovalWorkflowInput,
  activities: ApprovalActivities,
  restart: () => Promise<never>,
): Promise<WaitingState> {
  for (;;) {
    const state =
      (await ui.handleSignal(activities, resourceId)) ??
      ui.update(await activities.expire(resourceId));
    const isWaiting = state.status === PENDING || state.status === HELD;
    if (isWaiting && !ui.hasStaffSignals && workflowInfo().continueAsNewSuggested) await restart();
    if (ui.hasSignals) continue;
    if (!isWaiting) return state;
    const untilDueMs = Date.parse(state.expiresAt) - Date.now() + AFTER_THE_SWEEPER_MS;
    // Limited, because notifications may be lost in a restore of Temporal.
    await condition(
      () => ui.hasSignals,
      Math.min(lookAgainMs, Math.max(untilDueMs, AFTER_THE_SWEEPER_MS)),
      {
        summary:
          untilDueMs > lookAgainMs ? 'Regular check for changes' : `Expiry of ${state.status}`,
      },
    );
  }
}

function describeWait(
  resourceName: string,
  { status, required, received, expiresAt }: ApprovalState,
): string {
  if (status === HELD)
    return `Held until it is captured or canceled; expires ${clockTime(new Date(expiresAt))}.`;
  if (status !== PENDING) return `The ${resourceName} is ${status}. Nothing is waited for.`;
  const missing = required - received;
  return `Waiting for ${missing} of ${counted(required, 'approval')}; expires ${clockTime(new Date(expiresAt))}.`;
}
