import { groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Transaction } from '../db/database.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';
import { literals } from '../db/statements.js';
import { type EndpointState, MAY_RECEIVE_SQL, parseState, stateSql } from './endpoint-state.js';

/**
 * A run claims its endpoint by an UPDATE with an expiry, so it holds no lock while it sends. Each
 * claim takes the endpoint's next number (`fence`). Every later write of the run compares this
 * number, so a run cannot write after another one has claimed the endpoint.
 */

/** How long a claim lasts after the run's last write. */
export const CLAIM_MS = 5_000;

/** How long an endpoint waits whose rows cannot be read, as after a rollback to an older release. */
const SET_ASIDE_MS = 60_000;

/** A claimed endpoint, with the number of the claim. */
export type Claim = Pick<WebhookEndpoint, 'id' | 'tenantId' | 'fence'>;

interface ClaimedEndpoints {
  readonly states: readonly EndpointState[];
  /** Why each of the endpoints that are set aside cannot be read. */
  readonly unreadable: ReadonlyMap<Uuid, unknown>;
}

/** SQL condition: no run has a claim on the endpoint `e`. */
export const unclaimedSql = (now: Instant): string =>
  `(e.lease_until IS NULL OR e.lease_until<=${column.time.literal(now)})`;

/**
 * Claims unclaimed endpoints that may receive deliveries. Skips locked endpoints, and sets those
 * aside that cannot be read.
 */
export async function claimEndpoints(
  transaction: Transaction,
  endpointIds: readonly Uuid[],
  now: Instant,
): Promise<ClaimedEndpoints> {
  const rows = await transaction.query(
    `SELECT e.id FROM webhook_endpoints e
     WHERE e.id IN (${literals(webhookEndpoints, 'id', endpointIds)}) AND ${MAY_RECEIVE_SQL} AND ${unclaimedSql(now)}
     ORDER BY e.id FOR UPDATE SKIP LOCKED`,
  );
  const ids = rows.map((row) => column.uuid.parse(row.id));
  if (ids.length === 0) return { states: [], unreadable: new Map() };
  // With `next_due_at` in the past, the endpoint is due as soon as the claim expires.
  const claimSql = (own: readonly Uuid[], forMs: number): string =>
    `UPDATE webhook_endpoints SET fence=fence+1, lease_until=${column.time.literal(instant(now + forMs))},
     next_due_at=${column.time.literal(now)} WHERE id IN (${literals(webhookEndpoints, 'id', own)})`;
  const [, found = []] = await transaction.all([claimSql(ids, CLAIM_MS), stateSql(ids)]);
  const states: EndpointState[] = [];
  const unreadable = new Map<Uuid, unknown>();
  for (const [id, own] of groupBy(found, (row) => column.uuid.parse(row.id)))
    try {
      states.push(parseState(own));
    } catch (fault) {
      unreadable.set(id, fault);
    }
  if (unreadable.size > 0)
    await transaction.execute(claimSql([...unreadable.keys()], SET_ASIDE_MS));
  return { states, unreadable };
}
