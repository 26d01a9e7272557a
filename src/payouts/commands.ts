import { commandFingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { EventType } from '../db/entities/events.js';
import type { Payout, PayoutRailEvent } from '../db/entities/payouts.js';
import type { Command, RowWrite } from '../ledger/writer/types.js';
import type { EventDraft } from '../ledger/event-log.js';
import { outboxWrite } from '../temporal/outbox-entry.js';
import type { Report } from './reports.js';
import { payoutResource } from './schemas.js';

/**
 * The common part of commands about an existing payout, and the rows and events that they write.
 */

export interface PayoutCommand extends Command {
  /** The payout as read before the lock, used only for columns that never change. */
  readonly facts: Payout;
  /** The id of the rail event that the command records. */
  readonly eventId: Uuid;
}

/** Returns a command with a key of its own, for work that may be repeated. */
export function railCommand(facts: Payout): PayoutCommand {
  const eventId = newId();
  const key = `payout/${facts.id}/rail/${eventId}`;
  const fingerprint = commandFingerprint(['rail', eventId]);
  return { tenantId: facts.tenantId, key, fingerprint, facts, eventId };
}

export function railEvent(
  id: Uuid,
  { id: payoutId, rail }: { readonly id: Uuid | null; readonly rail: string },
  what: Pick<PayoutRailEvent, 'kind' | 'effect' | 'at'> & Partial<PayoutRailEvent>,
  report: Omit<Report, 'status'> | null = null,
): PayoutRailEvent {
  return {
    ...{ id, payoutId, rail, said: null, callbackId: null, attempt: null },
    railReference: report?.reference ?? null,
    failureCode: report?.failureCode ?? null,
    ...what,
  };
}

/** Returns the event of a transition, with the payout as GET shows it at that instant. */
export function payoutEvent(
  type: Extract<EventType, `payout.${string}`>,
  payout: Payout,
): EventDraft {
  const { tenantId, id: resourceId } = payout;
  return { tenantId, type, resourceId, object: () => payoutResource.present(payout) };
}

/** Returns the outbox entry that notifies the payout's workflow. */
export function workflowEntry(
  outboxId: Uuid,
  { id, tenantId }: Pick<Payout, 'id' | 'tenantId'>,
  at: Instant,
): RowWrite {
  return outboxWrite({ outboxId, tenantId, resourceType: 'payout', resourceId: id }, at);
}
