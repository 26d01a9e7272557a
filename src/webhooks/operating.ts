import { recordAct } from '../access/audit-log.js';
import type { ActDetails } from '../access/audit-log.js';
import { ApiError, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Clock, type Instant, toRfc3339 } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { outbox } from '../db/entities/outbox.js';
import { staff } from '../db/entities/staff.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { rowRefusal, type StaffActName, type StaffIdentity } from '../staff/rules.js';
import { lockEndpoint } from './access.js';
import { disable, enable } from './changing.js';
import { assertEnabled, assertRecoverable, beginRecovery, type Recovery } from './recovering.js';
import { earliestDue } from './drain/open-deliveries.js';
import { parseState, stateSql } from './drain/lease.js';
import { noticeOf } from './telling.js';
import { describeEndpoint, MAX_COUNTED } from './endpoint-description.js';

/**
 * What the staff do with an endpoint, by the command line, by signals or at the support desk. Each act is recorded with
 * its actor and returns whether anything changed; all throw not_found, authority_insufficient. The sweeper tells the
 * endpoint's workflow.
 */
export interface OperatingDeps {
  readonly database: Database;
  readonly clock: Clock;
}

/** Nothing more is sent: a run under way begins no new send. Waiting deliveries keep their place. */
export function pause(
  deps: OperatingDeps,
  endpointId: Uuid,
  by: StaffIdentity,
  details: ActDetails = {},
): Promise<boolean> {
  const operation: Operation = async (transaction, endpoint, now) => {
    if (endpoint.pausedAt !== null) return false;
    const set = { pausedAt: now, pausedBy: by.name };
    await transaction.execute(updateSql(webhookEndpoints, set, { id: endpointId }));
    return true;
  };
  return act(deps, endpointId, by, 'webhook.pause', operation, details);
}

/** Sending continues where it stopped. */
export function resume(
  deps: OperatingDeps,
  endpointId: Uuid,
  by: StaffIdentity,
  details: ActDetails = {},
): Promise<boolean> {
  const operation: Operation = async (transaction, endpoint, now) => {
    if (endpoint.pausedAt === null) return false;
    const set = { pausedAt: null, pausedBy: null, nextDueAt: now };
    await transaction.execute(updateSql(webhookEndpoints, set, { id: endpointId }));
    return true;
  };
  return act(deps, endpointId, by, 'webhook.resume', operation, details);
}

/** Rows in one statement. */
const CHUNK = 1_000;

/** Makes waiting retries and the next probe due now. This by itself uses no step. */
export async function retryNow(
  deps: OperatingDeps,
  endpointId: Uuid,
  by: StaffIdentity,
  details: ActDetails = {},
): Promise<boolean> {
  const { database, clock } = deps;
  const operation: Operation = async (transaction, endpoint, now) => {
    const set: Partial<WebhookEndpoint> = { nextDueAt: now, ...(endpoint.probeAt === null ? {} : { probeAt: now }) };
    await transaction.execute(updateSql(webhookEndpoints, set, { id: endpointId }));
    return true;
  };
  await act(deps, endpointId, by, 'webhook.retry_now', operation, details);
  const at = column.time.literal(clock());
  for (let found = CHUNK; found === CHUNK;)
    found = await transact(database, (transaction) =>
      transaction.execute(
        `UPDATE webhook_deliveries SET next_attempt_at=${at} WHERE endpoint_id=${column.uuid.literal(endpointId)}
         AND state='retrying' AND next_attempt_at>${at} LIMIT ${CHUNK}`,
      ),
    );
  // A sender that looked meanwhile may have postponed it.
  const due = updateSql(webhookEndpoints, { nextDueAt: clock() }, { id: endpointId, status: 'enabled' });
  await transact(database, (transaction) => transaction.execute(due));
  return true;
}

/** Enables an endpoint whatever disabled it, or disables it. */
export function setStatus(
  deps: OperatingDeps,
  endpointId: Uuid,
  status: 'enabled' | 'disabled',
  by: StaffIdentity,
): Promise<boolean> {
  const action = status === 'enabled' ? 'webhook.enable' : 'webhook.disable';
  return act(deps, endpointId, by, action, (transaction, endpoint, now) =>
    status === 'enabled' ? enable(transaction, endpoint, now) : disable(transaction, endpoint, 'by_operator', now),
  );
}

/** Like the tenant's own `recover`. Also throws invalid_field, invalid_state. */
export async function recoverFor(
  deps: OperatingDeps,
  endpointId: Uuid,
  since: Instant,
  by: StaffIdentity,
): Promise<Recovery> {
  assertRecoverable(since, deps.clock());
  const found: { range: Recovery['range'] } = { range: null };
  const details = { since: toRfc3339(since) };
  await act(
    deps,
    endpointId,
    by,
    'webhook.recover',
    async (transaction, endpoint, now) => {
      assertEnabled(endpoint);
      found.range = await beginRecovery(transaction, endpoint, since, true, now);
      return true;
    },
    details,
  );
  return { since, range: found.range };
}

type Operation = (transaction: Transaction, endpoint: WebhookEndpoint, now: Instant) => Promise<boolean>;

/** Acts under the endpoint's lock, and records it if something changed. */
function act(
  { database, clock }: OperatingDeps,
  endpointId: Uuid,
  by: StaffIdentity,
  action: StaffActName,
  operation: Operation,
  details: ActDetails = {},
): Promise<boolean> {
  return transact(database, async (transaction) => {
    const endpoint = await lockEndpoint(transaction, endpointId);
    const refusal = rowRefusal(action, by, await transaction.find(staff, { id: by.id }));
    if (refusal !== null) throw new ApiError(refusal);
    const now = clock();
    const isChanged = await operation(transaction, endpoint, now);
    const { tenantId } = endpoint;
    const done = { tenantId, action, subjectType: 'webhook_endpoint', subjectId: endpointId, details };
    if (!isChanged) return false;
    await transaction.execute(insertSql(outbox, [noticeOf(endpoint, now)]));
    await recordAct(transaction, by, now, done);
    return true;
  });
}

/** An endpoint and what it waits for. */
export interface Described {
  readonly endpoint: WebhookEndpoint;
  readonly types: readonly string[];
  readonly text: string;
  /** RFC 3339, or null. */
  readonly nextAttemptAt: string | null;
}

/** What an endpoint waits for, in words. Reads a bounded number of rows. Throws not_found. */
export async function describe(reader: Reader, endpointId: Uuid, now: Instant): Promise<Described> {
  const state = parseState(await reader.query(stateSql(endpointId)));
  if (state === undefined) throw notFound();
  const { endpoint, head, wantedHead } = state;
  const [pending, retrying, nextAttemptAt] = await Promise.all([
    countOpen(reader, endpointId, 'pending'),
    countOpen(reader, endpointId, 'retrying'),
    earliestDue(reader, endpointId),
  ]);
  const behind = wantedHead > endpoint.cursorSequence ? head - endpoint.cursorSequence : 0n;
  const text = describeEndpoint({ endpoint, pending, retrying, nextAttemptAt, behind, now });
  return {
    endpoint,
    types: [...state.types.keys()],
    text,
    nextAttemptAt: toRfc3339(nextAttemptAt),
  };
}

async function countOpen(reader: Reader, endpointId: Uuid, state: 'pending' | 'retrying'): Promise<number> {
  const [row] = await reader.query(
    `SELECT COUNT(*) AS found FROM (SELECT 1 FROM webhook_deliveries FORCE INDEX (due)
     WHERE endpoint_id=${column.uuid.literal(endpointId)} AND state='${state}' LIMIT ${MAX_COUNTED + 1}) few`,
  );
  return column.integer.parse(row?.found);
}
