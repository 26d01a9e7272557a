import { instant, type Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { literal, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import type { RailConversation } from './conversation.js';
import { nextAsk } from './rules.js';

/** How long a worker has to ask about a payout that it claimed; an unanswered one is asked about again after this. */
const LEASE_MS = 600_000;

/** About payouts that have ended, and so have no workflow: they may be returned, or contradicted before. */
export class LateInquiries {
  /** `windowMs`: how long after its completion a payout over the rail may be returned. */
  constructor(
    private readonly conversation: RailConversation,
    private readonly windowMs: (rail: string) => number,
  ) {}

  /** Asks about a rail's due payouts, at most `limit`. Returns how many there were. */
  async askDue(rail: string, limit: number): Promise<number> {
    const due = await this.claim(rail, limit);
    await Promise.all(due.map((payout) => this.ask(payout)));
    return due.length;
  }

  private claim(rail: string, limit: number): Promise<readonly Payout[]> {
    const { database, clock } = this.conversation.deps;
    return transact(database, async (transaction) => {
      const now = clock();
      const rows = await transaction.list(
        payouts,
        `FORCE INDEX (asking)
         WHERE rail=${literal(payouts, 'rail', rail)} AND ask_at<=${time.literal(now)}
         ORDER BY ask_at LIMIT ${Math.trunc(limit)} FOR UPDATE SKIP LOCKED`,
      );
      if (rows.length === 0) return [];
      const askAt = instant(now + LEASE_MS);
      const due = rows.map((row) => ({ ...row, askAt }));
      await transaction.execute(updateSql(payouts, { askAt }, { id: due.map(({ id }) => id) }));
      return due;
    });
  }

  private async ask(before: Payout): Promise<void> {
    const { payout, answer } = await this.conversation.inquire(before);
    const { database, clock } = this.conversation.deps;
    const now = clock();
    const usual = nextAsk(payout, now, this.windowMs(payout.rail));
    const next = answer === 'silent' && usual !== null ? sooner(usual, now) : usual;
    await transact(database, (transaction) =>
      transaction.execute(scheduleSql(payout, before.askAt, next)),
    );
  }
}

/** A rail that did not answer is asked again before the usual time, but also at growing intervals. */
function sooner(usual: Instant, now: Instant): Instant {
  return instant(now + Math.max(LEASE_MS, Math.trunc((usual - now) / 8)));
}

/** Unless it was set meanwhile: every change of a payout sets its own time. */
function scheduleSql({ id }: Payout, lease: Instant | null, next: Instant | null): string {
  const at = (value: Instant | null): string => literal(payouts, 'askAt', value);
  return `UPDATE payouts SET ask_at=${at(next)} WHERE id=${uuid.literal(id)} AND ask_at<=>${at(lease)}`;
}
