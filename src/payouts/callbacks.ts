import { createHash } from 'node:crypto';
import { ApiError } from '../core/errors.js';
import { commandFingerprint, type Keyring } from '../core/fingerprint.js';
import { idFromDigest, newId, type Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import { type PayoutRailEvent, payoutRailEvents, payouts } from '../db/entities/payouts.js';
import { isDuplicateKey } from '../db/failures.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import type { OutboxNotifier } from '../temporal/relay.js';
import { railEvent } from './commands.js';
import { type ReportDeps, submitReport } from './outcomes.js';
import { type RailCallback, readCallback, TIMESTAMP_HEADER, verify } from './rails/wire.js';

/** The effect of a callback. `reused`: its id was used for a different callback. */
export type CallbackEffect = PayoutRailEvent['effect'] | 'reused';

interface CallbackDeps extends ReportDeps {
  readonly clock: Clock;
  readonly notifier: Pick<OutboxNotifier, 'notify'>;
  readonly keys: ReadonlyMap<string, Keyring>;
  readonly onCallback: (rail: string, effect: CallbackEffect) => void;
}

interface SignedRequest {
  readonly path: string;
  readonly headers: Parameters<typeof verify>[1];
  readonly body: Buffer;
}

/**
 * Receives the reports that rails send. Forged and late ones are not stored, because anyone can
 * send them.
 */
export class RailCallbacks {
  constructor(private readonly deps: CallbackDeps) {}

  /** Returns null if the rail has no keys here. Throws if it must send the callback again. */
  async receive(rail: string, request: SignedRequest): Promise<CallbackEffect | null> {
    const { keys, clock, onCallback } = this.deps;
    const { path, headers, body } = request;
    const railKeys = keys.get(rail);
    if (railKeys === undefined) return null;
    const verdict = verify(railKeys, headers, { method: 'POST', path, body }, clock());
    const effect = verdict === 'genuine' ? await this.process(rail, request) : verdict;
    onCallback(rail, effect);
    return effect;
  }

  private async process(rail: string, { headers, body }: SignedRequest): Promise<CallbackEffect> {
    const sentAtMs = Number.parseInt(String(headers[TIMESTAMP_HEADER]), 10) * 1_000;
    // A callback that is sent again with the same bytes and timestamp gets the same id.
    const rowId = idFromDigest(
      sentAtMs,
      createHash('sha256').update(`${rail}\n`).update(body).digest(),
    );
    const callback = readCallback(body.toString('utf8'));
    if (callback !== null) return this.report(rail, callback, rowId);
    await this.record(rowId, null, rail, { effect: 'malformed', callbackId: null });
    return 'malformed';
  }

  /** Applies a genuine report. `rowId` is the id of the stored event if no report is applied. */
  async report(
    rail: string,
    { callbackId, key: payoutId, ...report }: RailCallback,
    rowId: Uuid = newId(),
  ): Promise<CallbackEffect> {
    const { database, notifier } = this.deps;
    const payout = await database.reader.find(payouts, { id: payoutId });
    if (payout?.rail !== rail) {
      await this.record(rowId, null, rail, { effect: 'unknown_payout', callbackId });
      return 'unknown_payout';
    }
    const { id, tenantId } = payout;
    const { status, reference, failureCode } = report;
    const content = ['callback', id, status, reference ?? '', failureCode ?? ''];
    const ids = { callbackId, outboxId: newId(), eventId: newId() };
    const key = { key: `rail/${rail}/${callbackId}`, fingerprint: commandFingerprint(content) };
    const command = {
      tenantId,
      ...key,
      ...ids,
      snapshot: payout,
      kind: 'callback',
      report,
    } as const;
    const { outcome, effect } = await submitReport(this.deps, command);
    if (!outcome.done) {
      if (outcome.refusal.code !== 'idempotency_key_reused') throw new ApiError(outcome.refusal);
      await this.record(rowId, id, rail, { effect: 'malformed', callbackId });
      return 'reused';
    }
    if (effect !== 'replayed' && outcome.resource.status !== payout.status)
      notifier.notify({ id: ids.outboxId, resourceType: 'payout', resourceId: id });
    return effect;
  }

  private async record(
    id: Uuid,
    payoutId: Uuid | null,
    rail: string,
    what: Pick<PayoutRailEvent, 'effect' | 'callbackId'>,
  ): Promise<void> {
    const { database, clock } = this.deps;
    const row = railEvent(id, { id: payoutId, rail }, { ...what, kind: 'callback', at: clock() });
    const sql = insertSql(payoutRailEvents, [row]);
    try {
      await transact(database, (transaction) => transaction.execute(sql));
    } catch (failure) {
      if (!isDuplicateKey(failure)) throw failure;
    }
  }
}
