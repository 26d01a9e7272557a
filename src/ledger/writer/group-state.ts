import { type Asset, eachAsset, fitsColumn } from '../../core/amount.js';
import { groupBy } from '../../core/collections.js';
import { newId, type Uuid } from '../../core/ids.js';
import { type Instant, maxInstant } from '../../core/instant.js';
import {
  type Balance,
  type Entry,
  type Hold,
  holds,
  type LastPosting,
  lastPostingOf,
  type LedgerTransaction,
  type MonthTotal,
  monthTotals,
  noBalance,
} from '../../db/entities/ledger.js';
import type { LockableAccount } from '../../db/entities/parties.js';
import type { Table } from '../../db/table.js';
import type { DatabaseClock } from '../database-clock.js';
import type { EventDraft } from '../event-log.js';
import type { LoadedTable } from './loaded-table.js';
import type { HoldChange, LockedState, Posting, RowWrite, Writes } from './types.js';

/** A decision asked for an account that was not locked. The group is retried. */
export class AccountNotLocked extends Error {
  override name = 'AccountNotLocked';
}

/** A decision would break the ledger because of a bug. */
export class UnsoundDecision extends Error {
  override name = 'UnsoundDecision';
}

/** An account's last posting is stored with its balances. */
type PostedAccount = LockableAccount & LastPosting;

interface AccountState {
  readonly account: PostedAccount;
  readonly overdraft: boolean;
  readonly balances: Record<Asset, Balance>;
}

/** `account` is a copy, which the draft changes in place. */
interface DraftState extends AccountState {
  readonly account: PostedAccount & { seq: bigint };
}

export type LoadedTables = ReadonlyMap<Table<unknown>, LoadedTable>;

export interface GroupWrites {
  readonly transactions: LedgerTransaction[];
  readonly entries: Entry[];
  readonly balances: Map<string, Balance>;
  readonly months: Map<string, MonthTotal>;
  readonly holds: Map<Uuid, Hold>;
  readonly rows: Map<Table<unknown>, Map<Uuid, RowWrite>>;
  readonly events: EventDraft[];
}

/**
 * Locked accounts and loaded rows of one group. Each decision is applied before the next command is
 * decided, so commands see the writes of earlier ones. `group-writes.ts` stores the result.
 */
export class GroupState {
  readonly writes: GroupWrites = {
    transactions: [],
    entries: [],
    balances: new Map(),
    months: new Map(),
    holds: new Map(),
    rows: new Map(),
    events: [],
  };
  private readonly accounts = new Map<Uuid, AccountState>();
  private readonly changed = new Set<Uuid>();

  constructor(
    accounts: readonly LockableAccount[],
    balances: readonly Balance[],
    private readonly loaded: LoadedTables,
  ) {
    const byAccount = groupBy(balances, (balance) => balance.accountId);
    for (const account of accounts) {
      const own = byAccount.get(account.id) ?? [];
      const byAsset: Record<Asset, Balance> = eachAsset(
        (asset) => own.find((balance) => balance.asset === asset) ?? noBalance(account, asset),
      );
      const all = Object.values(byAsset);
      this.accounts.set(account.id, {
        account: { ...account, ...lastPostingOf(all) },
        overdraft: all.every((balance) => balance.overdraft),
        balances: byAsset,
      });
    }
  }

  latestPosted(accountIds: readonly Uuid[]): PostedAccount | undefined {
    let latest: PostedAccount | undefined;
    for (const id of accountIds) {
      const account = this.accounts.get(id)?.account;
      if (
        account !== undefined &&
        (latest === undefined || account.lastPostedAt > latest.lastPostedAt)
      )
        latest = account;
    }
    return latest;
  }

  /**
   * Returns the instant of a command: later than each earlier commit on its accounts, and not earlier
   * than a decision of this group.
   */
  instantOf(accountIds: readonly Uuid[], now: Instant, databaseClock: DatabaseClock): Instant {
    let at = now;
    for (const id of accountIds) {
      const last = this.accounts.get(id)?.account.lastPostedAt;
      if (last === undefined) continue;
      const isOwn = this.changed.has(id);
      at = maxInstant(at, isOwn ? last : databaseClock.earliestAfter(last));
    }
    return at;
  }

  lockedState(at: Instant, accountIds: readonly Uuid[]): LockedState {
    const locked = new Set(accountIds);
    const rows: LockedState['rows'] = (table, key) => {
      const found = this.loaded.get(table)?.get(key);
      if (found === undefined)
        throw new UnsoundDecision(`rows of ${table.name} were not requested by rowKeys`);
      return found as (typeof table extends Table<infer Row> ? Row : never)[];
    };
    return {
      at,
      account: (id) => {
        if (!locked.has(id))
          throw new AccountNotLocked('a decision read an account without its lock');
        return this.accounts.get(id);
      },
      accountIfLocked: (id) => (locked.has(id) ? this.accounts.get(id) : undefined),
      rows,
      row: (table, key) => rows(table, key)[0],
    };
  }

  /** Applies all of a decision, or throws `UnsoundDecision` and changes nothing. */
  apply(writes: Writes, tenantId: Uuid, at: Instant): void {
    const draft = new DecisionDraft(this.accounts, this.loaded.get(holds), at);
    for (const change of writes.holds ?? []) draft.changeHold(change);
    for (const posting of writes.postings ?? []) draft.post(posting, tenantId);
    draft.assertSound();
    const months = this.changedMonths(writes.months ?? []);

    for (const [id, state] of draft.accounts) {
      const before = this.accounts.get(id);
      this.accounts.set(id, state);
      this.changed.add(id);
      for (const balance of Object.values(state.balances))
        if (balance !== before?.balances[balance.asset])
          this.writes.balances.set(`${id}|${balance.asset}`, balance);
    }
    for (const hold of draft.holds.values()) {
      this.writes.holds.set(hold.resourceId, hold);
      this.loaded.get(holds)?.put(hold, ['resourceId']);
    }
    for (const total of months) this.putMonth(total);
    for (const write of writes.rows ?? []) this.putRow(write);
    this.writes.transactions.push(...draft.transactions);
    this.writes.entries.push(...draft.entries);
    this.writes.events.push(...(writes.events ?? []));
  }

  private changedMonths(changes: NonNullable<Writes['months']>): MonthTotal[] {
    const changed = new Map<string, MonthTotal>();
    for (const { accountId, asset, month, raw } of changes) {
      const key = { accountId, asset, month };
      const name = `${accountId}|${asset}|${month}`;
      const loaded = this.loaded.get(monthTotals)?.get(key);
      // Without the stored total, the new total would start from zero.
      if (loaded === undefined) throw new UnsoundDecision('a month is changed that was not loaded');
      const known = changed.get(name) ?? (loaded[0] as MonthTotal | undefined);
      const used = (known?.used ?? 0n) + raw;
      if (used < 0n || !fitsColumn(used))
        throw new UnsoundDecision('a month total would leave its range');
      changed.set(name, { accountId, asset, month, used });
    }
    return [...changed.values()];
  }

  private putMonth(total: MonthTotal): void {
    const { accountId, asset, month } = total;
    this.writes.months.set(`${accountId}|${asset}|${month}`, total);
    this.loaded.get(monthTotals)?.put(total, ['accountId', 'asset', 'month']);
  }

  private putRow(write: RowWrite): void {
    const rows = this.writes.rows.get(write.table) ?? new Map<Uuid, RowWrite>();
    const before = rows.get(write.row.id);
    rows.set(write.row.id, { ...write, isNew: before?.isNew ?? write.isNew });
    this.writes.rows.set(write.table, rows);
    this.loaded.get(write.table)?.put(write.row, ['id']);
  }
}

/** Changes of one decision, on copies, so that an unsound decision changes nothing. */
class DecisionDraft {
  readonly accounts = new Map<Uuid, DraftState>();
  readonly holds = new Map<Uuid, Hold>();
  readonly transactions: LedgerTransaction[] = [];
  readonly entries: Entry[] = [];

  constructor(
    private readonly before: ReadonlyMap<Uuid, AccountState>,
    private readonly loadedHolds: LoadedTable | undefined,
    private readonly at: Instant,
  ) {}

  private draftOf(id: Uuid): DraftState {
    const touched = this.accounts.get(id);
    if (touched !== undefined) return touched;
    const before = this.before.get(id);
    if (before === undefined)
      throw new UnsoundDecision('a posting touches an account that is not locked');
    const copy = {
      ...before,
      account: { ...before.account, lastPostedAt: this.at },
      balances: { ...before.balances },
    };
    this.accounts.set(id, copy);
    return copy;
  }

  /** `seq` is the number of the entry that moves the money, unless a hold does. */
  private move(id: Uuid, asset: Asset, available: bigint, held: bigint, seq?: bigint): Balance {
    const { balances } = this.draftOf(id);
    const balance = balances[asset];
    return (balances[asset] = {
      ...balance,
      available: balance.available + available,
      held: balance.held + held,
      seq: seq ?? balance.seq,
      lastPostedAt: this.at,
    });
  }

  changeHold(change: HoldChange): void {
    if (change.change === 'place') {
      const { resourceId, resourceType, accountId, asset, raw, expiresAt = null } = change;
      if (raw <= 0n) throw new UnsoundDecision('a hold of zero or less is placed');
      if (this.findHold(resourceId) !== undefined)
        throw new UnsoundDecision('a second hold is placed for a resource');
      this.move(accountId, asset, -raw, raw);
      this.holds.set(resourceId, {
        resourceId,
        resourceType,
        accountId,
        asset,
        raw,
        remaining: raw,
        createdAt: this.at,
        expiresAt,
      });
      return;
    }
    const hold = this.findHold(change.resourceId);
    if (hold === undefined) throw new UnsoundDecision('a hold is changed that was not loaded');
    if (change.change === 'extend') {
      this.holds.set(hold.resourceId, { ...hold, expiresAt: change.expiresAt });
      return;
    }
    this.move(hold.accountId, hold.asset, change.raw, -change.raw);
    const remaining = hold.remaining - change.raw;
    this.holds.set(hold.resourceId, {
      ...hold,
      remaining,
      expiresAt: remaining === 0n ? null : hold.expiresAt,
    });
  }

  private findHold(resourceId: Uuid): Hold | undefined {
    return (
      this.holds.get(resourceId) ?? (this.loadedHolds?.get({ resourceId })?.[0] as Hold | undefined)
    );
  }

  post(posting: Posting, tenantId: Uuid): void {
    if (posting.entries.length < 2)
      throw new UnsoundDecision('a ledger transaction has fewer than two entries');
    const transactionId = newId();
    const { entries, ...columns } = posting;
    this.transactions.push({ id: transactionId, tenantId, createdAt: this.at, ...columns });
    const sums = new Map<Asset, bigint>();
    for (const entry of entries) {
      const { accountId, asset, raw } = entry;
      sums.set(asset, (sums.get(asset) ?? 0n) + raw);
      const seq = (this.draftOf(accountId).account.seq += 1n);
      const { available, held } = this.move(accountId, asset, raw, 0n, seq);
      this.entries.push({
        id: newId(),
        transactionId,
        seq,
        totalAfter: available + held,
        createdAt: this.at,
        ...entry,
      });
    }
    for (const sum of sums.values())
      if (sum !== 0n) throw new UnsoundDecision('the entries do not sum to zero');
  }

  assertSound(): void {
    for (const { overdraft, balances } of this.accounts.values())
      for (const { available, held } of Object.values(balances)) {
        if (available < 0n && !overdraft)
          throw new UnsoundDecision('an account would be overdrawn');
        if (held < 0n) throw new UnsoundDecision('more would be released than is held');
        if (!fitsColumn(available + held) || !fitsColumn(available))
          throw new UnsoundDecision('a balance would overflow');
      }
    for (const hold of this.holds.values())
      if (hold.remaining < 0n || hold.remaining > hold.raw)
        throw new UnsoundDecision('a hold would leave its range');
  }
}
