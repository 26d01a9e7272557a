import { recordOnce } from '../access/audit-log.js';
import { ApiError, assertFound, invalidState } from '../core/errors.js';
import { asUuid, type Uuid } from '../core/ids.js';
import { toRfc3339 } from '../core/instant.js';
import type { DatabaseDeps } from '../db/database.js';
import { webhookEndpoints } from '../db/entities/webhooks.js';
import { transact } from '../db/reader.js';
import type { StaffSignals } from '../staff/verification.js';
import {
  type EndpointActionSignal,
  type EndpointView,
  type ResourceInput,
  webhookWorkflowId,
  type WebhookWorkflowInput,
} from '../temporal/contracts.js';
import { workflowResource } from '../temporal/workflow-resources.js';
import { updateEndpoint } from './endpoints.js';
import { lockEndpointStates, nextAttemptOf } from './endpoint-state.js';
import { readDescribedEndpoint, pauseEndpoint, resumeEndpoint, retryNow } from './staff-actions.js';

/** Marks an endpoint as due if its backoff has ended. Throws DatabaseUnavailable. */
export async function checkEndpoint(
  { database, clock }: DatabaseDeps,
  id: Uuid,
): Promise<EndpointView> {
  const due = await transact(database, async (transaction) => {
    const states = await lockEndpointStates(transaction, [id], 'wait');
    const { endpoint, nextAttemptAt } = assertFound(states.get(id));
    const now = clock();
    const next = nextAttemptOf(endpoint, nextAttemptAt);
    const isDue = next !== null && next <= now;
    // Once `waitsUntil` has passed, a run notifies this workflow when it ends.
    const set = { waitsUntil: next, workflowCheckedAt: now, ...(isDue ? { nextDueAt: now } : {}) };
    await updateEndpoint(transaction, id, set);
    return { next, isDue };
  });
  const { status, pausedAt, text } = await readDescribedEndpoint(database.reader, id, clock());
  const hasNothingToWaitFor = status === 'enabled' && pausedAt === null && due.next === null;
  return {
    nextDueAt: due.isDue ? null : toRfc3339(due.next),
    status,
    isPaused: pausedAt !== null,
    waitingFor: hasNothingToWaitFor ? NOTHING_WAITS : text,
    isOver: status === 'deleted',
  };
}

/** Ignores attempts in flight, because the workflow is notified only if they fail. */
const NOTHING_WAITS = 'nothing: new events are sent at once';

const ACTIONS = { pause: pauseEndpoint, resume: resumeEndpoint, retry_now: retryNow } as const;

/**
 * Returns why the action was refused, or null. Throws not_found, DatabaseUnavailable,
 * TemporalUnavailable.
 */
export async function performSignal(
  deps: DatabaseDeps,
  signal: EndpointActionSignal,
  signals: Pick<StaffSignals, 'verify'>,
): Promise<string | null> {
  const { action } = signal;
  const [id, actionId] = [asUuid(signal.endpointId), asUuid(signal.actionId)];
  const endpoint = assertFound(await deps.database.reader.find(webhookEndpoints, { id }));
  const subject = {
    tenantId: endpoint.tenantId,
    subjectType: 'webhook_endpoint',
    subjectId: id,
  } as const;
  const signed = await signals.verify(`webhook.${action}`, signal, subject);
  if ('refused' in signed) return signed.refused;
  const { by, reason } = signed;
  try {
    if (endpoint.status === 'deleted') throw ENDPOINT_DELETED;
    await ACTIONS[action](deps, id, by, { reason }, actionId);
    return null;
  } catch (failure) {
    if (!(failure instanceof ApiError) || !FINAL_REFUSALS.has(failure.refusal.code)) throw failure;
    const details = { reason, refused: failure.message };
    await recordOnce(deps, actionId, by, {
      ...subject,
      action: `webhook.${action}_refused`,
      details,
    });
    return failure.message;
  }
}

/** Refusals that a retry of the activity would not change. */
const FINAL_REFUSALS = new Set<string>(['authority_insufficient', 'invalid_state']);
const ENDPOINT_DELETED = new ApiError(invalidState('the endpoint is deleted'));

/** An endpoint has a workflow until it is deleted. */
export const endpointWorkflowResource = workflowResource({
  resourceType: 'webhook_endpoint',
  workflowType: 'webhookEndpoint',
  taskQueue: 'webhooks',
  workflowIdOf: webhookWorkflowId,
  table: webhookEndpoints,
  states: ['enabled', 'disabled'],
  from: `webhook_endpoints t FORCE INDEX (PRIMARY) WHERE t.status<>'deleted'`,
  shownStatus: `IF(t.paused_at IS NULL, t.status, 'paused')`,
  describe: ({ id, status, pausedAt }) => ({
    status: pausedAt === null ? status : 'paused',
    summary: 'Deliveries to a webhook endpoint',
    input: { endpointId: id } satisfies ResourceInput<WebhookWorkflowInput>,
  }),
});
