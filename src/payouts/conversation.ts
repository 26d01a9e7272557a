import { ApiError } from '../core/errors.js';
import type { Failpoints } from '../core/failpoints.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { newId } from '../core/ids.js';
import type { Clock, Instant } from '../core/instant.js';
import { traced } from '../core/trace.js';
import type { Database } from '../db/database.js';
import { type Payout, type PayoutRailEvent, payoutRailEvents } from '../db/entities/payouts.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import type { Answer } from '../ledger/writer/types.js';
import type { RailBreakers } from './breaker/breakers.js';
import { denyPayout, raisePayout, reportOutcome } from './commands.js';
import { railEvent } from './outcome.js';
import { type Rail, type Rails, RailSilent } from './rails/types.js';
import { effectOf, type RailStatement, repeats } from './rules.js';
import { isResolvedReport } from './resolved-reports.js';

export type RailCall = 'submission' | 'inquiry' | 'void';

export interface RailObserver {
  called(rail: string, kind: RailCall, result: string): void;
  /** The rail did not answer; `message` is a line for operators, without personal data. */
  silent(rail: string, message: string): void;
  /** The rail contradicted what we know about a payout, and that has not been settled yet. */
  contradicted(rail: string): void;
  ended(payout: Payout): void;
}

interface ConversationDeps {
  readonly database: Database;
  readonly desk: LedgerWriter;
  readonly clock: Clock;
  readonly rails: Rails;
  readonly failpoints: Failpoints;
  readonly observer: RailObserver;
  /** Told after every call whether it was answered. */
  readonly breakers: Pick<RailBreakers, 'answered' | 'silent'>;
}

/** A payout after a question to its rail. `silent`: nothing is known; `unknown`: the rail never heard of it. */
interface Heard {
  readonly payout: Payout;
  readonly answer: 'silent' | 'unknown' | 'statement';
}

/** The messages between us and a payout's rail: each is recorded and takes effect. */
export class RailConversation {
  constructor(readonly deps: ConversationDeps) {}

  /** Undefined if the rail is not, or no longer, configured. */
  railOf({ rail }: Payout): Rail | undefined {
    return this.deps.rails.get(rail);
  }

  /** A denial of what the rail accepted or ended is raised. Throws ApiError ledger_unavailable, DatabaseUnavailable. */
  async inquire(payout: Payout): Promise<Heard> {
    const said = await this.call(payout, 'inquiry', (rail) => rail.status(payout.id));
    if (said === 'silent') return { payout, answer: 'silent' };
    if (said !== null)
      return { payout: await this.report(payout, 'inquiry', said), answer: 'statement' };
    return { payout: await this.deny(payout), answer: 'unknown' };
  }

  /** 'silent' if it is unknown what the rail did. */
  async call<T extends RailStatement | null>(
    payout: Payout,
    kind: RailCall,
    ask: (rail: Rail) => Promise<T>,
  ): Promise<T | 'silent'> {
    const { failpoints, observer, breakers } = this.deps;
    failpoints.pass('before_rail_call');
    const rail = this.railOf(payout);
    try {
      if (rail === undefined) throw new RailSilent(`the rail ${payout.rail} is not configured`);
      const attributes = { 'payout.id': payout.id, 'payout.rail': payout.rail };
      const answer = await traced({ name: `rail ${kind}`, kind: 'client', attributes }, () =>
        ask(rail),
      );
      failpoints.pass('after_rail_call');
      observer.called(payout.rail, kind, answer?.status ?? 'unknown');
      await breakers.answered(payout.rail);
      return answer;
    } catch (failure) {
      if (!(failure instanceof RailSilent)) throw failure;
      failpoints.pass('after_rail_call');
      observer.called(payout.rail, kind, 'no_answer');
      observer.silent(payout.rail, failure.message);
      // A rail that is not configured here was not called.
      if (rail !== undefined) await breakers.silent(payout.rail, payout.id, failure.message);
      await this.note(payout, { kind, effect: 'no_answer' });
      return 'silent';
    }
  }

  /** Applies what the rail says. Throws ApiError not_found, ledger_unavailable; DatabaseUnavailable. */
  async report(payout: Payout, kind: RailCall, said: RailStatement): Promise<Payout> {
    // It can have no effect, and a completed payout is asked about many times, so no account is locked for it.
    if (repeats(payout, said)) {
      await this.note(payout, { kind, effect: 'duplicate', said: said.status }, said);
      return payout;
    }
    const isContrary = effectOf(payout, said) === 'conflict';
    const isSettled =
      isContrary && (await isResolvedReport(this.deps.database.reader, payout, said));
    const told = { kind, said, isSettled, callbackId: null, outboxId: null };
    return this.submitted(payout, (base) =>
      this.deps.desk.submit(reportOutcome, { ...base, ...told }),
    );
  }

  /** Raises the payout if it has been in its state since before that moment. Throws like `report`. */
  raise(payout: Payout, standsSince: Instant): Promise<Payout> {
    return this.submitted(payout, (base) =>
      this.deps.desk.submit(raisePayout, { ...base, standsSince }),
    );
  }

  /** Records a message that changes nothing. */
  async note(
    payout: Payout,
    word: Pick<PayoutRailEvent, 'kind' | 'effect'> & { readonly said?: PayoutRailEvent['said'] },
    said: RailStatement | null = null,
  ): Promise<void> {
    const row = railEvent({ eventId: newId() }, payout, word, this.deps.clock(), said);
    await transact(this.deps.database, (transaction) =>
      transaction.execute(insertSql(payoutRailEvents, [row])),
    );
  }

  private async deny(payout: Payout): Promise<Payout> {
    const unknown = { status: 'unknown', reference: null } as const;
    const isSettled = await isResolvedReport(this.deps.database.reader, payout, unknown);
    return this.submitted(payout, (base) =>
      this.deps.desk.submit(denyPayout, { ...base, isSettled }),
    );
  }

  private async submitted(
    facts: Payout,
    submit: (base: ReturnType<typeof railCommand>) => Promise<Answer<Payout>>,
  ): Promise<Payout> {
    const base = railCommand(facts);
    const { outcome } = await submit(base);
    if (!outcome.done) throw new ApiError(outcome.refusal);
    const { observer, database } = this.deps;
    if (facts.endedAt === null && outcome.resource.endedAt !== null)
      observer.ended(outcome.resource);
    if (outcome.resource.stuckReason === 'contradiction') {
      const written = await database.reader.find(payoutRailEvents, { id: base.eventId });
      if (written?.effect === 'conflict') observer.contradicted(facts.rail);
    }
    return outcome.resource;
  }
}

/** The common part of commands about a rail's messages: each has its own key, however often the same is said. */
export function railCommand(facts: Payout) {
  const { id, tenantId } = facts;
  const eventId = newId();
  const [key, fingerprint] = [
    `payout/${id}/rail/${eventId}`,
    commandFingerprint(['rail', eventId]),
  ];
  return { tenantId, key, fingerprint, facts, eventId };
}
