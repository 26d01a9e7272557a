import { defineSearchAttributeKey } from '@temporalio/common';
import { setCurrentDetails, uuid4 } from '@temporalio/workflow';
import { type HandedOn, SEARCH_ATTRIBUTES, type SignedAct } from '../src/temporal/contracts.js';

/** What several workflows have in common. */

export const BUSINESS_STATUS = defineSearchAttributeKey(SEARCH_ATTRIBUTES.businessStatus, 'KEYWORD');

/**
 * An attempt that takes 15 s is lost: a command has 4 s in MySQL. Attempts are repeated for as long as it takes, at most a minute
 * apart, since their work must be done.
 */
export const ATTEMPT = {
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
} as const;

/** No name and no reason is longer; what is, is not worth keeping in the history of an activity. */
const MAX_TEXT = 300;

/** Said with every signal of the staff, where Temporal's UI lets people send it. */
export const SIGNED_INPUT =
  'Input: {"actor": "<your name as staff>", "reason": "<why>", "code": "<six digits of your authenticator>"}';

/** The signals of the staff that one run has got. */
export class StaffMail {
  private readonly counts = new Map<string, number>();
  private total = 0;

  /** Who acts, why, and how they prove it, from whatever the next signal of this name brought; what is no text, or too long, is null. */
  read(name: string, given: unknown): Omit<SignedAct, 'action'> {
    const number = (this.counts.get(name) ?? 0) + 1;
    this.counts.set(name, number);
    const { actor, reason, code } = (typeof given === 'object' && given !== null ? given : {}) as Record<
      string,
      unknown
    >;
    this.total += 1;
    const signed = { actor: textOf(actor), reason: textOf(reason), code: textOf(code), number };
    return { ...signed, actId: newActId(this.total) };
  }
}

/** As newId makes them: the audit log is read in the order of its ids. Those of one moment are ordered by their number. */
function newActId(number: number): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const place = (number & 0xfff).toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${place}-${uuid4().slice(19)}`;
}

function textOf(given: unknown): string | null {
  return typeof given === 'string' && given.length <= MAX_TEXT ? given : null;
}

export function clockTime(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** What people read of a workflow in the UI: what it waits for, and the last signal that changed nothing. */
export class Notice {
  private readonly summary: string | undefined;
  private refusal: string | null;

  constructor({ summary, lastRefusal }: HandedOn) {
    // The UI shows the summary of a first run by itself.
    this.summary = lastRefusal === undefined ? undefined : summary;
    this.refusal = lastRefusal ?? null;
  }

  get lastRefusal(): string | null {
    return this.refusal;
  }

  refused({ action, actor }: { readonly action: string; readonly actor: string | null }, why: string): void {
    this.refusal = `Refused at ${clockTime(new Date())}: ${action} by ${actor ?? 'nobody'}: ${why}.`;
  }

  show(waitingFor: string): void {
    setCurrentDetails([this.summary, waitingFor, this.refusal].filter((text) => text).join('\n\n'));
  }

  /** What the workflow goes on with as new. */
  handOn<Input extends HandedOn>(input: Input): Input {
    return { ...input, lastRefusal: this.refusal };
  }
}
