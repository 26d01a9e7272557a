import { newId, type Uuid } from '../../core/ids.js';
import { type Clock, instant, type Instant } from '../../core/instant.js';
import { time, uuid } from '../../db/columns.js';
import type { Database, Transaction } from '../../db/database.js';
import {
  type SimulatedRailPayment,
  simulatedRailActions,
  simulatedRailPayments,
} from '../../db/entities/payouts.js';
import { insertSql, literal, updateSql } from '../../db/statements.js';
import { transact } from '../../db/reader.js';
import type { Destination, RecipientKey } from './destinations.js';
import {
  type FailureCode,
  type KeyHolder,
  type ListedPayment,
  type Rail,
  type RailOrder,
  type RailPage,
  type RailReport,
  RailUnresponsive,
} from './rail.js';
import type { RailCallback } from './wire.js';

/** The simulated rail and its scenarios. (docs/guides/payouts.md, The simulated rail) */

/** An outcome, and how long after the payment was accepted it happens. */
interface Step {
  readonly afterMs: number;
  readonly status: 'completed' | 'failed' | 'returned';
  readonly failureCode: FailureCode | null;
}

interface Scenario {
  readonly name: string;
  /** The end of the account number or key; null for any other. */
  readonly ending: string | null;
  readonly steps: readonly Step[];
  /** For how long after acceptance the rail does not respond about the payment. */
  readonly unresponsiveMs?: number;
  /** Whether later outcomes are not reported by callback. */
  readonly isQuiet?: boolean;
  /** Whether the first submission is lost. */
  readonly losesFirst?: boolean;
}

const SOON_MS = 2_000;
const LATER_MS = 4_000;
const COMPLETED = step('completed');

function step(status: Step['status'], afterMs = 0, failureCode: Step['failureCode'] = null): Step {
  return { status, afterMs, failureCode };
}

const DEFAULT: Scenario = { ending: null, name: 'completes', steps: [COMPLETED] };
export const SCENARIOS: readonly Scenario[] = [
  DEFAULT,
  { ending: '01', name: 'fails_at_once', steps: [step('failed', 0, 'account_closed')] },
  { ending: '02', name: 'fails_later', steps: [step('failed', SOON_MS, 'account_unknown')] },
  { ending: '03', name: 'no_answer', steps: [], unresponsiveMs: Infinity, isQuiet: true },
  {
    ending: '04',
    name: 'late_answer',
    steps: [COMPLETED],
    unresponsiveMs: LATER_MS,
    isQuiet: true,
  },
  {
    ending: '05',
    name: 'returned',
    steps: [COMPLETED, step('returned', LATER_MS, 'account_blocked')],
  },
  { ending: '06', name: 'completes_later', steps: [step('completed', SOON_MS)] },
  { ending: '07', name: 'lost_once', steps: [COMPLETED], losesFirst: true },
];

/** Scenarios of keys alone. They also decide what the rail reports about the holder. */
export const KEY_SCENARIOS: readonly Scenario[] = [
  { ending: '08', name: 'key_unknown', steps: [step('failed', 0, 'account_unknown')] },
  { ending: '09', name: 'holder_changes', steps: [step('failed', 0, 'recipient_changed')] },
  { ending: '10', name: 'holder_not_said', steps: [COMPLETED] },
];

function scenarioFor(to: Destination): Scenario {
  if (to.type === 'bank_account') return scenarioOf(to.accountNumber, SCENARIOS);
  if (to.holder !== null && to.holder !== SIMULATED_HOLDER.holder)
    return scenarioNamed('holder_changes');
  const found = scenarioOf(to.key, [...SCENARIOS, ...KEY_SCENARIOS]);
  // Without a check, any holder is paid.
  return found.name === 'holder_changes' ? DEFAULT : found;
}

function scenarioOf(text: string, scenarios: readonly Scenario[]): Scenario {
  return scenarios.find(({ ending }) => ending !== null && text.endsWith(ending)) ?? DEFAULT;
}

export function scenarioNamed(name: string | null): Scenario {
  const scenario = [...SCENARIOS, ...KEY_SCENARIOS].find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`the simulated rail has no scenario ${name}`);
  return scenario;
}

const PAGE = 500;

const SIMULATED_HOLDER = {
  holder: 'SIM-HOLDER',
  holderName: 'Ana María Pérez',
  bankCode: '0007',
  accountType: 'savings',
} as const;

/**
 * A bank that does not exist, in tables of its own. They count submissions, and have a row for each
 * time that a payment was accepted: two rows for one payment are money paid twice.
 */
export class SimulatedRail implements Rail {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly name: string,
  ) {}

  async submit(order: RailOrder): Promise<RailReport> {
    const receive = (transaction: Transaction) => this.receive(transaction, order);
    return this.response(await transact(this.database, receive));
  }

  async status(key: Uuid): Promise<RailReport | null> {
    const payment = await this.database.reader.find(simulatedRailPayments, this.keyOf(key));
    return payment === undefined || (payment.acceptedAt ?? payment.voidedAt) === null
      ? null
      : this.response(payment);
  }

  async void(key: Uuid): Promise<RailReport> {
    const unknown = { scenario: null, asset: null, raw: null };
    const payment = await transact(this.database, async (transaction) => {
      const known = await this.lockOrInsert(transaction, key, unknown, this.clock());
      if (known.voidedAt !== null || this.lastStep(known) !== undefined) return known;
      const change = { voidedAt: this.clock(), reportAt: null };
      await transaction.execute(updateSql(simulatedRailPayments, change, this.keyOf(key)));
      return { ...known, ...change };
    });
    return this.response(payment);
  }

  async list(since: Instant, after: Uuid | null): Promise<RailPage> {
    const afterSql = after === null ? '' : ` AND payment_key>${uuid.literal(after)}`;
    const rows = await this.database.reader.list(
      simulatedRailPayments,
      `WHERE rail=${literal(simulatedRailPayments, 'rail', this.name)}
         AND accepted_at>=${time.literal(since)}${afterSql} ORDER BY payment_key LIMIT ${PAGE}`,
    );
    const items = rows.flatMap((payment): ListedPayment[] => {
      const { paymentKey: key, asset, raw } = payment;
      return asset === null || raw === null
        ? []
        : [{ key, ...this.reportOf(payment), amount: { asset, raw } }];
    });
    return { items, next: rows[PAGE - 1]?.paymentKey ?? null };
  }

  /** By the key's end, each response names another holder, none comes, or the key is unknown. */
  resolve({ key }: RecipientKey): Promise<KeyHolder | null> {
    const { name } = scenarioOf(key, KEY_SCENARIOS);
    if (name === 'holder_not_said')
      return Promise.reject(new RailUnresponsive('the rail does not say who holds the key'));
    if (name === 'key_unknown') return Promise.resolve(null);
    const changes = name === 'holder_changes' ? { holder: newId() } : {};
    return Promise.resolve({ ...SIMULATED_HOLDER, ...changes });
  }

  /** Returns at most `limit` outcomes that are due to be reported and not acknowledged yet. */
  async dueReports(limit: number): Promise<readonly RailCallback[]> {
    const rows = await this.database.reader.list(
      simulatedRailPayments,
      `FORCE INDEX (report) WHERE rail=${literal(simulatedRailPayments, 'rail', this.name)}
         AND report_at<=${time.literal(this.clock())} ORDER BY report_at LIMIT ${Math.trunc(limit)}`,
    );
    return rows.flatMap((payment): RailCallback[] => {
      const { paymentKey: key, reference, reported } = payment;
      const next = laterSteps(payment)[reported];
      if (next === undefined) return [];
      const { status, failureCode } = next;
      return [{ key, reference, status, failureCode, callbackId: `${key}.${reported}` }];
    });
  }

  async acknowledge({ key, callbackId }: RailCallback): Promise<void> {
    await transact(this.database, async (transaction) => {
      const forUpdate = { forUpdate: true } as const;
      const payment = await transaction.find(simulatedRailPayments, this.keyOf(key), forUpdate);
      if (payment === undefined || callbackId !== `${key}.${payment.reported}`) return;
      const reported = payment.reported + 1;
      const set = { reported, reportAt: reportAt({ ...payment, reported }) };
      await transaction.execute(updateSql(simulatedRailPayments, set, this.keyOf(key)));
    });
  }

  private keyOf(paymentKey: Uuid) {
    return { rail: this.name, paymentKey };
  }

  private async lockOrInsert(
    transaction: Transaction,
    key: Uuid,
    order: Pick<SimulatedRailPayment, 'scenario' | 'asset' | 'raw'>,
    voidedAt: Instant | null,
  ): Promise<SimulatedRailPayment> {
    const reference = `SIM-${key.replaceAll('-', '').slice(0, 20).toUpperCase()}`;
    const begin = { submissions: 0, acceptedAt: null, reported: 0, reportAt: null, voidedAt };
    const row = { ...this.keyOf(key), ...order, reference, ...begin };
    await transaction.execute(
      `${insertSql(simulatedRailPayments, [row])} ON DUPLICATE KEY UPDATE submissions=submissions`,
    );
    const forUpdate = { forUpdate: true } as const;
    const known = await transaction.find(simulatedRailPayments, this.keyOf(key), forUpdate);
    if (known === undefined) throw new Error('the inserted payment does not exist');
    return known;
  }

  private async receive(
    transaction: Transaction,
    { key, amount, destination }: RailOrder,
  ): Promise<SimulatedRailPayment> {
    const { name: scenario, losesFirst = false } = scenarioFor(destination);
    const known = await this.lockOrInsert(transaction, key, { scenario, ...amount }, null);
    const isLost = losesFirst && known.submissions === 0;
    const isAccepted = known.acceptedAt === null && known.voidedAt === null && !isLost;
    const at = this.clock();
    if (isAccepted)
      await transaction.execute(
        insertSql(simulatedRailActions, [{ id: newId(), ...this.keyOf(key), at }]),
      );
    const accepted = { ...known, acceptedAt: at };
    const change = {
      submissions: known.submissions + 1,
      ...(isAccepted ? { acceptedAt: at, reportAt: reportAt(accepted) } : {}),
    };
    await transaction.execute(updateSql(simulatedRailPayments, change, this.keyOf(key)));
    return { ...known, ...change };
  }

  /** Throws RailUnresponsive while the payment's scenario gives no response. */
  private response(payment: SimulatedRailPayment): RailReport {
    const { scenario, voidedAt } = payment;
    // A payment that was voided before it was submitted has no scenario.
    if (
      voidedAt === null &&
      this.elapsedMs(payment) < (scenarioNamed(scenario).unresponsiveMs ?? 0)
    )
      throw new RailUnresponsive('the rail gave no answer');
    return this.reportOf(payment);
  }

  private reportOf(payment: SimulatedRailPayment): RailReport {
    const { reference, voidedAt } = payment;
    if (voidedAt !== null) return { status: 'voided', reference, failureCode: null };
    const { status, failureCode } = this.lastStep(payment) ?? ACCEPTED;
    return { status, reference, failureCode };
  }

  private lastStep(payment: SimulatedRailPayment): Step | undefined {
    const elapsedMs = this.elapsedMs(payment);
    if (elapsedMs < 0) return undefined;
    const { steps } = scenarioNamed(payment.scenario);
    return steps.filter(({ afterMs }) => afterMs <= elapsedMs).at(-1);
  }

  private elapsedMs({ acceptedAt }: SimulatedRailPayment): number {
    return acceptedAt === null ? -1 : this.clock() - acceptedAt;
  }
}

const ACCEPTED = { status: 'accepted', failureCode: null } as const;

/** Returns the outcomes that are reported by callback: all that do not happen at once. */
function laterSteps({ scenario }: Pick<SimulatedRailPayment, 'scenario'>): readonly Step[] {
  const { steps, isQuiet = false } = scenarioNamed(scenario);
  return isQuiet ? [] : steps.filter(({ afterMs }) => afterMs > 0);
}

function reportAt(
  payment: Pick<SimulatedRailPayment, 'scenario' | 'reported' | 'acceptedAt'>,
): Instant | null {
  const next = laterSteps(payment)[payment.reported];
  return next === undefined || payment.acceptedAt === null
    ? null
    : instant(payment.acceptedAt + next.afterMs);
}
