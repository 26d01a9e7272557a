import { ApiError, existing } from '../core/errors.js';
import { commandFingerprint, type Keyring } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import { instant } from '../core/instant.js';
import { time } from '../db/columns.js';
import { type Payout, payouts, payoutSecrets } from '../db/entities/payouts.js';
import { literal } from '../db/statements.js';
import { actOnDue } from '../accounts/due-of-accounts.js';
import { ACCOUNT_CANNOT_SEND } from './attempts.js';
import { attemptPayout, beginPayout } from './commands.js';
import { railCommand, type RailConversation } from './conversation.js';
import type { RailOrder } from './rails/types.js';
import { openSecrets } from './secrets.js';

interface SubmissionDeps {
  readonly conversation: RailConversation;
  readonly encryptionKeys: Keyring;
  /** Milliseconds of a clock that nobody can set. */
  readonly monotonic: () => number;
}

/** A payout after it was brought to its rail. */
interface Handed {
  readonly payout: Payout;
  /** The rail does not have it, and is not given it before its account may send. */
  readonly isFrozen: boolean;
}

/** An attempt older than this when its order is about to leave was held up: much may have happened since. */
const MAX_HELD_UP_MS = 10_000;

/**
 * Hands payouts to their rails. The payout's row decides: it is durably in progress before the rail hears of it; each
 * order is an attempt permitted under the account's lock; the rail gets the payout's id as its key; and an order that
 * may already have been given is asked about before it is given again under the same key. So each activity may run
 * twice, late or concurrently. (docs/contract.md, Rails)
 */
export class Submissions {
  constructor(private readonly deps: SubmissionDeps) {}

  /** Hands an approved payout to its rail. Throws ApiError not_found, ledger_unavailable; DatabaseUnavailable. */
  async submit(id: Uuid): Promise<Handed> {
    const payout = await this.read(id);
    const beganAt = this.deps.monotonic();
    const { outcome, replayed } = await this.deps.conversation.deps.desk.submit(beginPayout, {
      tenantId: payout.tenantId,
      key: `payout/${id}/begin`,
      fingerprint: commandFingerprint(['begin', id]),
      facts: payout,
      eventId: newId(),
    });
    if (!outcome.done) throw new ApiError(outcome.refusal);
    const begun = outcome.resource;
    if (begun.status !== 'in_progress')
      return { payout: begun, isFrozen: begun.status === 'approved' };
    // If it had already begun, nobody knows whether the rail has it, so ask first. A restore begins payouts without an
    // attempt.
    return replayed || begun.attempts === 0 ? this.ask(id) : this.give(begun, beganAt);
  }

  /**
   * Asks the rail for the outcome, and gives it again if the rail never heard of it. A rail that accepted it and now
   * denies it is not believed: given again, it might be paid twice. Throws like `submit`.
   */
  async ask(id: Uuid): Promise<Handed> {
    const before = await this.read(id);
    if (before.status !== 'in_progress') return { payout: before, isFrozen: false };
    const { payout, answer } = await this.deps.conversation.inquire(before);
    const isGiven = answer !== 'unknown' || payout.railReference !== null;
    return isGiven ? { payout, isFrozen: false } : this.giveAgain(payout);
  }

  /**
   * Raises what was submitted before that age and not heard of since, at most `limit` at a time. Returns how many in
   * the end.
   */
  raiseSilent(olderMs: number, limit: number): Promise<number> {
    const status = literal(payouts, 'status', 'in_progress');
    const silent = (before: string, others: string) =>
      `FORCE INDEX (submitted) WHERE status=${status} AND submitted_at<${before} ${others} ORDER BY submitted_at`;
    return this.raiseOlder(olderMs, limit, silent);
  }

  /** The same for payouts approved before that age and still not handed to their rail. */
  raiseUnsubmitted(olderMs: number, limit: number): Promise<number> {
    const status = literal(payouts, 'status', 'approved');
    // Few are approved, unless their rail does not answer.
    const waiting = (before: string, others: string) =>
      `FORCE INDEX (expiring) WHERE status=${status} AND approved_at<${before} ${others}`;
    return this.raiseOlder(olderMs, limit, waiting);
  }

  private async raiseOlder(
    olderMs: number,
    limit: number,
    older: (before: string, others: string) => string,
  ): Promise<number> {
    const { conversation } = this.deps;
    const { clock, database } = conversation.deps;
    const before = instant(clock() - olderMs);
    const find = (others: string, most: number) =>
      database.reader.list(
        payouts,
        `${older(time.literal(before), `AND stuck_since IS NULL ${others}`)} LIMIT ${most}`,
      );
    return actOnDue(limit, find, (payout) => conversation.raise(payout, before));
  }

  /** One more attempt, unless the payout has ended or is about to. */
  private async giveAgain(facts: Payout): Promise<Handed> {
    const beganAt = this.deps.monotonic();
    const { outcome } = await this.deps.conversation.deps.desk.submit(
      attemptPayout,
      railCommand(facts),
    );
    if (outcome.done) return this.give(outcome.resource, beganAt);
    const { refusal } = outcome;
    if (refusal.code !== 'invalid_state') throw new ApiError(refusal);
    return { payout: await this.read(facts.id), isFrozen: refusal === ACCOUNT_CANNOT_SEND };
  }

  /** Gives an order that was just permitted; one that was held up since asks for permission again. */
  private async give(payout: Payout, beganAt: number): Promise<Handed> {
    const { conversation, monotonic } = this.deps;
    const order = await this.orderOf(payout);
    if (monotonic() - beganAt > MAX_HELD_UP_MS) return this.giveAgain(payout);
    const answer = await conversation.call(payout, 'submission', (rail) => rail.submit(order));
    const after =
      answer === 'silent' ? payout : await conversation.report(payout, 'submission', answer);
    return { payout: after, isFrozen: false };
  }

  private async orderOf(payout: Payout): Promise<RailOrder> {
    const secrets = await this.deps.conversation.deps.database.reader.find(payoutSecrets, {
      id: payout.id,
    });
    if (secrets === undefined) throw new Error('a payout has no destination');
    const { id: key, asset, raw, country, bankCode, accountType, holderName, description } = payout;
    const clear = openSecrets(this.deps.encryptionKeys, secrets);
    const destination = { country, bankCode, accountType, holderName, ...clear };
    return { key, amount: { raw, asset }, destination, description };
  }

  private async read(id: Uuid): Promise<Payout> {
    return existing(await this.deps.conversation.deps.database.reader.find(payouts, { id }));
  }
}
