import { type Asset, ASSETS } from '../../src/core/amount.js';
import { instant, type Instant, monthOf } from '../../src/core/instant.js';
import type { LastPosting } from '../../src/db/entities/ledger.js';
import { type History, PAY_IN } from './history.js';

export const TIME_ZONE = 'America/Bogota';

/** The state of each account at the end of a history. */
export class EndState {
  private readonly lastAt: Float64Array;
  /** The number of entries of each account. */
  private readonly counts: Uint32Array;
  /** The last entry of each account and asset. */
  private readonly seqs: Uint32Array;
  readonly months: readonly string[];
  private readonly totals: BigInt64Array;
  private readonly used: BigInt64Array;

  constructor(history: History) {
    const { accountCount, length } = history;
    this.months = monthsBetween(history.beganAt, history.at(length - 1));
    this.counts = new Uint32Array(accountCount);
    this.seqs = new Uint32Array(accountCount * ASSETS.length);
    this.lastAt = new Float64Array(accountCount * ASSETS.length).fill(history.beganAt);
    this.totals = new BigInt64Array(accountCount * ASSETS.length);
    this.used = new BigInt64Array(accountCount * ASSETS.length * this.months.length);
    for (let operation = 0; operation < length; operation += 1) this.add(history, operation);
  }

  total(account: number, asset: Asset): bigint {
    return this.totals[place(account, asset)] ?? 0n;
  }

  lastPosting(account: number, asset: Asset): LastPosting {
    const index = place(account, asset);
    return { seq: BigInt(this.seqs[index] ?? 0), lastPostedAt: instant(this.lastAt[index] ?? 0) };
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
    const index = place(account, asset);
    this.seqs[index] = this.counts[account] = (this.counts[account] ?? 0) + 1;
    this.lastAt[index] = at;
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
