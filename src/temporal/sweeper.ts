import { setTimeout as sleep } from 'node:timers/promises';
import { newId, type Uuid } from '../core/ids.js';
import { instant } from '../core/instant.js';
import { integer, string, uuid } from '../db/columns.js';
import type { Database, StoredRow } from '../db/database.js';
import { sweepLeases } from '../db/entities/sweeps.js';
import { equalsSql, insertSql, literal, literals } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { parseRow, type Table } from '../db/table.js';
import { accounts } from '../db/entities/parties.js';

/** Work repeated in rounds, by one worker process at a time. */
export interface Sweep {
  /** Name of the sweep and of its lease. */
  readonly name: string;
  readonly everyMs: number;
  /** Returns true if work remains. `signal` is aborted when the process stops or loses the lease. */
  readonly run: (signal: AbortSignal) => Promise<boolean>;
  /** Every process runs the sweep, because each row has its own lease. */
  readonly inEveryProcess?: true;
}

export interface SweeperObserver {
  failed(name: string, fault: unknown): void;
  swept(name: string, seconds: number): void;
  renewalFailed(fault: unknown): void;
  /** Called when a lease expired: MySQL was unreachable, or the process froze. */
  lost(name: string): void;
  holds(leases: number): void;
}

interface SweeperDeps {
  readonly database: Database;
  readonly sweeps: readonly Sweep[];
  /** Name of the process, for operators. */
  readonly label: string;
  readonly observer: SweeperObserver;
  /** Awaited before each renewal, about once a second. */
  readonly beforeRenewal?: () => Promise<void>;
}

const RENEW_EVERY_MS = 1_000;
/** A process considers its leases expired this much earlier than MySQL. */
const EXPIRY_MARGIN_MS = 500;
const MAX_FAILED_PAUSE_MS = 10_000;

/** Runs the sweeps whose leases this process holds, with or without Temporal. */
export class Sweeper {
  readonly workerId: Uuid = newId();
  private readonly stopping = new AbortController();
  private readonly leases = new Map<string, AbortController>();
  /** By `performance.now()`, because the system clock can be set. */
  private leasesExpireAt = 0;
  private expiry: NodeJS.Timeout | undefined;
  private readonly loops = new Map<string, Promise<void>>();
  private renewing: Promise<void> = Promise.resolve();

  constructor(private readonly deps: SweeperDeps) {}

  start(): void {
    for (const sweep of this.deps.sweeps)
      if (sweep.inEveryProcess === true) this.startLoop(sweep, this.stopping.signal);
    this.renewing = this.renewUntilStopped();
  }

  /** Resolves once every round has ended and the leases have been released. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const lease of this.leases.values()) lease.abort();
    await Promise.all([this.renewing, ...this.loops.values()]);
    clearTimeout(this.expiry);
    await releaseLeases(this.deps.database, this.workerId).catch(() => undefined);
    this.leases.clear();
    this.deps.observer.holds(0);
  }

  private async renewUntilStopped(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await this.renew().catch((fault: unknown) => this.deps.observer.renewalFailed(fault));
      await sleep(RENEW_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  private async renew(): Promise<void> {
    const { database, sweeps, label, beforeRenewal } = this.deps;
    await beforeRenewal?.();
    const expiresAt = performance.now() + LEASE_MS - EXPIRY_MARGIN_MS;
    const names = sweeps.flatMap(({ name, inEveryProcess }) =>
      inEveryProcess === true ? [] : [name],
    );
    if (names.length === 0) return;
    const held = await claimLeases(database, this.workerId, label, names);
    this.leasesExpireAt = expiresAt;
    clearTimeout(this.expiry);
    this.expiry = setTimeout(() => this.keepLeases([]), expiresAt - performance.now());
    this.keepLeases(performance.now() < expiresAt ? held : []);
  }

  /** Stops the sweeps of lost leases, and starts those of new ones. */
  private keepLeases(names: readonly string[]): void {
    if (this.stopping.signal.aborted) return;
    for (const [name, lease] of this.leases)
      if (!names.includes(name)) {
        this.leases.delete(name);
        lease.abort();
        this.deps.observer.lost(name);
      }
    for (const sweep of this.deps.sweeps)
      if (names.includes(sweep.name) && !this.leases.has(sweep.name)) {
        const lease = new AbortController();
        this.leases.set(sweep.name, lease);
        this.startLoop(sweep, lease.signal);
      }
    this.deps.observer.holds(this.leases.size);
  }

  /** Starts a sweep's loop after that of an earlier lease has ended. */
  private startLoop(sweep: Sweep, signal: AbortSignal): void {
    const earlier = this.loops.get(sweep.name) ?? Promise.resolve();
    this.loops.set(
      sweep.name,
      earlier.then(() => this.loop(sweep, signal)),
    );
  }

  private async loop(sweep: Sweep, signal: AbortSignal): Promise<void> {
    const { observer } = this.deps;
    for (let failures = 0; this.mayRun(sweep, signal);) {
      const began = performance.now();
      let hasMore = false;
      try {
        hasMore = await sweep.run(signal);
        failures = 0;
        observer.swept(sweep.name, (performance.now() - began) / 1_000);
      } catch (fault) {
        failures += 1;
        observer.failed(sweep.name, fault);
      }
      const failedMs = Math.min(MAX_FAILED_PAUSE_MS, sweep.everyMs * (1 + failures));
      const pauseMs = failures === 0 ? sweep.everyMs : failedMs;
      if (!hasMore) await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Detects an expired lease even when timers are late after a freeze. */
  private mayRun({ inEveryProcess }: Sweep, signal: AbortSignal): boolean {
    if (inEveryProcess !== true && performance.now() >= this.leasesExpireAt) this.keepLeases([]);
    return !signal.aborted;
  }
}

const PIECES_EVERY_MS = 600_000;
const PIECE_PAUSE_MS = 50;

export interface Piece {
  /** The next piece begins after this id. */
  readonly lastId: Uuid;
  /** False if the piece has more work. */
  readonly isPieceDone: boolean;
  /** Failures of single rows, which do not stop the sweep. */
  readonly faults?: readonly unknown[];
}

/**
 * Returns a sweep that works in pieces, with pauses. `work` returns null after the last piece. Throws
 * a failure of a row after the last piece.
 */
export function pieceSweep(
  name: string,
  work: (after: Uuid | null) => Promise<Piece | null>,
): Sweep {
  return {
    name,
    everyMs: PIECES_EVERY_MS,
    run: async (signal) => {
      const faults: unknown[] = [];
      let after: Uuid | null = null;
      while (!signal.aborted) {
        const piece: Piece | null = await work(after);
        if (piece === null) break;
        faults.push(...(piece.faults ?? []));
        if (piece.isPieceDone) after = piece.lastId;
        await sleep(PIECE_PAUSE_MS);
      }
      for (const fault of faults) throw fault;
      return false;
    },
  };
}

/** Leases decide which process runs a sweep. They do not protect rows. (docs/decisions/0039) */

export const LEASE_MS = 4_000;
const NOW = 'UTC_TIMESTAMP(3)';

/** Renews leases and claims expired ones. Returns the names of all that the process holds. */
async function claimLeases(
  database: Database,
  holderId: Uuid,
  worker: string,
  names: readonly string[],
): Promise<readonly string[]> {
  const holder = uuid.literal(holderId);
  const isNamed = equalsSql(sweepLeases, { name: names });
  // MySQL assigns from left to right, so this compares with the previous holder.
  await execute(
    database,
    `UPDATE sweep_leases SET acquired_at=IF(holder<=>${holder}, acquired_at, ${NOW}), holder=${holder},
       worker=${literal(sweepLeases, 'worker', worker)}, lease_until=${NOW}+INTERVAL ${LEASE_MS * 1_000} MICROSECOND
     WHERE ${isNamed} AND (holder=${holder} OR lease_until<=${NOW})`,
  );
  const rows = await database.reader.query(
    `SELECT name, IFNULL(holder=${holder} AND lease_until>${NOW}, 0) AS is_held FROM sweep_leases WHERE ${isNamed}`,
  );
  if (rows.length === names.length)
    return rows.flatMap((row) =>
      integer.parse(row.is_held) === 1 ? [string.parse(row.name)] : [],
    );
  const free = { holder: null, worker: null, acquiredAt: instant(0), leaseUntil: instant(0) };
  const rowsSql = insertSql(
    sweepLeases,
    names.map((name) => ({ name, ...free })),
  );
  await execute(database, `${rowsSql} ON DUPLICATE KEY UPDATE name=VALUES(name)`);
  return claimLeases(database, holderId, worker, names);
}

function releaseLeases(database: Database, holder: Uuid): Promise<void> {
  return execute(
    database,
    `UPDATE sweep_leases SET lease_until=${NOW} WHERE holder=${uuid.literal(holder)} AND lease_until>${NOW}`,
  );
}

/** Sends the statement together with COMMIT, so that a process that freezes holds no lock. */
function execute(database: Database, sql: string): Promise<void> {
  return transact(database, (transaction) => {
    transaction.withCommit([sql]);
    return Promise.resolve();
  });
}

/** How long a row is set aside that cannot be read, as after a rollback to an older release. */
const SET_ASIDE_MS = 60_000;
/** Rows that are set aside, each until a time by `performance.now()`. */
const setAsideUntil = new Map<Uuid, number>();

function idsSetAside(): readonly Uuid[] {
  const now = performance.now();
  for (const [id, until] of setAsideUntil) if (until <= now) setAsideUntil.delete(id);
  return [...setAsideUntil.keys()];
}

interface DueRow {
  readonly id: Uuid;
  readonly sourceAccountId: Uuid;
}

/**
 * Finds at most `limit` due rows of a table with `find`, and performs each. Searches again without
 * rows that cannot be read, which are set aside for a minute, and without the accounts whose rows
 * fail, for example because the account's last posting is later than the clock. Throws a failure at
 * the end. Returns how many rows the last search found.
 */
export async function performDue<Row extends DueRow>(
  table: Table<Row>,
  limit: number,
  find: (conditionSql: string, limit: number) => Promise<readonly StoredRow[]>,
  perform: (row: Row) => Promise<unknown>,
): Promise<number> {
  const faults = new Map<Uuid, unknown>();
  const unreadable: unknown[] = [];
  const performStored = async (stored: StoredRow): Promise<void> => {
    let row: Row;
    try {
      row = parseRow(table, stored);
    } catch (fault) {
      setAsideUntil.set(uuid.parse(stored.id), performance.now() + SET_ASIDE_MS);
      unreadable.push(fault);
      return;
    }
    await perform(row).catch((fault: unknown) => faults.set(row.sourceAccountId, fault));
  };
  for (;;) {
    const [failed, unread] = [[...faults.keys()], unreadable.length];
    const exclusion = notAmong('source_account_id', failed) + notAmong('id', idsSetAside());
    const rows = await find(exclusion, Math.trunc(limit));
    await Promise.all(rows.map(performStored));
    // If as many accounts failed as one search may find, the accounts are not the cause.
    const mayFindOthers = faults.size > failed.length && faults.size < limit;
    if (mayFindOthers || unreadable.length > unread) continue;
    for (const fault of [...faults.values(), ...unreadable]) throw fault;
    return rows.length;
  }
}

function notAmong(column: string, ids: readonly Uuid[]): string {
  return ids.length === 0 ? '' : ` AND ${column} NOT IN (${literals(accounts, 'id', ids)})`;
}
