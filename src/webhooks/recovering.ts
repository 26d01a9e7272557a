import { memberActor, recordAct } from '../access/audit-log.js';
import { ApiError, invalidField, invalidState } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant, toRfc3339 } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Transaction } from '../db/database.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';
import { updateSql } from '../db/statements.js';
import { transactFor } from '../db/transact.js';
import { lockManaged } from './access.js';
import { firstSince, headOf } from './log-positions.js';
import type { WebhookDeps } from './deps.js';
import { RECOVER_MS } from './rules.js';
import { endpointAct } from './telling.js';

/** A run of its own walks that part of the log a step at a time: however much it is, asking costs one row. */

export interface Recovery {
  readonly since: Instant;
  /** The first and the last sequence; null if nothing has happened since. */
  readonly range: { readonly from: bigint; readonly to: bigint } | null;
}

/**
 * Resends everything since then that got no 2xx, of the types now subscribed to. Throws not_found,
 * authority_insufficient, invalid_field (older than 30 days, or in the future), invalid_state (disabled).
 */
export async function recover(
  deps: WebhookDeps,
  caller: Caller,
  endpointId: Uuid,
  since: Instant,
): Promise<Recovery> {
  assertRecoverable(since, deps.clock());
  return transactFor(caller.tenantId, deps.database, async (transaction) => {
    const endpoint = await lockManaged(transaction, caller, endpointId);
    assertEnabled(endpoint);
    const now = deps.clock();
    const range = await beginRecovery(transaction, endpoint, since, true, now);
    const act = endpointAct(endpoint, 'webhook.recover', { since: toRfc3339(since) });
    await recordAct(transaction, memberActor(caller), now, act);
    return { since, range };
  });
}

/** Throws invalid_field. */
export function assertRecoverable(since: Instant, now: Instant): void {
  if (since > now || since < instant(now - RECOVER_MS))
    throw new ApiError(invalidField('since', 'out_of_range'));
}

/** Throws invalid_state. */
export function assertEnabled(endpoint: WebhookEndpoint): void {
  if (endpoint.status !== 'enabled')
    throw new ApiError(
      invalidState('the endpoint is disabled: enable it first', 'disabled', ['enabled']),
    );
}

/**
 * Marks the part of the log since then, up to its head, for a locked endpoint. Whatever the cursor will still deliver
 * is left to it. With `all`, includes events from before a type was subscribed to, and probes at once: whoever asks for
 * this is back. Extends a recovery that is already running.
 */
export async function beginRecovery(
  transaction: Transaction,
  endpoint: WebhookEndpoint,
  since: Instant,
  all: boolean,
  now: Instant,
): Promise<Recovery['range']> {
  const from = await firstSince(transaction, endpoint.tenantId, since);
  const to = await headOf(transaction, endpoint.tenantId);
  const probe = all && endpoint.probeAt !== null ? { probeAt: now, nextDueAt: now } : null;
  if (from === null || from > to) {
    if (probe !== null)
      await transaction.execute(updateSql(webhookEndpoints, probe, { id: endpoint.id }));
    return null;
  }
  const { recoverAfter, recoverUntil } = endpoint;
  const after = from - 1n;
  const isRunning = recoverAfter !== null && recoverUntil !== null;
  const set: Partial<WebhookEndpoint> = {
    recoverAfter: isRunning && recoverAfter < after ? recoverAfter : after,
    recoverUntil: to,
    recoverAll: all || (isRunning && endpoint.recoverAll),
    nextDueAt: now,
    ...probe,
  };
  await transaction.execute(updateSql(webhookEndpoints, set, { id: endpoint.id }));
  return { from, to };
}
