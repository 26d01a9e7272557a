import { failpoint } from '../core/failpoints.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import { runTraced } from '../core/trace.js';
import {
  type Payout,
  type PayoutRailEvent,
  payoutRailEvents,
  payouts,
  payoutSecrets,
} from '../db/entities/payouts.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { ApiError, assertFound } from '../core/errors.js';
import { commandFingerprint, type Keyring } from '../core/fingerprint.js';
import { ACCOUNT_CANNOT_SEND, attemptPayout, beginPayout, refuseRecipient } from './attempts.js';
import type { RailBreakers } from './breaker.js';
import { newPayoutCommand, payoutOrThrow, railEvent } from './commands.js';
import { type OutcomeObserver, type ReportDeps, submitReport } from './outcomes.js';
import {
  type FailureCode,
  type Rail,
  type RailOrder,
  type RailReport,
  type Rails,
  RailUnresponsive,
} from './rails/rail.js';
import { railFact } from './rail-fact.js';
import { readWords, type Report } from './reports.js';
import { isUnfinished } from './rules.js';
import { type RailCall, type RailCallObserver, resolveKey } from './resolve.js';
import { openDestination } from './service.js';

export type RailObserver = OutcomeObserver & RailCallObserver;

interface RailCallDeps extends ReportDeps {
  readonly clock: Clock;
  readonly rails: Rails;
  readonly observer: RailObserver;
  readonly breakers: RailBreakers;
}

/** `unknown`: the rail never received the payout. */
interface PollResult {
  readonly payout: Payout;
  readonly response: 'none' | 'unknown' | 'report';
}

const UNKNOWN: Report = { status: 'unknown', reference: null, failureCode: null };

/** Calls to a payout's rail. Each call is recorded, and its response takes effect as a report. */
export class RailCalls {
  constructor(readonly deps: RailCallDeps) {}

  railOf({ rail }: Payout): Rail | undefined {
    return this.deps.rails.get(rail);
  }

  /** Asks the rail for the outcome. Throws as `report` does. */
  async poll(payout: Payout): Promise<PollResult> {
    const response = await this.call(payout, 'inquiry', (rail) => rail.status(payout.id));
    if (response === 'none') return { payout, response };
    const after = await this.report(payout, 'inquiry', response ?? UNKNOWN);
    return { payout: after, response: response === null ? 'unknown' : 'report' };
  }

  /** Calls the rail. Returns 'none' if it did not respond, so that what it did is unknown. */
  async call<T extends RailReport | null>(
    payout: Payout,
    kind: RailCall,
    request: (rail: Rail) => Promise<T>,
  ): Promise<T | 'none'> {
    const { observer, breakers } = this.deps;
    failpoint('before_rail_call');
    const rail = this.railOf(payout);
    try {
      if (rail === undefined)
        throw new RailUnresponsive(`the rail ${payout.rail} is not configured`);
      const attributes = { 'payout.id': payout.id, 'payout.rail': payout.rail };
      const span = { name: `rail ${kind}`, kind: 'client', attributes } as const;
      const response = await runTraced(span, () => request(rail));
      failpoint('after_rail_call');
      observer.called(payout.rail, kind, response?.status ?? 'unknown');
      await breakers.recordResponse(payout.rail);
      return response;
    } catch (failure) {
      if (!(failure instanceof RailUnresponsive)) throw failure;
      failpoint('after_rail_call');
      observer.called(payout.rail, kind, 'no_answer');
      observer.unresponsive(payout.rail, failure.message);
      // A rail that is not configured here was not called.
      if (rail !== undefined) await breakers.recordFailure(payout.rail, payout.id, failure.message);
      await this.record(payout, { kind, effect: 'no_answer' });
      return 'none';
    }
  }

  /**
   * Asks the rail whether the tenant's checked holder still has the key. Returns null if so, or if
   * the tenant checked none; otherwise why the payout must not be sent, or 'none' if that is
   * unknown.
   */
  async checkHolder(
    payout: Payout,
    { destination }: RailOrder,
  ): Promise<'recipient_changed' | 'account_unknown' | 'none' | null> {
    if (destination.type !== 'bre_b_key' || destination.holder === null) return null;
    failpoint('before_rail_call');
    const found = await resolveKey(this.deps, payout.rail, destination);
    failpoint('after_rail_call');
    if (found !== 'none' && found?.holder === destination.holder) return null;
    if (found === 'none') {
      await this.record(payout, { kind: 'resolve', effect: 'no_answer' });
      return 'none';
    }
    return found === null ? 'account_unknown' : 'recipient_changed';
  }

  /** Applies the response to a call. Throws ApiError not_found, ledger_unavailable. */
  async report(payout: Payout, kind: RailCall, report: Report): Promise<Payout> {
    const { status: reported, reference } = report;
    // A completed payout is polled many times, so a repeated report locks no account.
    const isSame = payout.status === 'completed' && reference === payout.railReference;
    if (isSame && reported === 'completed' && (await this.wasReportedPaid(payout))) {
      await this.record(payout, { kind, effect: 'duplicate', reported }, report);
      return payout;
    }
    const command = { ...newPayoutCommand(payout), kind, report, callbackId: null, outboxId: null };
    return payoutOrThrow(await submitReport(this.deps, command));
  }

  private async wasReportedPaid(payout: Payout): Promise<boolean> {
    return railFact(payout, await readWords(this.deps.database.reader, payout)) === 'paid';
  }

  private async record(
    payout: Payout,
    what: Pick<PayoutRailEvent, 'kind' | 'effect'> & Partial<PayoutRailEvent>,
    report: Report | null = null,
  ): Promise<void> {
    const row = railEvent(newId(), payout, { ...what, at: this.deps.clock() }, report);
    await transact(this.deps.database, (transaction) =>
      transaction.execute(insertSql(payoutRailEvents, [row])),
    );
  }
}

export interface SubmissionResult {
  readonly payout: Payout;
  /**
   * True if nothing was submitted, because the rail does not respond or is not configured, or the
   * account may not send.
   */
  readonly isHeld: boolean;
  /** True if nothing was done because of the account. */
  readonly isFrozen: boolean;
  /** True if nothing was done because the rail did not say who holds the key. */
  readonly isUnresolved?: boolean;
}

interface SubmissionOptions {
  /** Calls the rail even while its breaker is open. */
  readonly ignoresBreaker?: boolean;
}

interface SubmissionDeps {
  readonly calls: RailCalls;
  readonly encryptionKeys: Keyring;
  readonly monotonic: () => number;
}

/** An attempt that was permitted longer ago than this must be permitted again. */
const MAX_DELAY_MS = 10_000;

/**
 * Submits payouts. Each method may run twice, late or concurrently, because a payout is stored as
 * in progress before the rail is called, every order has the payout's id as its key, and a payout
 * that may have been submitted is polled first.
 */
export class PayoutSubmitter {
  constructor(private readonly deps: SubmissionDeps) {}

  /** Submits an approved payout. Throws ApiError not_found, ledger_unavailable; UnknownKey. */
  async submit(id: Uuid, options: SubmissionOptions = {}): Promise<SubmissionResult> {
    const payout = await this.read(id);
    if (!isUnfinished(payout)) return submitted(payout);
    if (await this.mustWait(payout, options)) return heldByRail(payout);
    const order = await this.prepareOrder(payout);
    if (order === null) return heldByRail(payout);
    const refused = payout.status === 'approved' ? await this.refuse(payout, order) : null;
    if (refused !== null) return refused;
    const beganAt = this.deps.monotonic();
    const key = { key: `payout/${id}/begin`, fingerprint: commandFingerprint(['begin', id]) };
    const command = { ...newPayoutCommand(payout), ...key };
    const { outcome, replayed } = await this.deps.calls.deps.writer.submit(beginPayout, command);
    // The rail may have a payout that began earlier, by this command or in a restore.
    if (replayed || (!outcome.done && outcome.refusal.code === 'invalid_state'))
      return this.poll(id, { ignoresBreaker: true });
    const begun = payoutOrThrow({ outcome });
    return begun.status === 'in_progress'
      ? this.sendOrder(begun, order, beganAt)
      : heldByAccount(begun);
  }

  /**
   * Asks the rail for the outcome, and submits the payout again if the rail never received it,
   * unless the rail accepted it before, because it might pay twice. Throws as `submit` does.
   */
  async poll(id: Uuid, options: SubmissionOptions = {}): Promise<SubmissionResult> {
    const before = await this.read(id);
    if (await this.mustWait(before, options)) return heldByRail(before);
    if (before.status !== 'in_progress') return submitted(before);
    const { payout, response } = await this.deps.calls.poll(before);
    const isLost = response === 'unknown' && payout.railReference === null;
    return isLost ? this.resendOrder(payout) : submitted(payout);
  }

  private async mustWait(
    payout: Payout,
    { ignoresBreaker = false }: SubmissionOptions,
  ): Promise<boolean> {
    if (ignoresBreaker || !isUnfinished(payout)) return false;
    return !(await this.deps.calls.deps.breakers.isClosed(payout.rail));
  }

  /**
   * Ends an approved payout whose key is not its checked holder's any more. Returns null if the
   * payout may be sent. Nothing was sent yet, as the command checks again under the lock.
   */
  private async refuse(payout: Payout, order: RailOrder): Promise<SubmissionResult | null> {
    const { calls } = this.deps;
    const failureCode = await calls.checkHolder(payout, order);
    if (failureCode === null) return null;
    if (failureCode === 'none') return { ...heldByRail(payout), isUnresolved: true };
    const command = { ...newPayoutCommand(payout), failureCode };
    const after = payoutOrThrow(await calls.deps.writer.submit(refuseRecipient, command));
    if (after.status === 'failed' && payout.endedAt === null) calls.deps.observer.ended(after);
    return after.status === 'approved'
      ? { ...heldByRail(after), isUnresolved: true }
      : submitted(after);
  }

  /**
   * Sends a lost order again. An order may have been sent, so a holder who has changed ends the
   * payout only if the rail denies the payment.
   */
  private async resendOrder(snapshot: Payout): Promise<SubmissionResult> {
    const order = await this.prepareOrder(snapshot);
    if (order === null) return heldByRail(snapshot);
    const changed = await this.deps.calls.checkHolder(snapshot, order);
    if (changed === 'none') return submitted(snapshot);
    if (changed !== null) return submitted(await this.voidOrder(snapshot, changed));
    const beganAt = this.deps.monotonic();
    const command = newPayoutCommand(snapshot);
    const { outcome } = await this.deps.calls.deps.writer.submit(attemptPayout, command);
    if (outcome.done) return this.sendOrder(outcome.resource, order, beganAt);
    if (outcome.refusal.code !== 'invalid_state') throw new ApiError(outcome.refusal);
    const payout = await this.read(snapshot.id);
    return outcome.refusal === ACCOUNT_CANNOT_SEND ? heldByAccount(payout) : submitted(payout);
  }

  private async voidOrder(payout: Payout, failureCode: FailureCode): Promise<Payout> {
    const { calls } = this.deps;
    const response = await calls.call(payout, 'void', (rail) => rail.void(payout.id));
    if (response === 'none' || response === null) return payout;
    const isVoided = response.status === 'voided';
    return calls.report(payout, 'void', isVoided ? { ...response, failureCode } : response);
  }

  /** Sends an order that was permitted at `beganAt`, unless that was too long ago. */
  private async sendOrder(
    payout: Payout,
    order: RailOrder,
    beganAt: number,
  ): Promise<SubmissionResult> {
    const { calls, monotonic } = this.deps;
    if (monotonic() - beganAt > MAX_DELAY_MS) return this.resendOrder(payout);
    const response = await calls.call(payout, 'submission', (rail) => rail.submit(order));
    if (response === 'none') return submitted(payout);
    return submitted(await calls.report(payout, 'submission', response));
  }

  /**
   * Returns what will be sent, before an attempt is counted. Null if this process does not have the
   * rail. Throws UnknownKey if it cannot open the bank account.
   */
  private async prepareOrder(payout: Payout): Promise<RailOrder | null> {
    const { id: key, asset, raw, description } = payout;
    const { database, rails, observer } = this.deps.calls.deps;
    if (!rails.has(payout.rail)) {
      observer.unresponsive(payout.rail, `the rail ${payout.rail} is not configured`);
      return null;
    }
    const secrets = await database.reader.find(payoutSecrets, { id: key });
    if (secrets === undefined) throw new Error('a payout has no destination');
    const destination = openDestination(this.deps.encryptionKeys, payout, secrets);
    return { key, amount: { raw, asset }, destination, description };
  }

  private async read(id: Uuid): Promise<Payout> {
    return assertFound(await this.deps.calls.deps.database.reader.find(payouts, { id }));
  }
}

function submitted(payout: Payout): SubmissionResult {
  return { payout, isHeld: false, isFrozen: false };
}

function heldByRail(payout: Payout): SubmissionResult {
  return { payout, isHeld: true, isFrozen: false };
}

function heldByAccount(payout: Payout): SubmissionResult {
  return { payout, isHeld: true, isFrozen: true };
}
