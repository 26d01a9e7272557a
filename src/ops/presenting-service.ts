import { renderUnicodeCompact } from 'uqr';
import { parseDetails } from '../access/audit-log.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import { counted } from '../core/plural.js';
import { auditLog, type AuditRow } from '../db/entities/identity.js';
import type { OutboxRow } from '../db/entities/outbox.js';
import { type Restore, type RestoreFinding, restores } from '../db/entities/restores.js';
import {
  type Staff,
  staff,
  type StaffFactorReset,
  type StaffSession,
  staffSessions,
} from '../db/entities/staff.js';
import {
  webhookDeliveries,
  type WebhookEndpoint,
  webhookEndpoints,
} from '../db/entities/webhooks.js';
import type { Fields, Output } from './output.js';
import type { OutboxState } from './outbox-rebuild.js';
import type { NewFactor } from '../staff/authenticator.js';
import type { StaffIdentity } from '../staff/rules.js';
import { webhookWorkflowId } from '../temporal/contracts.js';
import type { ShownDelivery } from '../webhooks/queries.js';
import type { DescribedEndpoint } from '../webhooks/staff-actions.js';
import { rowFields } from './row-fields.js';

/** Presents the service's own state and its staff to operators. A secret is shown only when it is made. */

export function actFields(act: AuditRow): Fields {
  return {
    ...rowFields(auditLog, act, 'at channel actorClaimed action subjectType subjectId tenantId'),
    details: parseDetails(act),
  };
}

export function endpointFields(endpoint: WebhookEndpoint): Fields {
  return {
    ...rowFields(webhookEndpoints, endpoint, 'id tenantId url status disabledReason pausedBy'),
    ...rowFields(webhookEndpoints, endpoint, 'failingSince lastSuccessAt nextDueAt'),
  };
}

export function endpointDetailFields(endpoint: DescribedEndpoint): Fields {
  const { lostFrom, lostTo } = endpoint;
  return {
    ...endpointFields(endpoint),
    waits_for: endpoint.text,
    events: endpoint.types,
    next_attempt_at: endpoint.nextAttemptAt,
    failures_in_row: endpoint.failuresInRow,
    next_probe_at: toRfc3339(endpoint.probeAt),
    sent_to_until: toRfc3339(endpoint.leaseUntil),
    workflow: webhookWorkflowId(endpoint.id),
    workflow_waits_until: toRfc3339(endpoint.waitsUntil),
    workflow_looked_at: toRfc3339(endpoint.attendedAt),
    ...rowFields(webhookEndpoints, endpoint, 'disabledAt pausedAt'),
    cursor: endpoint.cursorSequence.toString(),
    lost_events: lostFrom === null || lostTo === null ? null : `${lostFrom} to ${lostTo}`,
    created_at: toRfc3339(endpoint.createdAt),
  };
}

export function deliveryFields(delivery: ShownDelivery): Fields {
  const { attempts } = delivery;
  const last = attempts.at(-1);
  return {
    ...rowFields(webhookDeliveries, delivery, 'id eventId eventType cause'),
    status: delivery.state,
    attempts: attempts.length,
    last_attempt_at: last === undefined ? null : toRfc3339(last.at),
    last_answer: last === undefined ? null : (last.status ?? last.failure),
    next_attempt_at: toRfc3339(delivery.nextAttemptAt),
  };
}

export interface SweepState {
  readonly name: string;
  /** Null if no process holds the lease. */
  readonly worker: { readonly label: string; readonly since: Instant } | null;
}

/** Describes when the entry is tried next, and the results so far. */
export function attemptsOf({ attempts, dueAt, lastError, deadAt }: OutboxRow): string {
  const why = `refused ${counted(attempts, 'time')}: ${lastError ?? 'no reason given'}`;
  if (deadAt !== null) return `a dead letter since ${toRfc3339(deadAt)}, ${why}`;
  const next = `next attempt from ${toRfc3339(dueAt)} on`;
  return attempts === 0 ? next : `${next}, ${why}`;
}

export function outboxFields(entry: OutboxRow): Fields {
  return {
    resource_type: entry.resourceType,
    resource_id: entry.resourceId,
    tenant_id: entry.tenantId,
    created_at: toRfc3339(entry.createdAt),
    due_at: entry.deadAt === null ? toRfc3339(entry.dueAt) : null,
    attempts: entry.attempts,
    last_error: entry.lastError,
    dead_since: toRfc3339(entry.deadAt),
  };
}

export function outboxStateFields(state: OutboxState, now: Instant): Fields {
  const { entries, oldestAt, byType, refused, deadLetters, lastErrors } = state;
  return {
    entries,
    by_type: byType,
    oldest_at: toRfc3339(oldestAt),
    oldest_age_s: oldestAt === null ? 0 : Math.max(0, Math.round((now - oldestAt) / 1000)),
    refused,
    dead_letters: deadLetters,
    last_errors: lastErrors.map(({ message, entries: of }) => `${of} × ${message}`),
  };
}

export function sweepFields({ name, worker }: SweepState): Fields {
  return {
    sweep: name,
    worker: worker?.label ?? null,
    since: worker === null ? null : toRfc3339(worker.since),
  };
}

export function restoreFields(restore: Restore): Fields {
  return {
    id: restore.id,
    ledger: restore.finishedAt === null ? 'closed' : 'open',
    ...rowFields(restores, restore, 'noticedBy reason beganAt beganBy restoredTo lostUntil skip'),
    sequences_moved_at: toRfc3339(restore.movedAt),
    workflows_rebuilt_at: toRfc3339(restore.rebuiltAt),
    rails_asked_at: toRfc3339(restore.askedAt),
    audited_at: toRfc3339(restore.auditedAt),
    ...rowFields(restores, restore, 'finishedAt finishedBy'),
    workflows_told_at: toRfc3339(restore.toldAt),
  };
}

export function restoreFindingFields({
  kind,
  rail,
  payoutId,
  here,
  there,
  foundAt,
}: RestoreFinding): Fields {
  return { finding: kind, rail, payout_id: payoutId, here, there, found_at: toRfc3339(foundAt) };
}

export function staffFields(one: Staff): Fields {
  const { name, kind, rights, active, factorSecret } = one;
  return {
    name,
    kind,
    can: rights,
    active,
    authenticator: kind === 'person' ? factorSecret !== null : null,
    ...rowFields(staff, one, 'lastUsedAt lockedUntil opsLockedUntil createdAt'),
  };
}

export function signedInFields(
  { name, kind, rights }: StaffIdentity,
  session: StaffSession | null,
): Fields {
  return { name, kind, can: rights, expires_at: toRfc3339(session?.expiresAt ?? null) };
}

export function sessionFields({
  session,
  name,
}: {
  readonly session: StaffSession;
  readonly name: string;
}): Fields {
  return {
    id: session.id,
    name,
    ...rowFields(staffSessions, session, 'door place createdAt lastUsedAt expiresAt'),
  };
}

export function resetFields(
  { name }: Staff,
  { status, reason, createdAt }: StaffFactorReset,
): Fields {
  return { name, status, reason, proposed_at: toRfc3339(createdAt) };
}

export function showWithFactor(output: Output, person: Staff, factor: NewFactor | null): void {
  if (factor === null) return output.one(staffFields(person));
  output.one({ ...staffFields(person), otpauth_url: factor.url, secret: factor.secret });
  output.picture(`\n${renderUnicodeCompact(factor.url, { border: 2 })}`);
  output.say(
    `The secret is shown only now: ${person.name} scans it with an authenticator app, or types it there. It is not stored anywhere else.`,
  );
}
