import { setTimeout as sleep } from 'node:timers/promises';
import type { Uuid } from '../../core/ids.js';
import { uuid } from '../../db/columns.js';
import { type Payout, payouts } from '../../db/entities/payouts.js';
import { literal } from '../../db/statements.js';
import { rowParser } from '../../db/table.js';
import type { Outbox } from '../../temporal/outbox.js';
import type { RailConversation } from '../conversation.js';
import type { Submissions } from '../submission.js';
import type { Lease, RailBreakers } from './breakers.js';

interface RecoveryDeps {
  readonly conversation: RailConversation;
  readonly submissions: Pick<Submissions, 'submit' | 'ask'>;
  readonly breakers: RailBreakers;
  readonly outbox: Pick<Outbox, 'add'>;
}

/** Waiting payouts are woken at this pace, so that a rail that has just come back does not get everything at once. */
const WOKEN_AT_ONCE = 50;
const WAKE_PAUSE_MS = 500;
/** Varies the payout, since the rail may never answer about a particular one. */
const TRIED_AMONG = 5;
/** A payout of a frozen account is not given to the rail. */
const MAY_SEND = `EXISTS (SELECT 1 FROM accounts a WHERE a.id=source_account_id AND a.status='active')`;

const parseWaiting = rowParser({ id: uuid, tenantId: uuid });
type Waiting = ReturnType<typeof parseWaiting>;

/** Finds out whether silent rails answer again, and then wakes the payouts that waited for them. */
export class RailRecovery {
  constructor(private readonly deps: RecoveryDeps) {}

  /** Probes the rail with one payout if that is due; the breaker learns the result. Throws DatabaseUnavailable. */
  async probeDue(rail: string): Promise<false> {
    if (await this.deps.breakers.claimProbe(rail)) await this.probe(rail);
    return false;
  }

  /** Tells waiting payouts' workflows, oldest first, while the rail answers. Throws DatabaseUnavailable. */
  async wakeDue(rail: string, signal: AbortSignal): Promise<false> {
    const lease = await this.deps.breakers.claimWake(rail);
    if (lease !== null) await this.wake(lease, signal);
    return false;
  }

  /** Asks about a payout that the rail answered for before; else hands over a waiting one; else asks about another. */
  private async probe(rail: string): Promise<void> {
    const { conversation, submissions } = this.deps;
    const known =
      (await this.first(rail, 'FORCE INDEX (asking)', 'ask_at IS NOT NULL ORDER BY ask_at DESC')) ??
      (await this.first(
        rail,
        'FORCE INDEX (submitted)',
        `status='in_progress' AND rail_reference IS NOT NULL ORDER BY submitted_at DESC`,
      ));
    if (known !== undefined) return void (await conversation.inquire(known));
    const waiting = await this.first(
      rail,
      'FORCE INDEX (expiring)',
      `status='approved' AND ${MAY_SEND} ORDER BY id`,
    );
    if (waiting !== undefined) return void (await submissions.submit(waiting.id));
    const lost = await this.first(
      rail,
      'FORCE INDEX (submitted)',
      `status='in_progress' ORDER BY attempted_at, submitted_at`,
    );
    if (lost !== undefined) await submissions.ask(lost.id);
  }

  private async wake(taken: Lease, signal: AbortSignal): Promise<void> {
    const { breakers, outbox } = this.deps;
    let [lease, after]: [Lease | null, Uuid | null] = [taken, null];
    while (lease !== null && !signal.aborted) {
      const rows: Waiting[] = await this.waiting(lease.rail, after);
      await outbox.add(
        rows.map(({ id, tenantId }) => ({ tenantId, resourceType: 'payout', resourceId: id })),
      );
      if (rows.length < WOKEN_AT_ONCE) return breakers.woken(lease);
      after = rows.at(-1)?.id ?? null;
      await sleep(WAKE_PAUSE_MS);
      lease = await breakers.keepWaking(lease);
    }
  }

  /** Approved, or handed over without any answer. For the others the rail reports by itself, or is asked as usual. */
  private async waiting(rail: string, after: Uuid | null): Promise<Waiting[]> {
    const behind = after === null ? '' : ` AND id>${uuid.literal(after)}`;
    const rows = await this.deps.conversation.deps.database.reader.query(
      `SELECT id, tenant_id FROM payouts FORCE INDEX (expiring)
       WHERE status IN ('approved','in_progress') AND rail_reference IS NULL
         AND rail=${literal(payouts, 'rail', rail)}${behind} ORDER BY id LIMIT ${WOKEN_AT_ONCE}`,
    );
    return rows.map(parseWaiting);
  }

  private async first(rail: string, index: string, condition: string): Promise<Payout | undefined> {
    const rows = await this.deps.conversation.deps.database.reader.list(
      payouts,
      `${index}
       WHERE rail=${literal(payouts, 'rail', rail)} AND ${condition} LIMIT ${TRIED_AMONG}`,
    );
    return rows[Math.floor(Math.random() * rows.length)];
  }
}
