import { setTimeout as sleep } from 'node:timers/promises';
import { newId, type Uuid } from '../../src/core/ids.js';
import type { RecipientKey } from '../../src/payouts/rails/destinations.js';
import type { RailOrder } from '../../src/payouts/rails/rail.js';
import type { KeyedReport } from '../../src/payouts/rails/wire.js';
import type { CallbackListener } from './callbacks.js';
import { mustBeUnknown, type Probe, statement, Violation } from './probe.js';

/** The means of every rule: the gateway, its callbacks, and what it was given so far. */

export interface CheckedOrders {
  readonly amount: RailOrder['amount'];
  readonly country: string;
  readonly bankCode: string;
  /** An account that the gateway pays. */
  readonly accountNumber: string;
  /** An account that the gateway pays some time after it accepted the order. */
  readonly laterAccountNumber: string;
  /** A key that is held, and one that is not. Undefined if the gateway takes no keys. */
  readonly heldKey?: RecipientKey | undefined;
  readonly unknownKey?: RecipientKey | undefined;
}

const POLL_MS = 200;

/** A rule of docs/payout-rail.md that can be checked from outside. */
export interface Rule {
  readonly name: string;
  readonly rule: string;
  /** The heading in docs/payout-rail.md. */
  readonly where: string;
  /** Returns a remark, or nothing. Throws Violation. */
  readonly check: (bench: Bench) => Promise<string | void>;
}

export class Bench {
  /** Payments made, each with its reference. */
  readonly paid = new Map<Uuid, string | null>();
  readonly voided = new Set<Uuid>();

  /** `waitMs`: how long the gateway may take for later reports. */
  constructor(
    readonly probe: Probe,
    readonly callbacks: CallbackListener,
    readonly orders: CheckedOrders,
    private readonly waitMs: number,
  ) {}

  newOrder(when: 'soon' | 'later' = 'soon'): RailOrder {
    return this.orderOf(newId(), when);
  }

  /** An order to the key, for this holder alone. */
  keyOrder(recipient: RecipientKey, holder: string): RailOrder {
    const { amount } = this.orders;
    return { key: newId(), amount, destination: { ...recipient, holder }, description: null };
  }

  orderOf(key: Uuid, when: 'soon' | 'later' = 'soon'): RailOrder {
    const { amount, country, bankCode, accountNumber, laterAccountNumber } = this.orders;
    const destination = {
      type: 'bank_account',
      country,
      bankCode,
      accountType: 'savings',
      accountNumber: when === 'soon' ? accountNumber : laterAccountNumber,
      holderName: 'Conformance Check',
      holderDocument: 'CC-1000',
    } as const;
    return { key, amount, destination, description: null };
  }

  /** Gives a new order, which must be accepted. Throws Violation. */
  async give(order: RailOrder): Promise<KeyedReport> {
    const report = statement(await this.probe.order(order), order.key);
    if (report.status !== 'accepted' && report.status !== 'completed')
      throw new Violation(
        `a new order was answered ${report.status}: name an account that the gateway pays`,
      );
    return report;
  }

  async ask(key: Uuid): Promise<KeyedReport> {
    return statement(await this.probe.get(key), key);
  }

  /**
   * Waits until it is paid, and remembers that. Throws Violation if it takes too long or ends
   * differently.
   */
  async completed(key: Uuid): Promise<KeyedReport> {
    const report = await this.until(`${key} to be paid`, async () => {
      const now = await this.ask(key);
      return now.status === 'accepted' ? undefined : now;
    });
    if (report.status !== 'completed')
      throw new Violation(`an order that was taken became ${report.status}`);
    this.paid.set(key, report.reference);
    return report;
  }

  /** Checks that nothing was done with the key. Throws Violation. */
  async isUntouched(key: Uuid): Promise<void> {
    mustBeUnknown(await this.probe.get(key), key);
  }

  async until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
    const end = performance.now() + this.waitMs;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > end)
        throw new Violation(`waited ${this.waitMs / 1_000} s for ${what}`);
      await sleep(POLL_MS);
    }
  }
}

/** Every answer about a key must name the same payment. Throws Violation. */
export function mustBeSame(first: KeyedReport, again: KeyedReport): void {
  if (first.reference !== again.reference)
    throw new Violation(
      `the same key was answered with the reference ${first.reference} and then with ${again.reference}: it may be paid twice`,
    );
}
