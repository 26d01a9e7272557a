import {
  defaultPayloadConverter,
  defineSearchAttributeKey,
  type Payload,
  type PayloadConverter,
} from '@temporalio/common';
import {
  type ActivityInterfaceFor,
  type ActivityOptions,
  defineQuery,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import {
  type ContinuedInput,
  QUERIES,
  SEARCH_ATTRIBUTES,
  SIGNALS,
  type StaffSignal,
  parseSignal,
} from '../src/temporal/contracts.js';
import { decodePayload } from '../src/temporal/contracts-payload.js';

const BUSINESS_STATUS = defineSearchAttributeKey(SEARCH_ATTRIBUTES.businessStatus, 'KEYWORD');
const AMOUNT = defineSearchAttributeKey(SEARCH_ATTRIBUTES.amount, 'KEYWORD');

/** Options of short activities. A command takes at most 4 s in MySQL, so 15 s are enough. */
export const ATTEMPT = {
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
} as const;

/** Returns activities with the summaries that the Temporal UI shows. */
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

/** Text that the Temporal UI shows where a person sends a signal. */
const SIGNED_INPUT =
  'Input: {"actor": "<your name as staff>", "reason": "<why>", "code": "<six digits of your authenticator>"}';

interface Handlers<Action extends string> {
  readonly actions: readonly Action[];
  readonly onAction: (signal: StaffSignal & { readonly action: Action }) => void | Promise<void>;
  readonly onChanged: () => void;
  readonly stateOf: () => unknown;
  /** Texts that the Temporal UI shows about an action, the signal `changed` and the query. */
  readonly describe: (action: Action) => string;
  readonly changed: string;
  readonly state: string;
}

/** Sets the handlers of a run's signals and of its query. Replays depend on their order. */
export function setHandlers<Action extends string>(handlers: Handlers<Action>): void {
  const { actions, onAction, onChanged, stateOf, describe, changed, state } = handlers;
  setHandler(defineSignal(SIGNALS.changed), onChanged, { description: changed });
  setHandler(defineQuery(QUERIES.state), stateOf, { description: state });
  let total = 0;
  for (const action of actions) {
    let number = 0;
    const handle = (given: unknown): void | Promise<void> => {
      const content = { ...parseSignal(given), number: (number += 1) };
      return onAction({ action, ...content, actionId: newActionId((total += 1)) });
    };
    const description = `${describe(action)}. ${SIGNED_INPUT}`;
    setHandler(defineSignal<[unknown]>(action), handle, { description });
  }
}

/** Returns a UUID v7, ordered by time like `newId`. `number` orders ids of one millisecond. */
function newActionId(number: number): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const order = (number & 0xfff).toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${order}-${uuid4().slice(19)}`;
}

export function clockTime(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Updates the search attributes. A null amount leaves `Amount` unchanged. */
export function showStatus(status: string, amount: string | null = null): void {
  const shown = workflowInfo().typedSearchAttributes;
  const changed = [
    { key: BUSINESS_STATUS, value: status },
    ...(amount === null ? [] : [{ key: AMOUNT, value: amount }]),
  ].filter(({ key, value }) => shown.get(key) !== value);
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/** Text in the Temporal UI: what a workflow waits for, and the last signal that changed nothing. */
export class Notice {
  private readonly summary: string | undefined;
  private refusal: string | null;

  constructor({ summary, lastRefusal }: ContinuedInput) {
    // The UI shows the summary of a first run anyway.
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

  nextInput<Input extends ContinuedInput>(input: Input): Input {
    return { ...input, lastRefusal: this.refusal };
  }
}

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

  recordResult(signal: StaffSignal, refused: string | null): void {
    if (refused === null) return;
    this.notice.recordRefusal(signal, refused);
    this.show();
  }

  private show(): void {
    this.notice.show(this.state === null ? '' : this.waitingForOf(this.state));
  }
}

/** Converter for all workflows. A signal with invalid bytes does not fail the workflow's tasks. */
export const payloadConverter: PayloadConverter = {
  toPayload: (...value) => defaultPayloadConverter.toPayload(...value),
  fromPayload: <T>(payload: Payload) => decodePayload(payload) as T,
};
