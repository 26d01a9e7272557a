import { z } from 'zod';
import { isCanonicalUuid, type Uuid } from '../core/ids.js';
import { SYSTEM_CHAIN } from '../db/audit-hash.js';
import { bytes, nullable, uuid } from '../db/columns.js';
import type { DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { eventCounters, eventRemovals, events } from '../db/entities/events.js';
import { auditChains, chainedAuditLog } from '../db/entities/identity.js';
import { ledgerTransactions } from '../db/entities/ledger.js';
import { restores } from '../db/entities/restores.js';
import { equalsSql, insertSql } from '../db/statements.js';
import { recordAction } from '../access/audit-log.js';
import { transact } from '../db/reader.js';
import { newRestore, restoreAudit } from './begin-restore.js';

const id = z.custom<Uuid>((value) => typeof value === 'string' && isCanonicalUuid(value));
const sequence = z.string().regex(/^\d{1,19}$/);

const checkpoint = z.object({
  /** The first tenant of every copy of this database. Null without tenants. */
  firstTenant: id.nullable(),
  restores: z.array(id),
  transactions: z.array(id),
  /** `id` is the event with that sequence; null if it did not exist. */
  events: z.array(z.object({ tenantId: id, sequence, id: id.nullable() })),
  /** Heads of the audit log's chains; `hash` in hexadecimal. */
  acts: z.array(z.object({ chainId: id, sequence, hash: z.string().regex(/^[0-9a-f]{64}$/) })),
});

/** Rows that existed at one moment, as plain JSON for Temporal, without personal data. */
export type Checkpoint = Readonly<z.infer<typeof checkpoint>>;

export function parseCheckpoint(value: unknown): Checkpoint | null {
  return checkpoint.safeParse(value).data ?? null;
}

/** Tenants with the newest events are enough, because a rollback loses the newest rows first. */
const MAX_TENANTS = 100;

/** Reads the newest ledger transaction, event and audit chain's head of these tenants. */
export async function readCheckpoint(reader: Reader): Promise<Checkpoint> {
  const counters = await reader.query(
    `SELECT c.tenant_id, c.last_sequence, e.id
     FROM (SELECT tenant_id, last_sequence FROM event_counters ORDER BY last_at DESC LIMIT ${MAX_TENANTS}) c
     LEFT JOIN events e ON e.tenant_id=c.tenant_id AND e.sequence=c.last_sequence`,
  );
  const tenants = counters.map((row) => uuid.parse(row.tenant_id));
  const heads = await reader.select(auditChains, { chainId: [SYSTEM_CHAIN, ...tenants] });
  const newest = await reader.list(ledgerTransactions, 'ORDER BY id DESC LIMIT 1');
  return {
    firstTenant: await readFirstTenant(reader),
    restores: (await reader.select(restores, {})).map((restore) => restore.id),
    transactions: newest.map((transaction) => transaction.id),
    events: counters.map((row) => ({
      tenantId: uuid.parse(row.tenant_id),
      sequence: String(row.last_sequence),
      id: nullable(uuid).parse(row.id),
    })),
    // A chain that has no rows yet has no head to compare.
    acts: heads
      .filter(({ lastSequence }) => lastSequence > 0n)
      .map(({ chainId, lastSequence, lastHash }) => ({
        chainId,
        sequence: lastSequence.toString(),
        hash: lastHash.toString('hex'),
      })),
  };
}

async function readFirstTenant(reader: Reader): Promise<Uuid | null> {
  const [row] = await reader.query('SELECT id FROM tenants ORDER BY id LIMIT 1');
  return row === undefined ? null : uuid.parse(row.id);
}

/**
 * `lost`: a row is missing or a counter decreased. `closed`: a restore is open. `obsolete`: a
 * restore was finished since the checkpoint, or it is of another database. `empty`: no tenant
 * exists, for example while a dump is loaded.
 */
type Comparison = 'intact' | 'lost' | 'closed' | 'obsolete' | 'empty';

/** Compares through a reader that sees every committed row. A snapshot would miss newer rows. */
async function compareWith(reader: Reader, earlier: Checkpoint): Promise<Comparison> {
  const firstTenant = await readFirstTenant(reader);
  if (firstTenant === null) return 'empty';
  if (firstTenant !== earlier.firstTenant) return 'obsolete';
  const declared = await reader.select(restores, {});
  if (declared.some(({ finishedAt }) => finishedAt === null)) return 'closed';
  if (declared.some((restore) => !earlier.restores.includes(restore.id))) return 'obsolete';
  const isIntact =
    declared.length === earlier.restores.length &&
    (await hasTransactions(reader, earlier)) &&
    (await hasEvents(reader, earlier)) &&
    (await hasAuditRows(reader, earlier));
  return isIntact ? 'intact' : 'lost';
}

async function hasTransactions(reader: Reader, { transactions }: Checkpoint): Promise<boolean> {
  if (transactions.length === 0) return true;
  const ids = new Set(transactions);
  return (await reader.select(ledgerTransactions, { id: [...ids] })).length === ids.size;
}

async function hasEvents(reader: Reader, { events: earlier }: Checkpoint): Promise<boolean> {
  if (earlier.length === 0) return true;
  const own = { tenantId: earlier.map(({ tenantId }) => tenantId) };
  const named = earlier.map((one) =>
    equalsSql(events, { tenantId: one.tenantId, sequence: BigInt(one.sequence) }),
  );
  const found = await reader.query(
    `SELECT tenant_id, id FROM events WHERE ${named.map((one) => `(${one})`).join(' OR ')}`,
  );
  const ids = new Map(found.map((row) => [uuid.parse(row.tenant_id), uuid.parse(row.id)]));
  // Read after the events, so that it lists an event that retention removed meanwhile.
  const removals = await reader.select(eventRemovals, own);
  const removed = new Map(removals.map((row) => [row.tenantId, row.removedThrough]));
  const counters = await reader.select(eventCounters, own);
  const last = new Map(counters.map((row) => [row.tenantId, row.lastSequence]));
  return earlier.every(({ tenantId, sequence: text, id: eventId }) => {
    const number = BigInt(text);
    if ((last.get(tenantId) ?? -1n) < number) return false;
    return (
      eventId === null || ids.get(tenantId) === eventId || (removed.get(tenantId) ?? 0n) >= number
    );
  });
}

async function hasAuditRows(reader: Reader, { acts: earlier }: Checkpoint): Promise<boolean> {
  if (earlier.length === 0) return true;
  const named = earlier.map((one) =>
    equalsSql(chainedAuditLog, { chainId: one.chainId, sequence: BigInt(one.sequence) }),
  );
  const found = await reader.query(
    `SELECT chain_id, hash FROM audit_log WHERE ${named.map((one) => `(${one})`).join(' OR ')}`,
  );
  const hashes = new Map(
    found.map((row) => [uuid.parse(row.chain_id), bytes.parse(row.hash).toString('hex')]),
  );
  const heads = await reader.select(auditChains, {
    chainId: earlier.map(({ chainId }) => chainId),
  });
  const last = new Map(heads.map((row) => [row.chainId, row.lastSequence]));
  return earlier.every(
    ({ chainId, sequence: text, hash }) =>
      hashes.get(chainId) === hash && (last.get(chainId) ?? -1n) >= BigInt(text),
  );
}

const CHECK_EVERY_MS = 5_000;
/** The first postings of a process wait at most this long for its first check. */
const FIRST_CHECK_MS = 3_000;
/** Between two checks, the last ledger transaction of each interval is remembered. */
const SAMPLE_MS = 100;
const MAX_SAMPLES = 200;
const SERVICE_ACTOR = { channel: 'ops', name: 'service' } as const;

interface GuardDeps extends DatabaseDeps {
  /** Called when the ledger was closed, because rows that existed are missing. */
  readonly onRolledBack: () => void;
}

/**
 * Closes the ledger if the database was put back to an earlier moment under this process, by a
 * failover to a replica or by loading a backup. Checks that remembered rows still exist before the
 * first posting on each connection, and every 5 s. (docs/decisions/0041)
 */
export class RollbackGuard {
  private checkpoint: Checkpoint | null = null;
  /** Ledger transactions since the checkpoint was read, the latest last. */
  private samples: Uuid[] = [];
  private sampledAt = -Infinity;
  private readonly checked = new WeakSet<object>();
  /** Reads the checkpoint stored outside MySQL. Null once it has been compared. */
  private loadStored: (() => Promise<unknown>) | null = null;
  private starting: Promise<unknown> = Promise.resolve();
  private checking: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly deps: GuardDeps) {}

  /** Checks now and every 5 s. `loadStored` returns the checkpoint stored outside MySQL. */
  start(loadStored: () => Promise<unknown>): void {
    this.loadStored = loadStored;
    // Ignores failures of MySQL and Temporal, because the next check repeats it.
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
  async checkConnection(transaction: Transaction): Promise<void> {
    if (this.checked.has(transaction.connection)) return;
    await this.starting;
    const earlier = this.rememberedRows();
    // A server of a group may lag, so a loss is confirmed by a read that waits for it.
    if (earlier !== null && (await compareWith(transaction, earlier)) === 'lost')
      await this.closeIfLost(earlier);
    this.checked.add(transaction.connection);
  }

  /** Remembers a ledger transaction whose COMMIT was confirmed. */
  remember(id: Uuid): void {
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
    const next = await this.renew(this.rememberedRows());
    if (next === null) return;
    this.checkpoint = next;
    this.samples = this.samples.filter((id) => !verified.has(id));
  }

  private async checkStored(): Promise<void> {
    if (this.loadStored === null) return;
    const stored = parseCheckpoint(await this.loadStored());
    if (stored !== null) await this.closeIfLost(stored);
    this.loadStored = null;
  }

  /** Returns the next checkpoint to store. Closes the ledger if rows of `earlier` are missing. */
  async renewStored(earlier: unknown): Promise<Checkpoint | null> {
    const parsed = parseCheckpoint(earlier);
    return (await this.renew(parsed)) ?? parsed;
  }

  /** Returns null if `earlier` must be kept: its rows are missing, or a restore is open. */
  private async renew(earlier: Checkpoint | null): Promise<Checkpoint | null> {
    // Reads first: a rollback before the comparison is then found now or by the next check.
    const next = await readCheckpoint(this.deps.database.current);
    if (earlier === null) return next;
    const found = await this.closeIfLost(earlier);
    return found === 'intact' || found === 'obsolete' ? next : null;
  }

  private rememberedRows(): Checkpoint | null {
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

/** Closes the ledger unless another process has closed it. Returns whether this call did. */
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
      reason: 'rows that existed are missing: the database was set back to an earlier moment',
    };
    await transaction.execute(insertSql(restores, [noticed]));
    await recordAction(transaction, SERVICE_ACTOR, now, restoreAudit('restore.notice', noticed));
    return true;
  });
}
