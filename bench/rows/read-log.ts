import * as column from '../../src/db/columns.js';
import type { Instant } from '../../src/core/instant.js';
import type { Reader } from '../../src/db/database.js';
import { eventCounters, events, type EventType } from '../../src/db/entities/events.js';
import { literal } from '../../src/db/statements.js';
import { withDatabase } from '../ledgers/database.js';
import type { Ledger } from '../ledgers/ledger.js';

/** The sequence of the ledger's last event. */
export function headOf({ url, tenantId }: Ledger): Promise<bigint> {
  return withDatabase(
    url,
    async ({ reader }) => (await reader.find(eventCounters, { tenantId }))?.lastSequence ?? 0n,
  );
}

interface Logged {
  readonly count: number;
  readonly firstAt: Instant | null;
  readonly lastAt: Instant | null;
}

/** The events of a type after a sequence. */
export function loggedAfter(
  { url, tenantId }: Ledger,
  type: EventType,
  sequence: bigint,
): Promise<Logged> {
  return withDatabase(url, async ({ reader }) => {
    const [row] = await reader.query(
      `SELECT COUNT(*) AS count, MIN(created_at) AS first_at, MAX(created_at) AS last_at FROM events
       WHERE tenant_id=${literal(events, 'tenantId', tenantId)} AND sequence>${sequence}
       AND type=${literal(events, 'type', type)}`,
    );
    const at = column.nullable(column.time);
    return {
      count: column.integer.parse(row?.count),
      firstAt: at.parse(row?.first_at ?? null),
      lastAt: at.parse(row?.last_at ?? null),
    };
  });
}

/** Entries that have not been relayed to Temporal. */
export async function outboxEntries(reader: Reader): Promise<number> {
  const [row] = await reader.query('SELECT COUNT(*) AS count FROM outbox');
  return column.integer.parse(row?.count);
}
