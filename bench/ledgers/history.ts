import type { Asset } from '../../src/core/amount.js';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import { instant, type Instant } from '../../src/core/instant.js';
import type { Metadata } from '../../src/core/metadata.js';
import { Random } from './random.js';
import { FUNDINGS_PER_ACCOUNT, type LedgerShape } from './shape.js';

/** Kind of the id's owner. Its index in ID_KINDS follows the time in the id, and orders ids of one instant. */
type IdKind =
  'tenant' | 'member' | 'account' | 'operation' | 'transaction' | 'debit' | 'credit' | 'event';
const ID_KINDS: readonly IdKind[] = [
  'tenant',
  'member',
  'account',
  'operation',
  'transaction',
  'debit',
  'credit',
  'event',
];

/** The tenant's system accounts have the first indexes. */
export const PAY_IN = 0;
export const SYSTEM_ACCOUNTS = 3;
/** The first account of a person or business. It is the busy account, if the shape has one. */
export const FIRST_ACCOUNT = SYSTEM_ACCOUNTS;

/** The smallest amount of a transfer. All amounts are multiples of this unit. */
export const UNIT_RAW = 100_000n;
/** Enough to send a month's whole allowance. */
const FUNDING_UNITS = 10_000_000;
const MAX_UNITS = 9;
const DAYS = 180;
const DAY_MS = 86_400_000;
/** Invoices by which the transfers of a busy ledger are found: an operation's number modulo this. */
export const INVOICES = 1_000;
export const INVOICE_KEY = 'invoice';
/** In a busy account's history, one operation in this many is a pay-in. */
const PAY_IN_EVERY = 25;

/**
 * Everything that happened in a ledger, oldest first, in a few bytes per operation. Ten million entries are generated
 * from it table by table, each in primary-key order.
 */
export class History {
  readonly beganAt: Instant;
  /** Payers and receivers, by number; PAY_IN pays if money arrives from outside. */
  readonly sources: Uint32Array;
  readonly destinations: Uint32Array;
  private readonly units: Uint32Array;
  private readonly dollars: Uint8Array;
  private readonly stepMs: number;

  constructor(
    readonly shape: LedgerShape,
    endsAt: Instant,
  ) {
    const { operations } = shape;
    this.beganAt = instant(endsAt - DAYS * DAY_MS);
    this.stepMs = (DAYS * DAY_MS) / operations;
    this.sources = new Uint32Array(operations);
    this.destinations = new Uint32Array(operations);
    this.units = new Uint32Array(operations);
    this.dollars = new Uint8Array(operations);
    this.fund();
    if (shape.hasBusyAccount) this.spendAroundBusyAccount();
    else this.spendAtRandom();
  }

  get length(): number {
    return this.shape.operations;
  }

  /** Includes system accounts. */
  get accountCount(): number {
    return this.shape.accounts + SYSTEM_ACCOUNTS;
  }

  isPayIn(operation: number): boolean {
    return this.sources[operation] === PAY_IN;
  }

  asset(operation: number): Asset {
    return this.dollars[operation] === 1 ? 'DUSD' : 'COPM';
  }

  /** Only transfers of a busy ledger have metadata. */
  metadata(operation: number): Metadata | null {
    if (!this.shape.hasBusyAccount) return null;
    return { [INVOICE_KEY]: invoiceOf(operation % INVOICES) };
  }

  raw(operation: number): bigint {
    return BigInt(this.units[operation] ?? 0) * UNIT_RAW;
  }

  at(operation: number): Instant {
    return instant(this.beganAt + operation * this.stepMs);
  }

  id(kind: Exclude<IdKind, 'account'>, operation: number): Uuid {
    return idAt(this.at(operation), kind, operation);
  }

  accountId(account: number): Uuid {
    return idAt(this.beganAt, 'account', account);
  }

  private set(
    operation: number,
    source: number,
    destination: number,
    units: number,
    isDollar: boolean,
  ): void {
    this.sources[operation] = source;
    this.destinations[operation] = destination;
    this.units[operation] = units;
    this.dollars[operation] = isDollar ? 1 : 0;
  }

  private fund(): void {
    for (let account = 0; account < this.shape.accounts; account += 1)
      for (let asset = 0; asset < FUNDINGS_PER_ACCOUNT; asset += 1)
        this.set(
          account * FUNDINGS_PER_ACCOUNT + asset,
          PAY_IN,
          FIRST_ACCOUNT + account,
          FUNDING_UNITS,
          asset === 1,
        );
  }

  private spendAtRandom(): void {
    const random = new Random(1);
    const { accounts } = this.shape;
    for (let operation = accounts * FUNDINGS_PER_ACCOUNT; operation < this.length; operation += 1) {
      const source = random.below(accounts);
      const destination = (source + 1 + random.below(accounts - 1)) % accounts;
      const units = 1 + random.below(MAX_UNITS);
      this.set(
        operation,
        FIRST_ACCOUNT + source,
        FIRST_ACCOUNT + destination,
        units,
        random.below(10) < 3,
      );
    }
  }

  private spendAroundBusyAccount(): void {
    const random = new Random(2);
    const { accounts } = this.shape;
    for (let operation = accounts * FUNDINGS_PER_ACCOUNT; operation < this.length; operation += 1) {
      const other = FIRST_ACCOUNT + 1 + random.below(accounts - 1);
      const units = 1 + random.below(MAX_UNITS);
      const isDollar = random.below(10) < 3;
      if (operation % PAY_IN_EVERY === 0)
        this.set(operation, PAY_IN, FIRST_ACCOUNT, units, isDollar);
      else if (random.below(2) === 0) this.set(operation, FIRST_ACCOUNT, other, units, isDollar);
      else this.set(operation, other, FIRST_ACCOUNT, units, isDollar);
    }
  }
}

export function invoiceOf(number: number): string {
  return `A-${number}`;
}

/** A UUID v7, ordered by time, then kind, then number. */
function idAt(at: Instant, kind: IdKind, number: number): Uuid {
  const time = at.toString(16).padStart(12, '0');
  const order = ID_KINDS.indexOf(kind).toString(16).padStart(3, '0');
  return asUuid(
    `${time.slice(0, 8)}-${time.slice(8)}-7${order}-8000-${number.toString(16).padStart(12, '0')}`,
  );
}
