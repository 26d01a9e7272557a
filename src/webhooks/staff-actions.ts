import { type AuditDetails, recordAction, wasPerformed } from '../access/audit-log.js';
import { ApiError, assertFound, invalidState } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { events } from '../db/entities/events.js';
import { outbox } from '../db/entities/outbox.js';
import { tenants } from '../db/entities/parties.js';
import { staff } from '../db/entities/staff.js';
import type { WebhookEndpoint } from '../db/entities/webhooks.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { rowRefusal, type StaffActionName, type StaffIdentity } from '../staff/rules.js';
import {
  endpointAudit,
  lockEndpoint,
  workflowNotice,
  type EndpointWithTypes,
  updateEndpoint,
} from './endpoints.js';
import { describeEndpoint, MAX_COUNTED } from './endpoint-text.js';
import { disableEndpoint, enableEndpoint } from './endpoint-changes.js';
import { nextAttemptOf, readEndpointState } from './endpoint-state.js';
import { assertEnabled, beginRecovery, queueEvent, type RecoveryRange } from './resend.js';

/**
 * A staff action on an endpoint, recorded once under `actionId`. Returns whether anything changed.
 * Throws not_found, authority_insufficient, and invalid_state if the action was refused before.
 */
export type EndpointAction = (
  deps: DatabaseDeps,
  endpointId: Uuid,
  by: StaffIdentity,
  details?: AuditDetails,
  actionId?: Uuid,
) => Promise<boolean>;

/** Pauses an endpoint. Waiting deliveries keep their order. */
export const pauseEndpoint = newAction('webhook.pause', async (transaction, endpoint, now, by) => {
  if (endpoint.pausedAt !== null) return false;
  await updateEndpoint(transaction, endpoint.id, { pausedAt: now, pausedBy: by.name });
  return true;
});

export const resumeEndpoint = newAction('webhook.resume', async (transaction, endpoint, now) => {
  if (endpoint.pausedAt === null) return false;
  await updateEndpoint(transaction, endpoint.id, {
    pausedAt: null,
    pausedBy: null,
    nextDueAt: now,
  });
  return true;
});

export const enableByStaff = newAction('webhook.enable', enableEndpoint);

export const disableByStaff = newAction('webhook.disable', (transaction, endpoint, now) =>
  disableEndpoint(transaction, endpoint, 'by_operator', now),
);

const makeEndpointDue = newAction('webhook.retry_now', async (transaction, endpoint, now) => {
  const probeAt = endpoint.probeAt === null ? null : now;
  await updateEndpoint(transaction, endpoint.id, { nextDueAt: now, probeAt });
  return true;
});

const ROWS_PER_UPDATE = 1_000;

/** Makes all retries due now. Recorded last, so that repeating an interrupted action completes it. */
export const retryNow: EndpointAction = async (deps, id, by, details, actionId = newId()) => {
  const { database, clock } = deps;
  const isNew = await transact(database, (transaction) =>
    lockForAction(transaction, 'webhook.retry_now', id, by, actionId),
  );
  if (isNew === null) return false;
  const at = column.time.literal(clock());
  for (let updated = ROWS_PER_UPDATE; updated === ROWS_PER_UPDATE;)
    updated = await transact(database, (transaction) =>
      transaction.execute(
        `UPDATE webhook_deliveries SET next_attempt_at=${at} WHERE endpoint_id=${column.uuid.literal(id)}
         AND state='retrying' AND next_attempt_at>${at} LIMIT ${ROWS_PER_UPDATE}`,
      ),
    );
  return makeEndpointDue(deps, id, by, details, actionId);
};

/** Begins a recovery. Also throws invalid_state. Returns null for an empty range. */
export async function recoverByStaff(
  deps: DatabaseDeps,
  endpointId: Uuid,
  since: Instant,
  by: StaffIdentity,
): Promise<RecoveryRange | null> {
  let range: RecoveryRange | null = null;
  const begin = newAction('webhook.recover', async (transaction, endpoint, now) => {
    assertEnabled(endpoint);
    range = await beginRecovery(transaction, endpoint, { since, all: true }, now);
    return true;
  });
  await begin(deps, endpointId, by, { since: toRfc3339(since) });
  return range;
}

/**
 * Sends an event again to each enabled endpoint that is subscribed to its type and has come to it,
 * or only to the endpoint `only`.
 * Returns their number, or null for a repeated action. Throws not_found, authority_insufficient, and invalid_state if it is sent to no endpoint.
 */
export function redeliverByStaff(
  { database, clock }: DatabaseDeps,
  eventId: Uuid,
  by: StaffIdentity,
  details: AuditDetails = {},
  actionId = newId(),
  only?: Uuid,
): Promise<number | null> {
  const action = 'webhook.redeliver';
  return transact(database, async (transaction) => {
    const event = assertFound(await transaction.find(events, { id: eventId }));
    const { tenantId } = event;
    // The lock on the tenant's row keeps a repeated action waiting.
    await transaction.find(tenants, { id: tenantId }, { forUpdate: true });
    if (!(await isNewAction(transaction, action, by, actionId))) return null;
    const now = clock();
    const count = await queueEvent(transaction, event, now, only);
    if (count === 0) throw new ApiError(NO_ENDPOINT);
    const entry = { tenantId, action, subjectType: 'event', subjectId: eventId, details } as const;
    await recordAction(transaction, by, now, entry, actionId);
    return count;
  });
}

const NO_ENDPOINT = invalidState(
  'no endpoint is left, because each is disabled, is not subscribed to this event, or has not come to it yet',
);

type Change = (
  transaction: Transaction,
  endpoint: WebhookEndpoint,
  now: Instant,
  by: StaffIdentity,
) => Promise<boolean>;

/** Defines an action that changes the endpoint under its lock and records whether it changed. */
function newAction(action: StaffActionName, change: Change): EndpointAction {
  return ({ database, clock }, endpointId, by, details = {}, actionId = newId()) =>
    transact(database, async (transaction) => {
      const endpoint = await lockForAction(transaction, action, endpointId, by, actionId);
      if (endpoint === null) return false;
      const now = clock();
      const isChanged = await change(transaction, endpoint, now, by);
      if (isChanged) await transaction.execute(insertSql(outbox, [workflowNotice(endpoint, now)]));
      const recorded = isChanged ? details : { ...details, unchanged: true };
      await recordAction(transaction, by, now, endpointAudit(endpoint, action, recorded), actionId);
      return isChanged;
    });
}

/** Locks the endpoint. Returns null if the action was performed before. */
async function lockForAction(
  transaction: Transaction,
  action: StaffActionName,
  endpointId: Uuid,
  by: StaffIdentity,
  actionId: Uuid,
): Promise<WebhookEndpoint | null> {
  const endpoint = await lockEndpoint(transaction, { id: endpointId });
  return (await isNewAction(transaction, action, by, actionId)) ? endpoint : null;
}

/** Returns false if the action was performed before. Throws authority_insufficient. */
async function isNewAction(
  transaction: Transaction,
  action: StaffActionName,
  by: StaffIdentity,
  actionId: Uuid,
): Promise<boolean> {
  if (await wasPerformed(transaction, actionId)) return false;
  const refusal = rowRefusal(action, by, await transaction.find(staff, { id: by.id }));
  if (refusal !== null) throw new ApiError(refusal);
  return true;
}

type DescribedEndpoint = EndpointWithTypes & {
  readonly text: string;
  readonly nextAttemptAt: Instant | null;
};

/** Returns an endpoint and a text about what is still to send. Throws not_found. */
export async function readDescribedEndpoint(
  reader: Reader,
  endpointId: Uuid,
  now: Instant,
  timeZone = 'UTC',
): Promise<DescribedEndpoint> {
  const state = assertFound(await readEndpointState(reader, endpointId));
  const { endpoint, types, head, subscribedHead, nextAttemptAt } = state;
  const [pending, retrying] = await Promise.all([
    countOpen(reader, endpointId, 'pending'),
    countOpen(reader, endpointId, 'retrying'),
  ]);
  const { cursorSequence } = endpoint;
  const unreadEvents = subscribedHead > cursorSequence ? head - cursorSequence : 0n;
  const snapshot = { endpoint, pending, retrying, nextAttemptAt, unreadEvents, now, timeZone };
  const text = describeEndpoint(snapshot);
  return {
    ...endpoint,
    types: [...types.keys()],
    text,
    nextAttemptAt: nextAttemptOf(endpoint, nextAttemptAt),
  };
}

async function countOpen(
  reader: Reader,
  endpointId: Uuid,
  state: 'pending' | 'retrying',
): Promise<number> {
  const [row] = await reader.query(
    `SELECT COUNT(*) AS found FROM (SELECT 1 FROM webhook_deliveries FORCE INDEX (due)
     WHERE endpoint_id=${column.uuid.literal(endpointId)} AND state='${state}' LIMIT ${MAX_COUNTED + 1}) few`,
  );
  return column.integer.parse(row?.found);
}
