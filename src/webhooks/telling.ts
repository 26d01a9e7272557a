import type { Act, ActDetails } from '../access/audit-log.js';
import { newId } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { OutboxRow } from '../db/entities/outbox.js';
import type { WebhookEndpoint } from '../db/entities/webhooks.js';
import { outboxEntry } from '../temporal/outbox-entry.js';

/** What the audit log says of an act on an endpoint. */
export function endpointAct(
  { id, tenantId }: Pick<WebhookEndpoint, 'id' | 'tenantId'>,
  action: string,
  details: ActDetails,
): Act {
  return { tenantId, action, subjectType: 'webhook_endpoint', subjectId: id, details };
}

/** The outbox entry that tells an endpoint's workflow of a change. */
export function noticeOf(
  { id, tenantId }: Pick<WebhookEndpoint, 'id' | 'tenantId'>,
  now: Instant,
): OutboxRow {
  const about = { tenantId, resourceType: 'webhook_endpoint', resourceId: id } as const;
  return outboxEntry({ ...about, outboxId: newId() }, now);
}
