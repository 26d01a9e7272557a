import type { Failpoints } from '../core/failpoints.js';
import { newId } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import { traced } from '../core/trace.js';
import { type Payout, type PayoutRailEvent, payoutRailEvents } from '../db/entities/payouts.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import type { RailBreakers } from './breaker.js';
import { railCommand, railEvent, resultOf } from './commands.js';
import { type OutcomeObserver, type ReportDeps, submitReport } from './outcomes.js';
import { type Rail, type RailReport, type Rails, RailSilent } from './rails/rail.js';
import type { Report } from './reports.js';
import { effectOf } from './state-machine.js';

export type RailCall = 'submission' | 'inquiry' | 'void';

export interface RailObserver extends OutcomeObserver {
  called(rail: string, kind: RailCall, result: string): void;
  /** The rail did not respond. `message` contains no personal data. */
  silent(rail: string, message: string): void;
}

interface RailCallDeps extends ReportDeps {
  readonly clock: Clock;
  readonly rails: Rails;
  readonly failpoints: Failpoints;
  readonly observer: RailObserver;
  readonly breakers: Pick<RailBreakers, 'answered' | 'silent' | 'isClosed'>;
}

/** `silent`: no response. `unknown`: the rail never received the payout. */
interface Polled {
  readonly payout: Payout;
  readonly response: 'silent' | 'unknown' | 'report';
}

const UNKNOWN: Report = { status: 'unknown', reference: null, failureCode: null };

/** Calls to a payout's rail. Each call is recorded, and its response takes effect as a report. */
export class RailCalls {
  constructor(readonly deps: RailCallDeps) {}

  railOf({ rail }: Payout): Rail | undefined {
    return this.deps.rails.get(rail);
  }

  /** Asks the rail for the outcome. Throws as `report` does. */
  async poll(payout: Payout): Promise<Polled> {
    const response = await this.call(payout, 'inquiry', (rail) => rail.status(payout.id));
    if (response === 'silent') return { payout, response };
    const after = await this.report(payout, 'inquiry', response ?? UNKNOWN);
    return { payout: after, response: response === null ? 'unknown' : 'report' };
  }

  /** Calls the rail. Returns 'silent' if it is unknown what the rail did. */
  async call<T extends RailReport | null>(
    payout: Payout,
    kind: RailCall,
    request: (rail: Rail) => Promise<T>,
  ): Promise<T | 'silent'> {
    const { failpoints, observer, breakers } = this.deps;
    failpoints.pass('before_rail_call');
    const rail = this.railOf(payout);
    try {
      if (rail === undefined) throw new RailSilent(`the rail ${payout.rail} is not configured`);
      const attributes = { 'payout.id': payout.id, 'payout.rail': payout.rail };
      const span = { name: `rail ${kind}`, kind: 'client', attributes } as const;
      const response = await traced(span, () => request(rail));
      failpoints.pass('after_rail_call');
      observer.called(payout.rail, kind, response?.status ?? 'unknown');
      await breakers.answered(payout.rail);
      return response;
    } catch (failure) {
      if (!(failure instanceof RailSilent)) throw failure;
      failpoints.pass('after_rail_call');
      observer.called(payout.rail, kind, 'no_answer');
      observer.silent(payout.rail, failure.message);
      // A rail that is not configured here was not called.
      if (rail !== undefined) await breakers.silent(payout.rail, payout.id, failure.message);
      await this.record(payout, { kind, effect: 'no_answer' });
      return 'silent';
    }
  }

  /** Applies the response to a call. Throws ApiError not_found, ledger_unavailable. */
  async report(payout: Payout, kind: RailCall, report: Report): Promise<Payout> {
    const { status: said, reference } = report;
    // A completed payout is polled many times, so a report without an effect locks no account.
    const isPaid = payout.status === 'completed' || payout.status === 'returned';
    const isSame = isPaid && reference === payout.railReference;
    if (isSame && effectOf(payout, report, 'rail') === 'duplicate') {
      await this.record(payout, { kind, effect: 'duplicate', said }, report);
      return payout;
    }
    const command = { ...railCommand(payout), kind, report, callbackId: null, outboxId: null };
    return resultOf(await submitReport(this.deps, command));
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
