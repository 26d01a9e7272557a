import type { Uuid } from '../core/ids.js';
import { toRfc3339 } from '../core/instant.js';
import { transact } from '../db/transact.js';
import type { DatabaseDeps } from '../db/database.js';
import { webhookEndpoints } from '../db/entities/webhooks.js';
import { updateSql } from '../db/statements.js';
import type { EndpointView } from '../temporal/contracts.js';
import { lockEndpointRow } from './access.js';
import { earliestDue } from './endpoint-claims.js';
import { describe } from './operating.js';
import { nextDue } from './rules.js';

/**
 * What an endpoint's workflow does when it is notified or its wait is over: marks the endpoint as due if its backoff has
 * ended, which the dispatcher finds, and returns what the endpoint waits for. Throws DatabaseUnavailable.
 */
export async function checkEndpoint(
  { database, clock }: DatabaseDeps,
  id: Uuid,
): Promise<EndpointView> {
  const due = await transact(database, async (transaction) => {
    const { pausedAt, ...endpoint } = await lockEndpointRow(transaction, id);
    const now = clock();
    const next = pausedAt === null ? nextDue(await earliestDue(transaction, id), endpoint) : null;
    const isDue = next !== null && next <= now;
    // A past `waitsUntil` stays, so that the dispatcher reports what comes of the attempt.
    const set = { waitsUntil: next, attendedAt: now, ...(isDue ? { nextDueAt: now } : {}) };
    await transaction.execute(updateSql(webhookEndpoints, set, { id }));
    return { next, isDue };
  });
  const { endpoint, text } = await describe(database.reader, id, clock());
  const { status, pausedAt } = endpoint;
  const isWell = status === 'enabled' && pausedAt === null && due.next === null;
  return {
    nextDueAt: due.isDue ? null : toRfc3339(due.next),
    status,
    isPaused: pausedAt !== null,
    waitingFor: isWell ? WELL : text,
    isOver: status === 'deleted',
  };
}

/** Does not mention what is in flight: if that fails, the workflow is notified. */
const WELL = 'well: what happens is sent at once';
