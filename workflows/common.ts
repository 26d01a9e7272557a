import { defineSearchAttributeKey } from '@temporalio/common';
import {
  setCurrentDetails,
  upsertSearchAttributes,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import {
  type HandedOn,
  SEARCH_ATTRIBUTES,
  type SignedAct,
  signedText,
} from '../src/temporal/contracts.js';

/** Shared by several workflows. */

const BUSINESS_STATUS = defineSearchAttributeKey(SEARCH_ATTRIBUTES.businessStatus, 'KEYWORD');

/**
 * An attempt that takes 15 s is lost: a command has 4 s in MySQL. Attempts are repeated for as long as necessary, at
 * most a minute apart, since the work must be done.
 */
export const ATTEMPT = {
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
} as const;

/** The description of every staff signal, shown where Temporal's UI lets people send it. */
export const SIGNED_INPUT =
  'Input: {"actor": "<your name as staff>", "reason": "<why>", "code": "<six digits of your authenticator>"}';

/** The staff's signals to one run. */
export class StaffMail {
  private readonly counts = new Map<string, number>();
  private total = 0;

  /**
   * Who acts, why, and their proof, from the next signal of this name; anything that is not text, or is too long, is
   * null.
   */
  read(name: string, given: unknown): Omit<SignedAct, 'action'> {
    const number = (this.counts.get(name) ?? 0) + 1;
    this.counts.set(name, number);
    this.total += 1;
    return { ...signedText(given), number, actId: newActId(this.total) };
  }
}

/** Like newId's: the audit log is read in order of id. Ids of the same moment are ordered by their number. */
function newActId(number: number): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const place = (number & 0xfff).toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${place}-${uuid4().slice(19)}`;
}

export function clockTime(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

export function showStatus(status: string): void {
  if (workflowInfo().typedSearchAttributes.get(BUSINESS_STATUS) !== status)
    upsertSearchAttributes([{ key: BUSINESS_STATUS, value: status }]);
}

/** What people see of a workflow in the UI: what it waits for, and the last signal that changed nothing. */
export class Notice {
  private readonly summary: string | undefined;
  private refusal: string | null;

  constructor({ summary, lastRefusal }: HandedOn) {
    // The UI itself shows the summary of a first run.
    this.summary = lastRefusal === undefined ? undefined : summary;
    this.refusal = lastRefusal ?? null;
  }

  get lastRefusal(): string | null {
    return this.refusal;
  }

  refused(
    { action, actor }: { readonly action: string; readonly actor: string | null },
    why: string,
  ): void {
    this.refusal = `Refused at ${clockTime(new Date())}: ${action} by ${actor ?? 'nobody'}: ${why}.`;
  }

  show(waitingFor: string): void {
    setCurrentDetails([this.summary, waitingFor, this.refusal].filter((text) => text).join('\n\n'));
  }

  /** The input with which the workflow continues as new. */
  handOn<Input extends HandedOn>(input: Input): Input {
    return { ...input, lastRefusal: this.refusal };
  }
}

/** What people see of a workflow whose resource is in such a state. */
export class View<State> {
  state: State | null = null;

  constructor(
    private readonly notice: Notice,
    private readonly statusOf: (state: State) => string,
    private readonly waitingForOf: (state: State) => string,
  ) {}

  found(state: State): void {
    this.state = state;
    showStatus(this.statusOf(state));
    this.show();
  }

  acted(act: SignedAct, refused: string | null): void {
    if (refused === null) return;
    this.notice.refused(act, refused);
    this.show();
  }

  private show(): void {
    this.notice.show(this.state === null ? '' : this.waitingForOf(this.state));
  }
}
