import type { DatabaseDeps } from '../db/database.js';
import { ApiError, existing, invalidState } from '../core/errors.js';
import { asUuid } from '../core/ids.js';
import { recordOnce } from '../access/audit-log.js';
import { webhookEndpoints } from '../db/entities/webhooks.js';
import type { StaffSignals } from '../staff/signals.js';
import type { EndpointAct } from '../temporal/contracts.js';
import { pause, resume, retryNow } from './operating.js';

const ACTIONS = { pause, resume, retry_now: retryNow } as const;

/** Returns why it was refused and recorded, or null. Throws not_found, DatabaseUnavailable, TemporalUnavailable. */
export async function actBySignal(
  deps: DatabaseDeps,
  signal: EndpointAct,
  signals: Pick<StaffSignals, 'verify'>,
): Promise<string | null> {
  const { action } = signal;
  const [id, actId] = [asUuid(signal.endpointId), asUuid(signal.actId)];
  const endpoint = existing(await deps.database.reader.find(webhookEndpoints, { id }));
  const subject = {
    tenantId: endpoint.tenantId,
    subjectType: 'webhook_endpoint',
    subjectId: id,
  } as const;
  const signed = await signals.verify(`webhook.${action}`, signal, subject);
  if ('refused' in signed) return signed.refused;
  const { by, reason } = signed;
  try {
    if (endpoint.status === 'deleted') throw DELETED;
    await ACTIONS[action](deps, id, by, { reason }, actId);
    return null;
  } catch (failure) {
    if (!(failure instanceof ApiError) || !FINAL.has(failure.refusal.code)) throw failure;
    const details = { reason, refused: failure.message };
    await recordOnce(deps, actId, by, { ...subject, action: `webhook.${action}_refused`, details });
    return failure.message;
  }
}

const FINAL = new Set<string>(['authority_insufficient', 'invalid_state']);
const DELETED = new ApiError(invalidState('the endpoint is deleted'));
