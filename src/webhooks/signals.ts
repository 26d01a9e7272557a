import { type Actor, auditRow, recordRows } from '../access/audit-log.js';
import { cleanText } from '../core/checked-text.js';
import { notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { auditLog } from '../db/entities/identity.js';
import { webhookEndpoints } from '../db/entities/webhooks.js';
import { transact } from '../db/transact.js';
import { findStaff, standingRefusal } from '../staff/people.js';
import type { StaffIdentity } from '../staff/rules.js';
import { identityOf } from '../staff/verification.js';
import type { EndpointAct } from '../temporal/contracts.js';
import { type OperatingParts, pause, resume, retryNow } from './operating.js';

const ACTIONS = { pause, resume, retry_now: retryNow } as const;
const MAX_ACTOR = 80;
const MAX_REASON = 140;

/**
 * What a signal asks of an endpoint, by active staff who may pause, with a reason. Anything else changes nothing and is recorded. Answers why
 * it was refused, or null. Throws not_found, DatabaseUnavailable.
 */
export async function actBySignal(parts: OperatingParts, act: EndpointAct): Promise<string | null> {
  const { endpointId, action } = act;
  const [name, reason] = [cleaned(act.actor, MAX_ACTOR), cleaned(act.reason, MAX_REASON)];
  const actor: Actor = { channel: 'temporal', name: name ?? '' };
  const person = await findStaff(parts.database.reader, name ?? '');
  const by = person === undefined ? null : identityOf(person, 'temporal');
  const refused = (await refusal(parts, action, name, reason, by)) ?? (await deletion(parts, endpointId as Uuid));
  if (refused === null && by !== null) await ACTIONS[action](parts, endpointId as Uuid, by, { reason });
  else await recordRefusal(parts, act, actor, refused ?? '');
  return refused;
}

async function refusal(
  { database }: OperatingParts,
  action: EndpointAct['action'],
  name: string | null,
  reason: string | null,
  by: StaffIdentity | null,
): Promise<string | null> {
  if (name === null) return 'no actor was named';
  if (reason === null) return `no reason of 1 to ${MAX_REASON} characters was given`;
  if (by === null) return `${name} is not active staff`;
  return (await standingRefusal(database.reader, `webhook.${action}`, by))?.message ?? null;
}

async function deletion({ database }: OperatingParts, id: Uuid): Promise<string | null> {
  const endpoint = await database.reader.find(webhookEndpoints, { id });
  return endpoint?.status === 'deleted' ? 'the endpoint is deleted' : null;
}

/** Under the act's own id: recorded once, however often the activity runs. */
async function recordRefusal(
  { database, clock }: OperatingParts,
  { endpointId, action, actId }: EndpointAct,
  actor: Actor,
  refused: string,
): Promise<void> {
  const id = actId as Uuid;
  await transact(database, async (transaction) => {
    const endpoint = await transaction.find(webhookEndpoints, { id: endpointId as Uuid });
    if (endpoint === undefined) throw notFound();
    if ((await transaction.find(auditLog, { id })) !== undefined) return;
    const subject = { tenantId: endpoint.tenantId, subjectType: 'webhook_endpoint', subjectId: endpointId };
    const done = { ...subject, action: `webhook.${action}_refused`, details: { refused } };
    recordRows(transaction, [auditRow(id, actor, clock(), done)]);
  });
}

function cleaned(text: string | null, max: number): string | null {
  const result = cleanText(text ?? '', max);
  return 'clean' in result ? result.clean : null;
}
