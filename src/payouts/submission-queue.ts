import { ApiError, existing, invalidState, NOT_FOUND } from '../core/errors.js';
import { commandFingerprint, type Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import {
  type Payout,
  payoutRailEvents,
  payoutResolutions,
  payouts,
  payoutSecrets,
} from '../db/entities/payouts.js';
import { capabilityRefusal } from '../accounts/rules.js';
import {
  changeRow,
  type CommandKind,
  type Decision,
  insertRow,
  type LockedState,
  naming,
  need,
  refuse,
} from '../ledger/writer/types.js';
import type { RailBreakers } from './breaker.js';
import { type PayoutCommand, railCommand, railEvent } from './commands.js';
import { afterProgress } from './flag.js';
import type { RailCalls } from './rail-calls.js';
import type { RailOrder } from './rails/rail.js';
import { isTaken, reportNeeds } from './reports.js';
import { openResolution } from './resolution-checks.js';
import { isUnfinished, nextInstant } from './rules.js';
import { openSecrets } from './secrets.js';

/**
 * Payouts on their way to their rails. Each order is a numbered attempt, written under the
 * account's lock before the call. (docs/contract.md, Rails)
 */

const beginPayout: CommandKind<PayoutCommand, Payout> = {
  name: 'begin payout',
  resourceType: 'payout',
  table: payouts,
  accounts: naming(({ facts }) => [facts.sourceAccountId]),
  needs: ({ facts }) => [need(payouts, { id: facts.id })],
  decide: decideBegin,
};

export const attemptPayout: CommandKind<PayoutCommand, Payout> = {
  ...beginPayout,
  name: 'attempt payout',
  needs: ({ facts: { id, rail } }) => [
    need(payouts, { id }),
    need(payoutResolutions, { payoutId: id }),
    ...reportNeeds({ id, rail }),
  ],
  decide: decideAttempt,
};

/**
 * Moves an approved payout to in progress with its first attempt, unless its account may not send.
 */
function decideBegin(command: PayoutCommand, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  if (payout.status !== 'approved' || !maySend(payout, state))
    return { outcome: { done: true, resource: payout }, writes: {}, bindsKey: false };
  const begins = { status: 'in_progress', submittedAt: nextInstant(payout, state.at) } as const;
  const begun: Payout = { ...afterProgress(payout), ...begins };
  return { ...attempted(command, begun, state), bindsKey: true };
}

/**
 * Permits one more attempt, unless a resolution is proposed, whose outcome may release the money.
 */
function decideAttempt(command: PayoutCommand, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  const { status } = payout;
  const message = `the payout is ${status}: it is not given to its rail`;
  if (status !== 'in_progress')
    return refuse(invalidState(message, status, ['in_progress']), false);
  if (openResolution(payout, state) !== undefined) return refuse(BEING_RESOLVED, false);
  if (isTaken(payout, state)) return refuse(TAKEN, false);
  if (!maySend(payout, state)) return refuse(ACCOUNT_CANNOT_SEND, false);
  return attempted(command, payout, state);
}

function maySend({ sourceAccountId }: Payout, state: LockedState): boolean {
  const source = state.account(sourceAccountId);
  if (source === undefined) throw new Error('the account of a payout does not exist');
  return capabilityRefusal(source.account) === null;
}

function attempted(
  { eventId }: PayoutCommand,
  payout: Payout,
  state: LockedState,
): Decision<Payout> {
  const { at } = state;
  const next: Payout = { ...payout, attempts: payout.attempts + 1, attemptedAt: at };
  const what = { kind: 'submission', effect: 'sent', attempt: next.attempts, at } as const;
  const sent = insertRow(payoutRailEvents, railEvent(eventId, next, what));
  const rows = [changeRow(payouts, next), sent];
  return { outcome: { done: true, resource: next }, writes: { rows }, bindsKey: false };
}

const TAKEN = invalidState('the rail has taken it meanwhile: it is not given again', 'taken', [
  'never_heard_of',
]);
const BEING_RESOLVED = invalidState(
  'a resolution is proposed: nothing is given to the rail before it is approved or rejected',
  'proposed',
  ['none_proposed'],
);
const ACCOUNT_CANNOT_SEND = invalidState(
  'its account may not send: it is not given to the rail before it may',
  'frozen',
  ['active'],
);

/** A payout after it was submitted or polled. */
export interface SubmissionResult {
  readonly payout: Payout;
  /** Nothing was done, because the rail does not respond or the account may not send. */
  readonly isHeld: boolean;
  /** Held because its account may not send. */
  readonly isFrozen: boolean;
}

interface SubmissionDeps {
  readonly calls: RailCalls;
  readonly breakers: Pick<RailBreakers, 'isClosed'>;
  readonly encryptionKeys: Keyring;
  /** Milliseconds of a clock that cannot be set. */
  readonly monotonic: () => number;
}

/** An attempt older than this is permitted again before its order leaves. */
const MAX_DELAY_MS = 10_000;

/**
 * Submits payouts to their rails. A payout is durably in progress before the rail is called, its id
 * is the key of every order, and a payout that may already have been submitted is polled first. So
 * each method may run twice, late and concurrently. `isProbe` calls the rail even while its breaker
 * is open.
 */
export class SubmissionQueue {
  constructor(private readonly deps: SubmissionDeps) {}

  /**
   * Submits an approved payout. Throws ApiError not_found, ledger_unavailable; DatabaseUnavailable.
   */
  async submit(id: Uuid, isProbe = false): Promise<SubmissionResult> {
    const payout = await this.read(id);
    if (!isProbe && (await this.isHeld(payout))) return held(payout);
    const beganAt = this.deps.monotonic();
    const key = { key: `payout/${id}/begin`, fingerprint: commandFingerprint(['begin', id]) };
    const command = { ...railCommand(payout), ...key };
    const { outcome, replayed } = await this.deps.calls.deps.desk.submit(beginPayout, command);
    if (!outcome.done) throw new ApiError(outcome.refusal);
    const begun = outcome.resource;
    if (begun.status !== 'in_progress')
      return begun.status === 'approved' ? frozen(begun) : done(begun);
    // The rail may have a payout that began earlier. A restore begins payouts without an attempt.
    const isFirst = !replayed && begun.attempts > 0;
    return isFirst ? this.give(begun, beganAt) : this.poll(id, true);
  }

  /**
   * Asks the rail for the outcome, and submits the payout again if the rail never received it. A
   * rail that accepted it before is not believed, because it might pay twice. Throws as `submit`
   * does.
   */
  async poll(id: Uuid, isProbe = false): Promise<SubmissionResult> {
    const before = await this.read(id);
    if (!isProbe && (await this.isHeld(before))) return held(before);
    if (before.status !== 'in_progress') return done(before);
    const { payout, response } = await this.deps.calls.poll(before);
    const isLost = response === 'unknown' && payout.railReference === null;
    return isLost ? this.giveAgain(payout) : done(payout);
  }

  private async isHeld(payout: Payout): Promise<boolean> {
    return isUnfinished(payout) && !(await this.deps.breakers.isClosed(payout.rail));
  }

  private async giveAgain(facts: Payout): Promise<SubmissionResult> {
    const beganAt = this.deps.monotonic();
    const command = railCommand(facts);
    const { outcome } = await this.deps.calls.deps.desk.submit(attemptPayout, command);
    if (outcome.done) return this.give(outcome.resource, beganAt);
    if (outcome.refusal.code !== 'invalid_state') throw new ApiError(outcome.refusal);
    const payout = await this.read(facts.id);
    return outcome.refusal === ACCOUNT_CANNOT_SEND ? frozen(payout) : done(payout);
  }

  /**
   * Sends an order that was permitted at `beganAt`, or asks for permission again if that was too
   * long ago.
   */
  private async give(payout: Payout, beganAt: number): Promise<SubmissionResult> {
    const { calls, monotonic } = this.deps;
    const order = await this.orderOf(payout);
    if (monotonic() - beganAt > MAX_DELAY_MS) return this.giveAgain(payout);
    const response = await calls.call(payout, 'submission', (rail) => rail.submit(order));
    if (response === 'silent') return done(payout);
    return done(await calls.report(payout, 'submission', response));
  }

  private async orderOf(payout: Payout): Promise<RailOrder> {
    const { id: key, asset, raw, country, bankCode, accountType, holderName, description } = payout;
    const secrets = await this.deps.calls.deps.database.reader.find(payoutSecrets, { id: key });
    if (secrets === undefined) throw new Error('a payout has no destination');
    const clear = openSecrets(this.deps.encryptionKeys, secrets);
    const destination = { country, bankCode, accountType, holderName, ...clear };
    return { key, amount: { raw, asset }, destination, description };
  }

  private async read(id: Uuid): Promise<Payout> {
    return existing(await this.deps.calls.deps.database.reader.find(payouts, { id }));
  }
}

function done(payout: Payout): SubmissionResult {
  return { payout, isHeld: false, isFrozen: false };
}

function held(payout: Payout): SubmissionResult {
  return { payout, isHeld: true, isFrozen: false };
}

function frozen(payout: Payout): SubmissionResult {
  return { payout, isHeld: true, isFrozen: true };
}
