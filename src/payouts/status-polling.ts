import { instant, type Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { literal, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import type { Sweep } from '../temporal/sweeper.js';
import type { RailBreakers } from './breaker.js';
import type { RailCalls } from './rail-calls.js';
import { nextPoll } from './rules.js';

/** How long a worker has to poll a claimed payout, which is then due again. */
const LEASE_MS = 600_000;
const POLL_EVERY_MS = 5_000;
const AT_ONCE = 20;

/** Polls rails about payouts that have ended, and so have no workflow, but may be returned. */
export class StatusPoller {
  constructor(
    private readonly calls: RailCalls,
    private readonly windowMs: (rail: string) => number,
  ) {}

  async pollDue(rail: string, limit: number): Promise<number> {
    const due = await this.claim(rail, limit);
    await Promise.all(due.map((payout) => this.poll(payout)));
    return due.length;
  }

  private claim(rail: string, limit: number): Promise<readonly Payout[]> {
    const { database, clock } = this.calls.deps;
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
      const id = rows.map((row) => row.id);
      await transaction.execute(updateSql(payouts, { askAt }, { id }));
      return rows.map((row) => ({ ...row, askAt }));
    });
  }

  private async poll(before: Payout): Promise<void> {
    const { payout, response } = await this.calls.poll(before);
    const { database, clock } = this.calls.deps;
    const now = clock();
    const usual = nextPoll(payout, now, this.windowMs(payout.rail));
    const next = response === 'silent' && usual !== null ? sooner(usual, now) : usual;
    const at = (value: Instant | null): string => literal(payouts, 'askAt', value);
    // If the payout has changed since, that change has set `ask_at`, which stays.
    const sql = `UPDATE payouts SET ask_at=${at(next)}
      WHERE id=${uuid.literal(payout.id)} AND ask_at<=>${at(before.askAt)}`;
    await transact(database, (transaction) => transaction.execute(sql));
  }
}

function sooner(usual: Instant, now: Instant): Instant {
  return instant(now + Math.max(LEASE_MS, Math.trunc((usual - now) / 8)));
}

/** Polls each rail in a sweep of its own, so that a silent one delays no other. */
export function pollingSweeps(
  poller: StatusPoller,
  rails: Iterable<string>,
  breakers: Pick<RailBreakers, 'isClosed'>,
): Sweep[] {
  return Array.from(rails, (rail) => ({
    name: `inquiries ${rail}`,
    everyMs: POLL_EVERY_MS,
    run: async () =>
      (await breakers.isClosed(rail)) && (await poller.pollDue(rail, AT_ONCE)) === AT_ONCE,
  }));
}
