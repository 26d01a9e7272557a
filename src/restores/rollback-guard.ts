import { recordAction } from '../access/audit-log.js';
import type { Uuid } from '../core/ids.js';
import { SYSTEM_CHAIN } from '../db/audit-hash.js';
import type { DatabaseDeps, Transaction } from '../db/database.js';
import { auditChains } from '../db/entities/identity.js';
import { restores } from '../db/entities/restores.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { type Checkpoint, compareWith, parseCheckpoint, readCheckpoint } from './checkpoint.js';
import { newRestore, restoreAudit } from './begin-restore.js';

const CHECK_EVERY_MS = 5_000;
/** The first postings of a process wait at most this long for its first check. */
const FIRST_CHECK_MS = 3_000;
/** The last ledger transaction of each interval between two checks is remembered. */
const SAMPLE_MS = 100;
const MAX_SAMPLES = 200;
const ACTOR = { channel: 'ops', name: 'service' } as const;

interface GuardDeps extends DatabaseDeps {
  /** The ledger was closed, because rows that existed are missing. */
  readonly onRolledBack: () => void;
}

/**
 * Closes the ledger if the database was put back to an earlier moment under this process, by a
 * failover to a replica or by loading a backup. Checks that remembered rows still exist before the
 * first posting on each connection, and every 5 s. (docs/decisions/0041)
 */
export class RollbackGuard {
  private checkpoint: Checkpoint | null = null;
  /** Since the checkpoint was read, the latest last. */
  private samples: Uuid[] = [];
  private sampledAt = -Infinity;
  private readonly checked = new WeakSet<object>();
  /** Null once the checkpoint stored outside MySQL has been read. */
  private load: (() => Promise<unknown>) | null = null;
  private starting: Promise<unknown> = Promise.resolve();
  private checking: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly deps: GuardDeps) {}

  /** Checks now and every 5 s. `load` returns the checkpoint stored outside MySQL. */
  start(load: () => Promise<unknown>): void {
    this.load = load;
    // MySQL or Temporal is away: the next check repeats it.
    const check = (): Promise<void> => this.check().catch(() => undefined);
    this.timer = setInterval(() => void check(), CHECK_EVERY_MS).unref();
    this.starting = Promise.race([
      check(),
      new Promise((resolve) => setTimeout(resolve, FIRST_CHECK_MS).unref()),
    ]);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Checks before the first posting on a connection, which may lead to another server. */
  async admit(transaction: Transaction): Promise<void> {
    if (this.checked.has(transaction.connection)) return;
    await this.starting;
    const earlier = this.remembered();
    // A server of a group may lag, so a loss is confirmed by a read that waits for it.
    if (earlier !== null && (await compareWith(transaction, earlier)) === 'lost')
      await this.closeIfLost(earlier);
    this.checked.add(transaction.connection);
  }

  /** Remembers a ledger transaction whose COMMIT was confirmed. */
  posted(id: Uuid): void {
    const now = performance.now();
    if (now - this.sampledAt < SAMPLE_MS) this.samples.pop();
    else this.sampledAt = now;
    this.samples.push(id);
    if (this.samples.length > MAX_SAMPLES) this.samples.shift();
  }

  /** Checks now, or joins the check in progress. */
  check(): Promise<void> {
    this.checking ??= this.checkOnce().finally(() => (this.checking = null));
    return this.checking;
  }

  private async checkOnce(): Promise<void> {
    await this.checkStored().catch(() => undefined);
    const verified = new Set(this.samples);
    const next = await this.renew(this.remembered());
    if (next === null) return;
    this.checkpoint = next;
    this.samples = this.samples.filter((id) => !verified.has(id));
  }

  private async checkStored(): Promise<void> {
    if (this.load === null) return;
    const stored = parseCheckpoint(await this.load());
    if (stored !== null) await this.closeIfLost(stored);
    this.load = null;
  }

  /** Returns the checkpoint to remember, and closes the ledger if rows of `earlier` are missing. */
  async next(earlier: unknown): Promise<Checkpoint | null> {
    const parsed = parseCheckpoint(earlier);
    return (await this.renew(parsed)) ?? parsed;
  }

  /** Returns null if `earlier` must be kept: its rows are missing, or a restore is open. */
  private async renew(earlier: Checkpoint | null): Promise<Checkpoint | null> {
    // Read before the comparison: a rollback between the two is found now or by the next check.
    const next = await readCheckpoint(this.deps.database.current);
    if (earlier === null) return next;
    const found = await this.closeIfLost(earlier);
    return found === 'intact' || found === 'obsolete' ? next : null;
  }

  private remembered(): Checkpoint | null {
    const { checkpoint, samples } = this;
    return checkpoint === null
      ? null
      : { ...checkpoint, transactions: [...checkpoint.transactions, ...samples] };
  }

  private async closeIfLost(earlier: Checkpoint): ReturnType<typeof compareWith> {
    const { database, onRolledBack } = this.deps;
    const found = await compareWith(database.current, earlier);
    if (found === 'lost' && (await closeLedger(this.deps))) onRolledBack();
    return found;
  }
}

/** Closes the ledger once, however many processes noticed. Returns whether this call did it. */
async function closeLedger({ database, clock }: DatabaseDeps): Promise<boolean> {
  return transact(database, async (transaction) => {
    // Held until the restore is recorded in the audit log, so that a second process finds the ledger closed.
    await transaction.find(auditChains, { chainId: SYSTEM_CHAIN }, { forUpdate: true });
    const open = await transaction.find(
      restores,
      { finishedAt: null },
      { orderBy: ['id'], forUpdate: true },
    );
    if (open !== undefined) return false;
    const now = clock();
    const noticed = {
      ...newRestore('worker', now),
      reason: 'rows that existed are missing: the database was put back',
    };
    await transaction.execute(insertSql(restores, [noticed]));
    await recordAction(transaction, ACTOR, now, restoreAudit('restore.notice', noticed));
    return true;
  });
}
