import { newId, type Uuid } from '../../core/ids.js';
import { type Clock, instant, type Instant } from '../../core/instant.js';
import { time } from '../../db/columns.js';
import type { Database, Transaction } from '../../db/database.js';
import { type SimulatedRailPayment, simulatedRailActions, simulatedRailPayments } from '../../db/entities/payouts.js';
import { columnList, insertSql, literal, updateSql } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';
import { transact } from '../../db/transact.js';
import type { RailStatement } from '../rules.js';
import { scenarioFor, scenarioNamed, type Step } from './scenarios.js';
import { type Rail, type RailOrder, RailSilent } from './types.js';

/** An outcome that the rail tells by itself. */
export interface RailReport extends RailStatement {
  readonly key: Uuid;
  /** The same whenever it is told again. */
  readonly callbackId: string;
}

/**
 * A bank that is not there. What it does follows from the account number's ending (scenarios.ts) and the time alone, and is
 * kept in tables of its own, so that it goes on where a killed process left it. It reads nothing of ours: it counts what it is
 * given, and would show a payment that was made twice.
 */
export class SimulatedRail implements Rail {
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly name: string;

  /** One installation may serve it under several names: each is a bank of its own. */
  constructor(database: Database, clock: Clock, name: string) {
    this.database = database;
    this.clock = clock;
    this.name = name;
  }

  /** Takes it; the same key again changes nothing. Throws RailSilent where it gives no answer, DatabaseUnavailable. */
  async submit(order: RailOrder): Promise<RailStatement> {
    return this.answer(await transact(this.database, (transaction) => this.take(transaction, order)));
  }

  /** Throws RailSilent where it gives no answer, DatabaseUnavailable. */
  async status(key: Uuid): Promise<RailStatement | null> {
    const payment = await this.database.reader.find(simulatedRailPayments, { rail: this.name, paymentKey: key });
    return payment === undefined || payment.actedAt === null ? null : this.answer(payment);
  }

  private async take(transaction: Transaction, { key, amount, destination }: RailOrder): Promise<SimulatedRailPayment> {
    const rail = this.name;
    const scenario = scenarioFor(destination.accountNumber);
    const first: SimulatedRailPayment = {
      rail,
      paymentKey: key,
      scenario: scenario.name,
      ...amount,
      reference: `SIM-${key.replaceAll('-', '').slice(0, 20).toUpperCase()}`,
      submissions: 0,
      actedAt: null,
      reported: 0,
      reportAt: null,
    };
    // Two at once: the second waits here for the first, and then finds it.
    await transaction.execute(
      `${insertSql(simulatedRailPayments, [first])} ON DUPLICATE KEY UPDATE submissions=submissions`,
    );
    const known = await transaction.find(simulatedRailPayments, { rail, paymentKey: key }, { forUpdate: true });
    if (known === undefined) throw new Error('what was inserted is not there');
    const acts = known.actedAt === null && !(scenario.losesFirst && known.submissions === 0);
    const actedAt = acts ? this.clock() : known.actedAt;
    const submissions = known.submissions + 1;
    const payment = {
      ...known,
      submissions,
      actedAt,
      reportAt: acts ? reportAt({ ...known, actedAt }) : known.reportAt,
    };
    if (acts && actedAt !== null)
      await transaction.execute(insertSql(simulatedRailActions, [{ id: newId(), rail, paymentKey: key, at: actedAt }]));
    await transaction.execute(
      updateSql(simulatedRailPayments, { submissions, actedAt, reportAt: payment.reportAt }, { rail, paymentKey: key }),
    );
    return payment;
  }

  private answer({ scenario, actedAt, reference }: SimulatedRailPayment): RailStatement {
    const { steps, silentMs } = scenarioNamed(scenario);
    const elapsedMs = actedAt === null ? -1 : this.clock() - actedAt;
    if (elapsedMs < silentMs) throw new RailSilent('the rail gave no answer');
    const last = steps.filter(({ afterMs }) => afterMs <= elapsedMs).at(-1);
    return { status: last?.status ?? 'accepted', reference, failureCode: last?.failureCode ?? null };
  }

  /** The outcomes that are due to be told, at most `limit`. Each comes again until it was `told`. */
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

/** What it tells by callback: all that does not happen at once. */
function laterSteps({ scenario }: Pick<SimulatedRailPayment, 'scenario'>): readonly Step[] {
  const { steps, calls } = scenarioNamed(scenario);
  return calls ? steps.filter(({ afterMs }) => afterMs > 0) : [];
}

function reportAt(payment: Pick<SimulatedRailPayment, 'scenario' | 'reported' | 'actedAt'>): Instant | null {
  const step = laterSteps(payment)[payment.reported];
  return step === undefined || payment.actedAt === null ? null : instant(payment.actedAt + step.afterMs);
}
