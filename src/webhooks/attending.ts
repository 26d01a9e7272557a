import { existing } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import { webhookEndpoints } from '../db/entities/webhooks.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import type { DrainState } from '../temporal/contracts.js';
import { lockEndpointRow } from './access.js';
import { drain } from './drain/drain.js';
import { earliestDue } from './drain/open-deliveries.js';
import type { DrainOptions } from './drain/types.js';
import { describe } from './operating.js';
import type { WebhookDeps } from './deps.js';
import { nextDue } from './rules.js';

/** Sends what is due unless a sender is at it, and says what it waits for. Throws DatabaseUnavailable and the like. */
export async function attend(
  deps: WebhookDeps,
  endpointId: Uuid,
  options: Omit<DrainOptions, 'isWorkflow' | 'lookOnMs' | 'leavesRest'>,
): Promise<DrainState> {
  const { database, clock } = deps;
  const before = existing(await database.reader.find(webhookEndpoints, { id: endpointId }));
  const due = nextDue(await earliestDue(database.reader, endpointId), before);
  const isDue = due !== null && due <= clock();
  const { ended } = isDue
    ? await drain(deps, endpointId, {
        ...options,
        isWorkflow: true,
        lookOnMs: 0,
        leavesRest: false,
      })
    : { ended: 'idle' as const };
  const waitsUntil = await noteLook(deps, endpointId);
  const { endpoint, text } = await describe(database.reader, endpointId, clock());
  const { status, pausedAt } = endpoint;
  const isWell = status === 'enabled' && pausedAt === null && waitsUntil === null;
  return {
    ended,
    nextDueAt: toRfc3339(waitsUntil),
    status,
    isPaused: pausedAt !== null,
    waitingFor: isWell ? WELL : text,
    isOver: status === 'deleted',
  };
}

/** Says nothing about what is in flight: the workflow looks if that fails. */
const WELL = 'well: what happens is sent at once';

/** Records the look, and returns until when it waits: whatever sends later tells the workflow if this changes. */
function noteLook({ database, clock }: WebhookDeps, id: Uuid): Promise<Instant | null> {
  return transact(database, async (transaction) => {
    const endpoint = await lockEndpointRow(transaction, id);
    const attendedAt = clock();
    const due =
      endpoint.pausedAt === null ? nextDue(await earliestDue(transaction, id), endpoint) : null;
    const waitsUntil = due !== null && due > attendedAt ? due : null;
    await transaction.execute(updateSql(webhookEndpoints, { waitsUntil, attendedAt }, { id }));
    return waitsUntil;
  });
}
