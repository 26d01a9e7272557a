import { createHash } from 'node:crypto';
import type { Refusal } from '../core/errors.js';
import { ApiError } from '../core/errors.js';
import { commandFingerprint, type Keyring } from '../core/fingerprint.js';
import { idOf, newId, type Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Database } from '../db/database.js';
import {
  type Payout,
  type PayoutRailEvent,
  payoutRailEvents,
  payouts,
} from '../db/entities/payouts.js';
import { DUPLICATE_KEY, errnoOf } from '../db/failures.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import type { OutboxNotifier } from '../temporal/outbox-notifier.js';
import { reportOutcome } from './commands.js';
import type { RailObserver } from './conversation.js';
import { TIMESTAMP_HEADER, verify } from './rails/signing.js';
import { type RailCallback, readCallback } from './rails/wire.js';
import { effectOf } from './rules.js';
import { isResolvedReport } from './resolved-reports.js';

/** The effect of a callback. `reused`: its id was used for something else before. */
export type CallbackEffect = PayoutRailEvent['effect'] | 'reused';

interface CallbackDeps {
  readonly database: Database;
  readonly desk: LedgerWriter;
  readonly clock: Clock;
  readonly notifier: Pick<OutboxNotifier, 'notify'>;
  readonly keys: ReadonlyMap<string, Keyring>;
  readonly onCallback: (rail: string, effect: CallbackEffect) => void;
  readonly onContradiction: RailObserver['contradicted'];
  readonly onEnd: RailObserver['ended'];
}

interface ReceivedCallback {
  /** As in payouts: `http:<name>`. */
  readonly rail: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/**
 * Reports that rails send. Each is recorded once, whatever its effect; one that is late, repeated or already known
 * changes nothing. Anybody may send forgeries, or replay what a rail has sent: those are counted, and leave no row.
 * (docs/contract.md, Rails)
 */
export class RailCallbacks {
  constructor(private readonly deps: CallbackDeps) {}

  /** Null if no such rail calls back. Throws ledger_unavailable, DatabaseUnavailable: the rail must send it again. */
  async receive({ rail, path, headers, body }: ReceivedCallback): Promise<CallbackEffect | null> {
    const { keys, clock, onCallback } = this.deps;
    const own = keys.get(rail);
    if (own === undefined) return null;
    const verdict = verify(own, headers, { method: 'POST', path, body }, clock());
    const effect = verdict === 'genuine' ? await this.hear(rail, body, sentAt(headers)) : verdict;
    onCallback(rail, effect);
    return effect;
  }

  private async hear(rail: string, body: Buffer, at: number): Promise<CallbackEffect> {
    // The same id for the same bytes, whenever and wherever they arrive while they still count as recent.
    const rowId = idOf(at, createHash('sha256').update(`${rail}\n`).update(body).digest());
    const callback = readCallback(body.toString('utf8'));
    if (callback !== null) return this.tell(rail, callback, rowId);
    await this.write({ id: rowId, rail, payoutId: null, effect: 'malformed', callbackId: null });
    return 'malformed';
  }

  /** A genuine report, by whichever route. `rowId`: used if its own id binds nothing. Throws like `receive`. */
  async tell(
    rail: string,
    { callbackId, ...said }: RailCallback,
    rowId: Uuid = newId(),
  ): Promise<CallbackEffect> {
    const { database, desk, notifier, onContradiction, onEnd } = this.deps;
    const payout = await database.reader.find(payouts, { id: said.key });
    if (payout?.rail !== rail) {
      await this.write({ id: rowId, rail, payoutId: null, effect: 'unknown_payout', callbackId });
      return 'unknown_payout';
    }
    const { id, tenantId } = payout;
    const [outboxId, eventId] = [newId(), newId()];
    const isContrary = effectOf(payout, said) === 'conflict';
    const isSettled = isContrary && (await isResolvedReport(database.reader, payout, said));
    const { outcome, replayed } = await desk.submit(reportOutcome, {
      tenantId,
      key: `rail/${rail}/${callbackId}`,
      fingerprint: commandFingerprint([
        'callback',
        id,
        said.status,
        said.reference ?? '',
        said.failureCode ?? '',
      ]),
      facts: payout,
      kind: 'callback',
      said,
      isSettled,
      callbackId,
      outboxId,
      eventId,
    });
    if (!outcome.done) return this.refused(outcome.refusal, payout, callbackId, rowId);
    if (replayed) return 'replayed';
    if (outcome.resource.status !== payout.status)
      notifier.notify({ id: outboxId, resourceType: 'payout', resourceId: id });
    if (payout.endedAt === null && outcome.resource.endedAt !== null) onEnd(outcome.resource);
    const written = await database.reader.find(payoutRailEvents, { id: eventId });
    if (written?.effect === 'conflict') onContradiction(rail);
    return written?.effect ?? 'noted';
  }

  private async refused(
    refusal: Refusal,
    { id: payoutId, rail }: Payout,
    callbackId: string,
    rowId: Uuid,
  ): Promise<CallbackEffect> {
    if (refusal.code !== 'idempotency_key_reused') throw new ApiError(refusal);
    await this.write({ id: rowId, rail, payoutId, effect: 'malformed', callbackId });
    return 'reused';
  }

  /** If it is sent again, the row already exists. */
  private async write(
    event: Pick<PayoutRailEvent, 'id' | 'rail' | 'payoutId' | 'effect' | 'callbackId'>,
  ): Promise<void> {
    const { database, clock } = this.deps;
    const unsaid = { said: null, railReference: null, failureCode: null, attempt: null };
    const row: PayoutRailEvent = { ...event, ...unsaid, kind: 'callback', at: clock() };
    try {
      await transact(database, (transaction) =>
        transaction.execute(insertSql(payoutRailEvents, [row])),
      );
    } catch (failure) {
      if (errnoOf(failure) !== DUPLICATE_KEY) throw failure;
    }
  }
}

/** The signed time of a genuine message, in milliseconds since 1970. */
function sentAt(headers: ReceivedCallback['headers']): number {
  return Number.parseInt(String(headers[TIMESTAMP_HEADER]), 10) * 1_000;
}
