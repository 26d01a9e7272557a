import type { Refusal } from '../core/errors.js';
import { ApiError } from '../core/errors.js';
import { commandFingerprint, type Keyring } from '../core/fingerprint.js';
import { newId } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Database } from '../db/database.js';
import { type Payout, type PayoutRailEvent, payoutRailEvents, payouts } from '../db/entities/payouts.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import type { PostingDesk } from '../ledger/desk/desk.js';
import type { Nudge } from '../temporal/nudge.js';
import { reportOutcome } from './commands.js';
import type { RailObserver } from './conversation.js';
import { verify } from './rails/signing.js';
import { type RailCallback, readCallback } from './rails/wire.js';
import { effectOf } from './rules.js';
import { isSettledWord } from './settled-words.js';

/** What came of a callback. `reused`: its id was used for something else before. */
export type CallbackEffect = PayoutRailEvent['effect'] | 'reused';

export interface CallbackParts {
  readonly database: Database;
  readonly desk: PostingDesk;
  readonly clock: Clock;
  readonly nudge: Pick<Nudge, 'tell'>;
  /** Of each rail that calls back, by the name in payouts. */
  readonly keys: ReadonlyMap<string, Keyring>;
  readonly onCallback: (rail: string, effect: CallbackEffect) => void;
  readonly onContradiction: RailObserver['contradicted'];
}

export interface ReceivedCallback {
  /** As payouts name it: `http:<name>`. */
  readonly rail: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

const MINUTE_MS = 60_000;
/** Anybody may send what is not believed: more than so many a minute are counted, and no longer written down. */
const MOST_DISBELIEVED = 600;

/**
 * What rails tell by themselves. Each is written down, whatever comes of it; what is forged, late, sent again or known already
 * changes nothing. (decisions.md, Payouts)
 */
export class RailCallbacks {
  private readonly parts: CallbackParts;
  private disbelieved = { since: 0, count: 0 };

  constructor(parts: CallbackParts) {
    this.parts = parts;
  }

  /** Null where no such rail calls back. Throws ApiError ledger_unavailable, DatabaseUnavailable: then it shall come again. */
  async receive({ rail, path, headers, body }: ReceivedCallback): Promise<CallbackEffect | null> {
    const { keys, clock, onCallback } = this.parts;
    const own = keys.get(rail);
    if (own === undefined) return null;
    const verdict = verify(own, headers, { method: 'POST', path, body }, clock());
    const callback = verdict === 'genuine' ? readCallback(body.toString('utf8')) : null;
    const effect =
      verdict === 'genuine' ? (callback === null ? 'malformed' : await this.tell(rail, callback)) : verdict;
    onCallback(rail, effect);
    if (callback === null) await this.writeDisbelieved(rail, effect);
    return effect;
  }

  /** A genuine report, through whichever door it came. Throws as `receive`. */
  async tell(rail: string, { callbackId, ...said }: RailCallback): Promise<CallbackEffect> {
    const { database, desk, nudge, onContradiction } = this.parts;
    const payout = await database.reader.find(payouts, { id: said.key });
    if (payout?.rail !== rail) {
      await this.write({ rail, payoutId: null, effect: 'unknown_payout', callbackId });
      return 'unknown_payout';
    }
    const { id, tenantId } = payout;
    const [outboxId, eventId] = [newId(), newId()];
    const isContrary = effectOf(payout, said) === 'conflict';
    const isSettled = isContrary && (await isSettledWord(database.reader, payout, said));
    const { outcome, replayed } = await desk.submit(reportOutcome, {
      tenantId,
      key: `rail/${rail}/${callbackId}`,
      fingerprint: commandFingerprint(['callback', id, said.status, said.reference ?? '', said.failureCode ?? '']),
      facts: payout,
      kind: 'callback',
      said,
      isSettled,
      callbackId,
      outboxId,
      eventId,
    });
    if (!outcome.done) return this.refused(outcome.refusal, payout, callbackId);
    if (replayed) {
      await this.write({ rail, payoutId: id, effect: 'replayed', callbackId, said: said.status });
      return 'replayed';
    }
    if (outcome.resource.status !== payout.status) nudge.tell({ id: outboxId, resourceType: 'payout', resourceId: id });
    const written = await database.reader.find(payoutRailEvents, { id: eventId });
    if (written?.effect === 'conflict') onContradiction(rail);
    return written?.effect ?? 'noted';
  }

  private async refused(refusal: Refusal, { id, rail }: Payout, callbackId: string): Promise<CallbackEffect> {
    if (refusal.code !== 'idempotency_key_reused') throw new ApiError(refusal);
    await this.write({ rail, payoutId: id, effect: 'malformed', callbackId });
    return 'reused';
  }

  private async writeDisbelieved(rail: string, effect: CallbackEffect): Promise<void> {
    const now = this.parts.clock();
    if (now - this.disbelieved.since >= MINUTE_MS) this.disbelieved = { since: now, count: 0 };
    this.disbelieved.count += 1;
    if (this.disbelieved.count > MOST_DISBELIEVED || effect === 'reused') return;
    await this.write({ rail, payoutId: null, effect, callbackId: null });
  }

  private async write(
    event: Pick<PayoutRailEvent, 'rail' | 'payoutId' | 'effect' | 'callbackId'> &
      Partial<Pick<PayoutRailEvent, 'said'>>,
  ): Promise<void> {
    const { database, clock } = this.parts;
    const row: PayoutRailEvent = {
      said: null,
      ...event,
      id: newId(),
      kind: 'callback',
      railReference: null,
      failureCode: null,
      attempt: null,
      at: clock(),
    };
    await transact(database, (transaction) => transaction.execute(insertSql(payoutRailEvents, [row])));
  }
}
