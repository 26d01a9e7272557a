import { defineSearchAttributeKey } from '@temporalio/common';
import {
  type ActivityInterfaceFor,
  type ActivityOptions,
  proxyActivities,
  setCurrentDetails,
  upsertSearchAttributes,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import {
  type ContinuedInput,
  SEARCH_ATTRIBUTES,
  type StaffSignal,
  parseSignal,
} from '../src/temporal/contracts.js';

const BUSINESS_STATUS = defineSearchAttributeKey(SEARCH_ATTRIBUTES.businessStatus, 'KEYWORD');
const AMOUNT = defineSearchAttributeKey(SEARCH_ATTRIBUTES.amount, 'KEYWORD');

/**
 * Options of short activities. An attempt is lost after 15 s, because a command takes at most 4 s
 * in MySQL. Attempts are repeated without limit, at most a minute apart.
 */
export const ATTEMPT = {
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
} as const;

/** Returns activities, each with the summary that the Temporal UI shows in a workflow's history. */
export function describedActivities<A>(
  options: ActivityOptions,
  summaries: Readonly<Record<keyof A & string, string>>,
): ActivityInterfaceFor<A> {
  const described = Object.entries<string>(summaries).map(([name, summary]) => [
    name,
    proxyActivities<A>({ ...options, summary })[name as keyof A],
  ]);
  return Object.fromEntries(described) as ActivityInterfaceFor<A>;
}

/** Description of every staff signal, shown where Temporal's UI sends signals. */
export const SIGNED_INPUT =
  'Input: {"actor": "<your name as staff>", "reason": "<why>", "code": "<six digits of your authenticator>"}';

/** Staff signals to one run. */
export class SignalReader {
  private readonly counts = new Map<string, number>();
  private total = 0;

  /** Reads the content of a signal. A field is null if it is not a text or is too long. */
  read(name: string, given: unknown): Omit<StaffSignal, 'action'> {
    const number = (this.counts.get(name) ?? 0) + 1;
    this.counts.set(name, number);
    this.total += 1;
    return { ...parseSignal(given), number, actId: newActionId(this.total) };
  }
}

/**
 * Returns an id in time order, like `newId`, because the audit log is read in order of ids. Ids of
 * the same time are ordered by `number`.
 */
function newActionId(number: number): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const place = (number & 0xfff).toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${place}-${uuid4().slice(19)}`;
}

export function clockTime(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Updates the search attributes of the workflow. A null amount leaves `Amount` as it is. */
export function showStatus(status: string, amount: string | null = null): void {
  const shown = workflowInfo().typedSearchAttributes;
  const changed = [
    { key: BUSINESS_STATUS, value: status },
    ...(amount === null ? [] : [{ key: AMOUNT, value: amount }]),
  ].filter(({ key, value }) => shown.get(key) !== value);
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/**
 * Text about a workflow in the Temporal UI: what it is waiting for, and the last signal that
 * changed nothing.
 */
export class Notice {
  private readonly summary: string | undefined;
  private refusal: string | null;

  constructor({ summary, lastRefusal }: ContinuedInput) {
    // The UI itself shows the summary of a first run.
    this.summary = lastRefusal === undefined ? undefined : summary;
    this.refusal = lastRefusal ?? null;
  }

  get lastRefusal(): string | null {
    return this.refusal;
  }

  recordRefusal(
    { action, actor }: { readonly action: string; readonly actor: string | null },
    why: string,
  ): void {
    this.refusal = `Refused at ${clockTime(new Date())}: ${action} by ${actor ?? 'nobody'}: ${why}.`;
  }

  show(waitingFor: string): void {
    setCurrentDetails([this.summary, waitingFor, this.refusal].filter((text) => text).join('\n\n'));
  }

  /** Returns the input for continuing as new. */
  nextInput<Input extends ContinuedInput>(input: Input): Input {
    return { ...input, lastRefusal: this.refusal };
  }
}

/** State of a workflow's resource as people see it in the Temporal UI. */
export class View<State> {
  state: State | null = null;

  constructor(
    private readonly notice: Notice,
    private readonly statusOf: (state: State) => string,
    private readonly waitingForOf: (state: State) => string,
    private readonly amountOf: (state: State) => string | null = () => null,
  ) {}

  update(state: State): void {
    this.state = state;
    showStatus(this.statusOf(state), this.amountOf(state));
    this.show();
  }

  recordResult(act: StaffSignal, refused: string | null): void {
    if (refused === null) return;
    this.notice.recordRefusal(act, refused);
    this.show();
  }

  private show(): void {
    this.notice.show(this.state === null ? '' : this.waitingForOf(this.state));
  }
}
