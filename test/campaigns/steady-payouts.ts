import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  assertSameStory,
  openPayoutBank,
  paidTimes,
  type PayoutBank,
  untilStatus,
} from '../payouts/support.js';
import { request, startTestApi } from '../helpers/api.js';
import { LEAST, text } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { knownAnswer } from '../helpers/known-answer.js';
import { RAIL_ENDINGS, RECOVERY_MS } from './payouts.js';

const PAUSE_MS = 1_000;
const PAYOUTS = 100_000n;

/** A tenant that pays out once a second, and repeats each request with its key until it is answered. */
export class SteadyPayouts {
  private readonly ids: string[] = [];
  private isRunning = true;

  private constructor(
    private readonly db: TestDatabase,
    private readonly own: PayoutBank,
    private readonly pauseMs: number,
    private readonly close: () => Promise<void>,
  ) {}

  /** Rests `rest` times longer than usual between two payouts. */
  static async start(db: TestDatabase, baseUrl: string, rest = 1): Promise<SteadyPayouts> {
    const tool = await startTestApi(db);
    const through = { ...tool, request: request.bind(null, baseUrl) };
    const bank = await openPayoutBank(through, PAYOUTS * LEAST);
    return new SteadyPayouts(db, bank, rest * PAUSE_MS, () => tool.stop());
  }

  /** Pays until the work is done; fails at once when either does. */
  async during(work: Promise<void>): Promise<void> {
    const paying = this.work();
    await Promise.race([work, paying]);
    this.isRunning = false;
    await Promise.all([work, paying]);
  }

  private async work(): Promise<void> {
    for (; this.isRunning; await sleep(this.pauseMs)) this.ids.push(await this.pay());
  }

  private async pay(): Promise<string> {
    const key = randomUUID();
    const ending = RAIL_ENDINGS[this.ids.length % RAIL_ENDINGS.length]!;
    const answer = await knownAnswer(() => this.own.ask({ ending }, { key }), RECOVERY_MS);
    assert([200, 201].includes(answer.status), answer.text);
    return text(answer.json.id);
  }

  async finish(): Promise<string> {
    const { db, own, ids } = this;
    for (const id of ids) await untilStatus(own, id, ['completed'], RECOVERY_MS);
    assert.deepEqual(
      await paidTimes(db, ids),
      ids.map(() => 1),
    );
    const events = await own.events();
    for (const id of ids) await assertSameStory(own, id, events);
    await this.close();
    return `${ids.length} payouts, each paid once`;
  }
}
