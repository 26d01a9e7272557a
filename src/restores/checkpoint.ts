import { z } from 'zod';
import { isCanonicalUuid, type Uuid } from '../core/ids.js';
import { SYSTEM_CHAIN } from '../db/audit-hash.js';
import { bytes, nullable, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { eventCounters, eventRemovals, events } from '../db/entities/events.js';
import { auditChains, chainedAuditLog } from '../db/entities/identity.js';
import { ledgerTransactions } from '../db/entities/ledger.js';
import { restores } from '../db/entities/restores.js';
import { equalsSql } from '../db/statements.js';

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

/** Only the tenants with the newest events, because a rollback loses the newest rows first. */
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
    // A chain without numbered rows has no row of the audit log as its head.
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
 * restore was finished since, or it is another database. `empty`: no tenant exists, for example
 * while a dump is loaded.
 */
type Comparison = 'intact' | 'lost' | 'closed' | 'obsolete' | 'empty';

/** Reads through `reader`, which must see every committed row: a snapshot would miss newer rows. */
export async function compareWith(reader: Reader, earlier: Checkpoint): Promise<Comparison> {
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
