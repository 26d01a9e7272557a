import { type Instant, instant } from '../../core/instant.js';
import { outbox, type OutboxRow } from '../../db/entities/outbox.js';
import { webhookEndpoints } from '../../db/entities/webhooks.js';
import { insertSql, updateSql } from '../../db/statements.js';
import { transact } from '../../db/transact.js';
import type { WebhookParts } from '../parts.js';
import { leaveBehind, nextDue } from '../rules.js';
import { noticeOf } from '../telling.js';
import { type EndpointState, isHeld, LEASE_MS, lockForDrain, TakenOver } from './lease.js';
import { earliestDue } from './open-deliveries.js';
import { hasMore, type Step, step } from './stepping.js';
import { type Outcome, storeOutcomes } from './storing.js';
import type { Random } from './types.js';

/** How long the lease may go without a write. */
export const RENEW_MS = LEASE_MS / 3;

/** One run's hold of its endpoint: all that it writes, each time under the endpoint's lock and with its own number. Every method throws TakenOver. */
export class Grip {
  private renewedAt = performance.now();

  constructor(
    private readonly parts: WebhookParts,
    private readonly own: EndpointState['endpoint'],
    private readonly isWorkflow: boolean,
    private readonly random: Random,
  ) {}

  /** Moves the cursor, for so many deliveries at most. */
  async step(room: number): Promise<Step> {
    const { database, clock } = this.parts;
    const done = await transact(database, (transaction) =>
      step(transaction, this.own.id, this.own.fence, room, clock()),
    );
    this.renewedAt = performance.now();
    return done;
  }

  async store(group: readonly Outcome[]): Promise<EndpointState> {
    const { database, clock } = this.parts;
    const { state, notice } = await transact(database, (transaction) =>
      storeOutcomes(transaction, this.own.id, this.own.fence, group, clock(), this.random),
    );
    this.renewedAt = performance.now();
    this.tell(notice);
    return state;
  }

  async renewIfDue(): Promise<void> {
    if (performance.now() - this.renewedAt < RENEW_MS) return;
    const { database, clock } = this.parts;
    const { id, fence } = this.own;
    const leaseUntil = instant(clock() + LEASE_MS);
    const touched = await transact(database, (transaction) =>
      transaction.execute(updateSql(webhookEndpoints, { leaseUntil }, { id, fence })),
    );
    if (touched === 0) throw new TakenOver('another run has the endpoint');
    this.renewedAt = performance.now();
  }

  /** Ends the run. Answers when something is to be sent next; null where nothing is, or may be. */
  async release(): Promise<Instant | null> {
    const { database, clock } = this.parts;
    const { id, fence } = this.own;
    const { due, notice } = await transact(database, async (transaction) => {
      const state = await lockForDrain(transaction, id, fence);
      const now = clock();
      const earliest = hasMore(state) ? now : await earliestDue(transaction, id);
      const next = nextDue(earliest, state.endpoint);
      const { nextDueAt, waitsUntil, isNews } = leaveBehind(state.endpoint, next, now);
      const told = isNews && !this.isWorkflow ? noticeOf(state.endpoint, now) : null;
      await transaction.all([
        updateSql(webhookEndpoints, { leaseUntil: null, nextDueAt, waitsUntil }, { id, fence }),
        ...(told === null ? [] : [insertSql(outbox, [told])]),
      ]);
      return { due: isHeld(state.endpoint) ? null : next, notice: told };
    });
    this.tell(notice);
    return due;
  }

  private tell(notice: OutboxRow | null): void {
    if (notice !== null) this.parts.nudge.tell(notice);
  }
}
