import { newId, type Uuid } from '../../src/core/ids.js';
import { type Clock, instant, type Instant } from '../../src/core/instant.js';
import { time, uuid } from '../../src/db/columns.js';
import type { Database, Transaction } from '../../src/db/database.js';
import {
  type SimulatedRailPayment,
  simulatedRailActions,
  simulatedRailPayments,
} from '../../src/db/entities/payouts.js';
import { columnList, insertSql, literal, updateSql } from '../../src/db/statements.js';
import { parseRow } from '../../src/db/table.js';
import { transact } from '../../src/db/transact.js';
import type { RailStatement } from '../../src/payouts/rules.js';
import { scenarioFor, scenarioNamed, type Step } from './scenarios.js';
import {
  type ListingRail,
  type RailOrder,
  type RailPage,
  RailSilent,
} from '../../src/payouts/rails/types.js';

/** Payments on a page of a list. */
const PAGE = 500;

/** An outcome that the rail reports unasked. */
export interface RailReport extends RailStatement {
  readonly key: Uuid;
  /** The same whenever it is repeated. */
  readonly callbackId: string;
}

/**
 * A bank that does not exist. What it does depends only on the end of the account number (scenarios.ts) and the time,
 * and is stored in its own tables, so that it continues where a killed process stopped. It reads none of our tables: it
 * counts what it is given, and would show a payment that was made twice.
 */
export class SimulatedRail implements ListingRail {
  /** An installation may have it under several names: each is a separate bank. */
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly name: string,
  ) {}

  /**
   * Accepts the order; repeating a key changes nothing. Throws RailSilent if it does not answer, DatabaseUnavailable.
   */
  async submit(order: RailOrder): Promise<RailStatement> {
    return this.answer(
      await transact(this.database, (transaction) => this.take(transaction, order)),
    );
  }

  /** Throws RailSilent where it gives no answer, DatabaseUnavailable. */
  async status(key: Uuid): Promise<RailStatement | null> {
    const payment = await this.database.reader.find(simulatedRailPayments, {
      rail: this.name,
      paymentKey: key,
    });
    const isKnown =
      payment !== undefined && (payment.actedAt !== null || payment.voidedAt !== null);
    return isKnown ? this.answer(payment) : null;
  }

  /** Voids a payment without an outcome. Throws RailSilent if it does not answer, DatabaseUnavailable. */
  async void(key: Uuid): Promise<RailStatement> {
    return this.answer(
      await transact(this.database, async (transaction) => {
        const own = { rail: this.name, paymentKey: key };
        const known = await this.locked(
          transaction,
          key,
          { scenario: null, asset: null, raw: null },
          this.clock(),
        );
        if (known.voidedAt !== null || this.lastStep(known) !== undefined) return known;
        const change = { voidedAt: this.clock(), reportAt: null };
        await transaction.execute(updateSql(simulatedRailPayments, change, own));
        return { ...known, ...change };
      }),
    );
  }

  async list(since: Instant, after: Uuid | null): Promise<RailPage> {
    const behind = after === null ? '' : ` AND p.payment_key>${uuid.literal(after)}`;
    const rows = await this.database.reader.query(
      `SELECT ${columnList(simulatedRailPayments, 'p')} FROM simulated_rail_payments p
       WHERE p.rail=${literal(simulatedRailPayments, 'rail', this.name)} AND p.acted_at>=${time.literal(since)}${behind}
       ORDER BY p.payment_key LIMIT ${PAGE}`,
    );
    // Based on what was read, not on what is shown: a page without items need not be the last.
    const last = rows[PAGE - 1];
    const items = rows.flatMap((row) => {
      const payment = parseRow(simulatedRailPayments, row);
      const { paymentKey: key, asset, raw, reference } = payment;
      if (asset === null || raw === null) return [];
      const last = this.lastStep(payment);
      const status =
        payment.voidedAt === null ? (last?.status ?? ('accepted' as const)) : ('voided' as const);
      return [
        { key, status, reference, failureCode: last?.failureCode ?? null, amount: { asset, raw } },
      ];
    });
    return {
      items,
      next: last === undefined ? null : parseRow(simulatedRailPayments, last).paymentKey,
    };
  }

  /** The payment of a key, created if there is none: of two simultaneous calls the second waits here for the first. */
  private async locked(
    transaction: Transaction,
    key: Uuid,
    order: Pick<SimulatedRailPayment, 'scenario' | 'asset' | 'raw'>,
    voidedAt: Instant | null,
  ): Promise<SimulatedRailPayment> {
    const own = { rail: this.name, paymentKey: key };
    const reference = `SIM-${key.replaceAll('-', '').slice(0, 20).toUpperCase()}`;
    const begin = { submissions: 0, actedAt: null, reported: 0, reportAt: null, voidedAt };
    await transaction.execute(
      `${insertSql(simulatedRailPayments, [{ ...own, ...order, reference, ...begin }])}
       ON DUPLICATE KEY UPDATE submissions=submissions`,
    );
    const known = await transaction.find(simulatedRailPayments, own, { forUpdate: true });
    if (known === undefined) throw new Error('what was inserted is not there');
    return known;
  }

  private async take(
    transaction: Transaction,
    { key, amount, destination }: RailOrder,
  ): Promise<SimulatedRailPayment> {
    const rail = this.name;
    const scenario = scenarioFor(destination.accountNumber);
    const known = await this.locked(transaction, key, { scenario: scenario.name, ...amount }, null);
    const isLost = scenario.losesFirst && known.submissions === 0;
    const acts = known.actedAt === null && known.voidedAt === null && !isLost;
    const actedAt = acts ? this.clock() : known.actedAt;
    const submissions = known.submissions + 1;
    const payment = {
      ...known,
      submissions,
      actedAt,
      reportAt: acts ? reportAt({ ...known, actedAt }) : known.reportAt,
    };
    if (acts && actedAt !== null)
      await transaction.execute(
        insertSql(simulatedRailActions, [{ id: newId(), rail, paymentKey: key, at: actedAt }]),
      );
    await transaction.execute(
      updateSql(
        simulatedRailPayments,
        { submissions, actedAt, reportAt: payment.reportAt },
        { rail, paymentKey: key },
      ),
    );
    return payment;
  }

  private answer(payment: SimulatedRailPayment): RailStatement {
    const { scenario, reference, voidedAt } = payment;
    if (voidedAt !== null) return { status: 'voided', reference, failureCode: null };
    if (this.elapsedMs(payment) < scenarioNamed(scenario).silentMs)
      throw new RailSilent('the rail gave no answer');
    const last = this.lastStep(payment);
    return {
      status: last?.status ?? 'accepted',
      reference,
      failureCode: last?.failureCode ?? null,
    };
  }

  /** Its outcome so far; undefined if it has none. */
  private lastStep(payment: SimulatedRailPayment): Step | undefined {
    const elapsedMs = this.elapsedMs(payment);
    return elapsedMs < 0
      ? undefined
      : scenarioNamed(payment.scenario)
          .steps.filter(({ afterMs }) => afterMs <= elapsedMs)
          .at(-1);
  }

  /** Since it was acted on; negative if it was not. */
  private elapsedMs({ actedAt }: SimulatedRailPayment): number {
    return actedAt === null ? -1 : this.clock() - actedAt;
  }

  /** The outcomes due to be reported, at most `limit`. Each is returned again until it was `told`. */
  async due(limit: number): Promise<readonly RailReport[]> {
    const rows = await this.database.reader.query(
      `SELECT ${columnList(simulatedRailPayments)} FROM simulated_rail_payments FORCE INDEX (report)
       WHERE rail=${literal(simulatedRailPayments, 'rail', this.name)} AND report_at<=${time.literal(this.clock())}
       ORDER BY report_at LIMIT ${Math.trunc(limit)}`,
    );
    return rows.flatMap((row) => {
      const payment = parseRow(simulatedRailPayments, row);
      const step = laterSteps(payment)[payment.reported];
      if (step === undefined) return [];
      const { paymentKey: key, reference, reported } = payment;
      const { status, failureCode } = step;
      return [{ key, reference, status, failureCode, callbackId: `${key}.${reported}` }];
    });
  }

  /** Tells by `tell` what is due, at most `limit`, and answers how much that was. */
  async report(limit: number, tell: (report: RailReport) => Promise<unknown>): Promise<number> {
    const due = await this.due(limit);
    for (const report of due) {
      await tell(report);
      await this.told(report);
    }
    return due.length;
  }

  /** The outcome has arrived: it is not told again. */
  async told({ key: paymentKey, callbackId }: RailReport): Promise<void> {
    const own = { rail: this.name, paymentKey };
    await transact(this.database, async (transaction) => {
      const payment = await transaction.find(simulatedRailPayments, own, { forUpdate: true });
      if (payment === undefined || callbackId !== `${paymentKey}.${payment.reported}`) return;
      const next = { ...payment, reported: payment.reported + 1 };
      const set = { reported: next.reported, reportAt: reportAt(next) };
      await transaction.execute(updateSql(simulatedRailPayments, set, own));
    });
  }
}

/** What it reports by callback: everything that does not happen at once. */
function laterSteps({ scenario }: Pick<SimulatedRailPayment, 'scenario'>): readonly Step[] {
  const { steps, calls } = scenarioNamed(scenario);
  return calls ? steps.filter(({ afterMs }) => afterMs > 0) : [];
}

function reportAt(
  payment: Pick<SimulatedRailPayment, 'scenario' | 'reported' | 'actedAt'>,
): Instant | null {
  const step = laterSteps(payment)[payment.reported];
  return step === undefined || payment.actedAt === null
    ? null
    : instant(payment.actedAt + step.afterMs);
}
