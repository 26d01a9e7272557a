import { ApiError, type CommandResult, NOT_FOUND } from '../core/errors.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { EventType } from '../db/entities/events.js';
import {
  type Payout,
  type PayoutRailEvent,
  payoutRailEvents,
  payouts,
} from '../db/entities/payouts.js';
import type { PayoutStatementLine } from '../db/entities/rails.js';
import type { EventDraft } from '../ledger/event-log.js';
import {
  type Command,
  type CommandKind,
  type Decision,
  insertRow,
  type LockedState,
  accountsFrom,
  rowKey,
  type RowKey,
  refuse,
  type RowWrite,
} from '../ledger/writer/types.js';
import { outboxWrite } from '../temporal/outbox.js';
import { listedAmount, type Report } from './reports.js';
import { payoutResource } from './schemas.js';

/** Commands about an existing payout, and the rows and events that they write. */

export interface PayoutCommand extends Command {
  /** The payout as read before the lock. `decide` reads it again under the lock. */
  readonly snapshot: Payout;
  readonly eventId: Uuid;
}

interface PayoutDecision<C> {
  readonly accounts?: (command: C) => readonly Uuid[];
  readonly rowKeys?: (snapshot: Payout) => readonly RowKey[];
  readonly decide: (command: C, payout: Payout, state: LockedState) => Decision<Payout>;
}

export function definePayoutCommand<C extends PayoutCommand>(
  name: string,
  {
    accounts = ({ snapshot }) => [snapshot.sourceAccountId],
    rowKeys = () => [],
    decide,
  }: PayoutDecision<C>,
): CommandKind<C, Payout> {
  return {
    name,
    resourceType: 'payout',
    table: payouts,
    accounts: accountsFrom(accounts),
    rowKeys: ({ snapshot }) => [rowKey(payouts, { id: snapshot.id }), ...rowKeys(snapshot)],
    decide: (command, state) => {
      const payout = state.row(payouts, { id: command.snapshot.id });
      return payout === undefined ? refuse(NOT_FOUND) : decide(command, payout, state);
    },
  };
}

/** Returns a command with a new key, for work that is safe to repeat. */
export function newPayoutCommand(snapshot: Payout): PayoutCommand {
  const eventId = newId();
  const key = `payout/${snapshot.id}/rail/${eventId}`;
  const fingerprint = commandFingerprint(['rail', eventId]);
  return { tenantId: snapshot.tenantId, key, fingerprint, snapshot, eventId };
}

/** Returns the payout after a command. Throws the refusal as ApiError. */
export function payoutOrThrow({ outcome }: Pick<CommandResult<Payout>, 'outcome'>): Payout {
  if (!outcome.done) throw new ApiError(outcome.refusal);
  return outcome.resource;
}

export function railEvent(
  id: Uuid,
  { id: payoutId, rail }: { readonly id: Uuid | null; readonly rail: string },
  fields: Pick<PayoutRailEvent, 'kind' | 'effect' | 'at'> & Partial<PayoutRailEvent>,
  report: Omit<Report, 'status'> | null = null,
): PayoutRailEvent {
  return {
    id,
    payoutId,
    rail,
    reported: null,
    callbackId: null,
    attempt: null,
    listedAmount: null,
    railReference: report?.reference ?? null,
    failureCode: report?.failureCode ?? null,
    ...fields,
  };
}

export function insertRailEvent(...event: Parameters<typeof railEvent>): RowWrite {
  return insertRow(payoutRailEvents, railEvent(...event));
}

/** Records what a statement's line did to the payout. */
export function insertLineEvent(
  id: Uuid,
  payout: Payout,
  line: Omit<PayoutStatementLine, 'statementId' | 'rail'>,
  effect: PayoutRailEvent['effect'],
  at: Instant,
): RowWrite {
  const { status: reported, reference } = line;
  const what = {
    kind: 'statement',
    reported,
    listedAmount: listedAmount(line),
    effect,
    at,
  } as const;
  return insertRailEvent(id, payout, what, { reference, failureCode: null });
}

/** Returns the event of a transition, with the payout as GET shows it at that instant. */
export function payoutEvent(
  type: Extract<EventType, `payout.${string}`>,
  payout: Payout,
): EventDraft {
  const { tenantId, id: resourceId } = payout;
  return { tenantId, type, resourceId, object: () => payoutResource.present(payout) };
}

export function insertOutboxEntry(
  outboxId: Uuid,
  { id, tenantId }: Pick<Payout, 'id' | 'tenantId'>,
  at: Instant,
): RowWrite {
  return outboxWrite({ outboxId, tenantId, resourceType: 'payout', resourceId: id }, at);
}
