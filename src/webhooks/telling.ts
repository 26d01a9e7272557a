import { newId } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { OutboxRow } from '../db/entities/outbox.js';
import type { WebhookEndpoint } from '../db/entities/webhooks.js';
import { outboxEntry } from '../temporal/outbox-entry.js';

/** The entry of the outbox by which the workflow of an endpoint learns that it stands otherwise than before. */
export function noticeOf({ id, tenantId }: Pick<WebhookEndpoint, 'id' | 'tenantId'>, now: Instant): OutboxRow {
  const about = { tenantId, resourceType: 'webhook_endpoint', resourceId: id } as const;
  return outboxEntry({ ...about, outboxId: newId() }, now);
}
