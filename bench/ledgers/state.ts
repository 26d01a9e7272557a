import { type Asset, ASSETS } from '../../src/core/amount.js';
import { type Instant, monthOf } from '../../src/core/instant.js';
import { type History, PAY_IN } from './history.js';

export const TIME_ZONE = 'America/Bogota';

/** The state of each account at the end of a history. */
export class EndState {
  readonly lastAt: Float64Array;
  /** The number of entries of each account. */
  readonly seqs: Uint32Array;
  readonly months: readonly string[];
  private readonly totals: BigInt64Array;
  private readonly used: BigInt64Array;

  constructor(history: History) {
    const { accountCount, length } = history;
    this.months = monthsBetween(history.beganAt, history.at(length - 1));
    this.seqs = new Uint32Array(accountCount);
    this.lastAt = new Float64Array(accountCount).fill(history.beganAt);
    this.totals = new BigInt64Array(accountCount * ASSETS.length);
    this.used = new BigInt64Array(accountCount * ASSETS.length * this.months.length);
    for (let operation = 0; operation < length; operation += 1) this.add(history, operation);
  }

  total(account: number, asset: Asset): bigint {
    return this.totals[place(account, asset)] ?? 0n;
  }

  /** Amounts that left the account, by the month's index in `months`. */
  monthUsed(account: number, asset: Asset, month: number): bigint {
    return this.used[place(account, asset) * this.months.length + month] ?? 0n;
  }

  private add(history: History, operation: number): void {
    const source = history.sources[operation] ?? 0;
    const asset = history.asset(operation);
    const raw = history.raw(operation);
    this.move(source, asset, -raw, history.at(operation));
    this.move(history.destinations[operation] ?? 0, asset, raw, history.at(operation));
    if (source === PAY_IN) return;
    const month = this.months.indexOf(monthName(history.at(operation)));
    const index = place(source, asset) * this.months.length + month;
    this.used[index] = (this.used[index] ?? 0n) + raw;
  }

  private move(account: number, asset: Asset, raw: bigint, at: Instant): void {
    this.seqs[account] = (this.seqs[account] ?? 0) + 1;
    this.lastAt[account] = at;
    const index = place(account, asset);
    this.totals[index] = (this.totals[index] ?? 0n) + raw;
  }
}

export function monthName(at: Instant): string {
  return monthOf(at, TIME_ZONE).name;
}

function place(account: number, asset: Asset): number {
  return account * ASSETS.length + ASSETS.indexOf(asset);
}

function monthsBetween(from: Instant, to: Instant): string[] {
  const names: string[] = [];
  for (let at = from; ; at = monthOf(at, TIME_ZONE).endsAt) {
    if (at > to) return names;
    names.push(monthName(at));
  }
}
