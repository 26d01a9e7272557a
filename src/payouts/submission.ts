import { ApiError, NOT_FOUND } from '../core/errors.js';
import type { Failpoints } from '../core/failpoints.js';
import { commandFingerprint, type Keyring } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import { type Clock, instant, type Instant } from '../core/instant.js';
import { time } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { type Payout, type PayoutRailEvent, payoutRailEvents, payouts, payoutSecrets } from '../db/entities/payouts.js';
import { columnList, insertSql, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { transact } from '../db/transact.js';
import type { PostingDesk } from '../ledger/desk/desk.js';
import type { Answer } from '../ledger/desk/types.js';
import { beginPayout, raisePayout, reportOutcome } from './commands.js';
import { railEvent } from './outcome.js';
import { type Rail, type RailOrder, type Rails, RailSilent } from './rails/types.js';
import type { RailStatement } from './rules.js';
import { openSecrets } from './secrets.js';

/** What the worker tells to whoever watches it. */
export interface RailObserver {
  called(rail: string, kind: 'submission' | 'inquiry', result: string): void;
  /** The rail gave no answer; a line for operators, without personal data. */
  silent(rail: string, message: string): void;
}

export interface SubmissionParts {
  readonly database: Database;
  readonly desk: PostingDesk;
  readonly clock: Clock;
  readonly rails: Rails;
  readonly encryptionKeys: Keyring;
  readonly failpoints: Failpoints;
  readonly observer: RailObserver;
}

/**
 * How payouts get to their rail. The payout's row decides: it is in progress, durably, before the rail hears of it; the rail is
 * given the payout's id as its key; and what was perhaps given already is asked about before it is given again under the same
 * key. So each activity may run twice, late, or beside itself. (decisions.md, Payouts)
 */
export class Submissions {
  private readonly parts: SubmissionParts;

  constructor(parts: SubmissionParts) {
    this.parts = parts;
  }

  /** Hands an approved payout to its rail. Throws ApiError not_found, ledger_unavailable; DatabaseUnavailable. */
  async submit(id: Uuid): Promise<Payout> {
    const payout = await this.read(id);
    const { outcome, replayed } = await this.parts.desk.submit(beginPayout, {
      tenantId: payout.tenantId,
      key: `payout/${id}/begin`,
      fingerprint: commandFingerprint(['begin', id]),
      facts: payout,
      eventId: newId(),
    });
    const begun = resourceOf({ outcome, replayed });
    if (begun.status !== 'in_progress') return begun;
    // Who finds it begun already does not know whether the rail has it: that is asked first.
    return replayed ? this.ask(id) : this.give(begun);
  }

  /** Asks the rail what became of it, and gives it again where the rail never heard of it. Throws as `submit`. */
  async ask(id: Uuid): Promise<Payout> {
    const payout = await this.read(id);
    if (payout.status !== 'in_progress') return payout;
    const answer = await this.call(payout, 'inquiry', () => this.railOf(payout).status(id));
    if (answer === 'silent') return payout;
    if (answer !== null) return this.report(payout, 'inquiry', answer);
    await this.note(payout, 'inquiry', 'noted', 'unknown');
    // A rail that took it once and now denies it is not believed: given again, it might be paid twice.
    if (payout.railReference !== null) return this.raise(payout);
    await this.note(payout, 'submission', 'sent');
    return this.give(payout);
  }

  /** Raises to operators what was submitted before and is not known of since, at most `limit`. Answers how many were found. */
  async raiseSilent(olderMs: number, limit: number): Promise<number> {
    const submittedBefore = instant(this.parts.clock() - olderMs);
    const rows = await this.parts.database.reader.query(
      `SELECT ${columnList(payouts)} FROM payouts FORCE INDEX (submitted)
       WHERE status=${literal(payouts, 'status', 'in_progress')} AND submitted_at<${time.literal(submittedBefore)}
         AND stuck_since IS NULL ORDER BY submitted_at LIMIT ${Math.trunc(limit)}`,
    );
    await Promise.all(rows.map((row) => this.raise(parseRow(payouts, row), submittedBefore)));
    return rows.length;
  }

  private async give(payout: Payout): Promise<Payout> {
    const order = await this.orderOf(payout);
    const answer = await this.call(payout, 'submission', () => this.railOf(payout).submit(order));
    return answer === 'silent' ? payout : this.report(payout, 'submission', answer);
  }

  /** 'silent' where it is not known what the rail did. */
  private async call<T extends RailStatement | null>(
    payout: Payout,
    kind: 'submission' | 'inquiry',
    ask: () => Promise<T>,
  ): Promise<T | 'silent'> {
    const { failpoints, observer } = this.parts;
    failpoints.pass('before_rail_call');
    try {
      const answer = await ask();
      failpoints.pass('after_rail_call');
      observer.called(payout.rail, kind, answer?.status ?? 'unknown');
      return answer;
    } catch (failure) {
      if (!(failure instanceof RailSilent)) throw failure;
      failpoints.pass('after_rail_call');
      observer.called(payout.rail, kind, 'no_answer');
      observer.silent(payout.rail, failure.message);
      await this.note(payout, kind, 'no_answer');
      return 'silent';
    }
  }

  private railOf({ rail }: Payout): Rail {
    const found = this.parts.rails.get(rail);
    if (found === undefined) throw new RailSilent(`the rail ${rail} is not configured`);
    return found;
  }

  private async orderOf(payout: Payout): Promise<RailOrder> {
    const secrets = await this.parts.database.reader.find(payoutSecrets, { id: payout.id });
    if (secrets === undefined) throw new Error('a payout has no destination');
    const { id: key, asset, raw, country, bankCode, accountType, holderName, description } = payout;
    const clear = openSecrets(this.parts.encryptionKeys, secrets);
    const destination = { country, bankCode, accountType, holderName, ...clear };
    return { key, amount: { raw, asset }, destination, description };
  }

  private async report(payout: Payout, kind: PayoutRailEvent['kind'], said: RailStatement): Promise<Payout> {
    const { id, tenantId } = payout;
    const eventId = newId();
    return resourceOf(
      await this.parts.desk.submit(reportOutcome, {
        tenantId,
        key: `payout/${id}/rail/${eventId}`,
        fingerprint: commandFingerprint(['rail', eventId]),
        facts: payout,
        kind,
        said,
        callbackId: null,
        outboxId: null,
        eventId,
      }),
    );
  }

  private async raise(payout: Payout, submittedBefore: Instant | null = null): Promise<Payout> {
    const { id, tenantId } = payout;
    const eventId = newId();
    return resourceOf(
      await this.parts.desk.submit(raisePayout, {
        tenantId,
        key: `payout/${id}/raise/${eventId}`,
        fingerprint: commandFingerprint(['raise', eventId]),
        facts: payout,
        eventId,
        submittedBefore,
      }),
    );
  }

  private async note(
    payout: Payout,
    kind: PayoutRailEvent['kind'],
    effect: PayoutRailEvent['effect'],
    said: PayoutRailEvent['said'] = null,
  ): Promise<void> {
    const row = railEvent({ eventId: newId() }, payout, { kind, effect, said }, this.parts.clock());
    await transact(this.parts.database, (transaction) => transaction.execute(insertSql(payoutRailEvents, [row])));
  }

  private async read(id: Uuid): Promise<Payout> {
    const payout = await this.parts.database.reader.find(payouts, { id });
    if (payout === undefined) throw new ApiError(NOT_FOUND);
    return payout;
  }
}

function resourceOf({ outcome }: Answer<Payout>): Payout {
  if (!outcome.done) throw new ApiError(outcome.refusal);
  return outcome.resource;
}
