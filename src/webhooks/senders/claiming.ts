import type { Instant } from '../../core/instant.js';
import * as column from '../../db/columns.js';
import type { Transaction } from '../../db/database.js';
import { webhookEndpoints } from '../../db/entities/webhooks.js';
import { literals } from '../../db/statements.js';
import { type EndpointState, leased, parseStates, stateSql } from '../drain/lease.js';
import { earliestSql, parseEarliest } from '../drain/open-deliveries.js';
import { type Candidate, freeSql, OPEN } from './finding.js';

export interface Claimed {
  readonly state: EndpointState;
  /** When the first delivery with a row is due; null: there are none. */
  readonly earliest: Instant | null;
}

/** Begins a run for each that is free; those that another sender holds or has moved are skipped without waiting. */
export async function claim(
  transaction: Transaction,
  candidates: readonly Candidate[],
  now: Instant,
): Promise<readonly Claimed[]> {
  const cursors = new Map(candidates.map(({ id, cursor }) => [id, cursor]));
  const rows = await transaction.query(
    `SELECT e.id, e.cursor_sequence FROM webhook_endpoints e
     WHERE e.id IN (${literals(webhookEndpoints, 'id', cursors.keys())}) AND ${OPEN} AND ${freeSql(now)}
     ORDER BY e.id FOR UPDATE SKIP LOCKED`,
  );
  const ids = rows.flatMap((row) => {
    const id = column.uuid.parse(row.id);
    const known = cursors.get(id) ?? null;
    return known === null || known === column.bigint.parse(row.cursor_sequence) ? [id] : [];
  });
  if (ids.length === 0) return [];
  const { leaseUntil, nextDueAt } = leased(now);
  const [, states = [], waiting = []] = await transaction.all([
    `UPDATE webhook_endpoints SET fence=fence+1, lease_until=${column.time.literal(leaseUntil)},
     next_due_at=${column.time.literal(nextDueAt)} WHERE id IN (${literals(webhookEndpoints, 'id', ids)})`,
    stateSql(...ids),
    earliestSql(ids),
  ]);
  const earliest = parseEarliest(waiting);
  return Array.from(parseStates(states), ([id, state]) => ({
    state,
    earliest: earliest.get(id) ?? null,
  }));
}
