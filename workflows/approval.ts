import {
  condition,
  defineQuery,
  defineSignal,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { ApprovalActivities } from '../activities/approvals.js';
import {
  type ActResult,
  type ApprovalState,
  type ApprovalWorkflowInput,
  QUERIES,
  SIGNALS,
  type StaffAct,
  type WaitingState,
} from '../src/temporal/contracts.js';
import { BUSINESS_STATUS, clockTime, readAct } from './common.js';

/** What is the same for everything that waits for approval. */

const STAFF_SIGNALS = ['approve', 'reject', 'cancel'] as const;
const changedSignal = defineSignal(SIGNALS.changed);
const stateQuery = defineQuery<WaitingState | null>(QUERIES.state);
const PENDING = 'pending_approval';

/** The sweeper settles what is due within a second; this timer is for what it could not. */
const AFTER_THE_SWEEPER_MS = 5_000;

/** What came and was not looked at yet. */
interface Inbox {
  readonly acts: StaffAct[];
  isChanged: boolean;
}

function hasMail({ acts, isChanged }: Inbox): boolean {
  return acts.length > 0 || isChanged;
}

/**
 * Waits until the resource is settled: by signals of the staff, by what was decided elsewhere, by time. The activities
 * decide, in MySQL; asked about what is settled already they only say so. `again` continues as new.
 */
export async function waitForApproval(
  what: string,
  { resourceId }: ApprovalWorkflowInput,
  activities: ApprovalActivities,
  again: () => Promise<never>,
): Promise<ApprovalState> {
  const inbox: Inbox = { acts: [], isChanged: true };
  const view = new View(what);
  for (const action of STAFF_SIGNALS)
    setHandler(
      defineSignal<[unknown]>(SIGNALS[action]),
      (given) => void inbox.acts.push({ resourceId, action, ...readAct(given), actId: uuid4() }),
      { description: `${action} the ${what}. Input: {"actor": "<your name as staff>", "reason": "<why>"}` },
    );
  setHandler(changedSignal, () => void (inbox.isChanged = true), { description: 'It changed elsewhere: look again.' });
  setHandler(stateQuery, () => view.state, { description: 'Where it stands, and what it waits for.' });

  const next = async (): Promise<WaitingState> => {
    const act = inbox.acts.shift();
    if (act !== undefined) return view.acted(act, await activities.act(act));
    if (!inbox.isChanged) return view.found(await activities.expire(resourceId));
    inbox.isChanged = false;
    return view.found(await activities.read(resourceId));
  };
  for (;;) {
    const state = await next();
    if (hasMail(inbox)) continue;
    if (state.status !== PENDING) return state;
    if (workflowInfo().continueAsNewSuggested) await again();
    const untilDueMs = Date.parse(state.expiresAt) - Date.now() + AFTER_THE_SWEEPER_MS;
    await condition(() => hasMail(inbox), Math.max(untilDueMs, AFTER_THE_SWEEPER_MS));
  }
}

/** What people see of the workflow: its state, in words too, and the search attribute. */
class View {
  state: WaitingState | null = null;
  private readonly what: string;
  private lastRefusal: string | null = null;

  constructor(what: string) {
    this.what = what;
  }

  found(found: ApprovalState): WaitingState {
    const before = workflowInfo().typedSearchAttributes.get(BUSINESS_STATUS);
    const waitingFor = waitingForOf(this.what, found);
    this.state = { ...found, waitingFor, lastRefusal: this.lastRefusal };
    if (before !== found.status) upsertSearchAttributes([{ key: BUSINESS_STATUS, value: found.status }]);
    setCurrentDetails(this.lastRefusal === null ? waitingFor : `${waitingFor}\n\n${this.lastRefusal}`);
    return this.state;
  }

  acted({ action, actor }: StaffAct, { state, refused }: ActResult): WaitingState {
    if (refused !== null)
      this.lastRefusal = `Refused at ${clockTime(new Date())}: ${action} by ${actor ?? 'nobody'}: ${refused}.`;
    return this.found(state);
  }
}

function waitingForOf(what: string, { status, required, received, expiresAt }: ApprovalState): string {
  if (status !== PENDING) return `The ${what} is ${status}. Nothing is waited for.`;
  const missing = required - received;
  return `Waiting for ${missing} of ${required} approval(s); expires ${clockTime(new Date(expiresAt))}.`;
}
