import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApi } from '../helpers/api.js';
import { LEAST, text, transferBody } from '../helpers/bank.js';
import {
  assertPaidOnce,
  batchEvents,
  executedBatch,
  isBatchOver,
  openPayrollBank,
} from '../helpers/batch-workflows.js';
import type { TestDatabase } from '../helpers/database.js';
import { HttpReceiver } from '../helpers/http-receiver.js';
import { answeredBy } from '../helpers/known-answer.js';
import { until } from '../helpers/temporal.js';
import {
  assertGenuine,
  type WebhookBank,
  openWebhookBank,
  transfersAt,
} from '../helpers/webhook-world.js';
import { balanceOf } from '../helpers/world.js';

/** After a kill, Temporal first waits for the activity that was cut off. */
const END_MS = 1_200_000;
/** Rows of a batch; batches follow one another. */
const MAX_BATCHES = 500n;
const HOOKED = 3;
/** Between two transfers of a tenant whose transfers are told. */
const PAUSE_MS = 150;

interface WantedWork {
  /** Of each batch, one after the other. */
  readonly rows: number;
  /** Between two batches; none unless said. */
  readonly betweenBatchesMs?: number;
  /** How many times longer than usual the tenants rest. 1 by default. */
  readonly rest?: number;
}

/** Tenants whose every transfer is told to a receiver, and one that pays batch after batch. */
export class OtherWork {
  private isRunning = true;
  private batches = 0;
  /** Rejects as soon as anything is wrong. */
  readonly running: Promise<unknown>;

  private constructor(
    readonly baseUrl: string,
    private readonly receiver: HttpReceiver,
    private readonly banks: ReadonlyMap<WebhookBank, string[]>,
    private readonly tool: Awaited<ReturnType<typeof startTestApi>>,
    private readonly pauseMs: number,
    payBatches: (goesOn: () => boolean) => Promise<number>,
  ) {
    const batches = payBatches(() => this.isRunning).then((count) => (this.batches = count));
    const sending = Array.from(banks, ([bank, made]) => this.send(bank, made));
    this.running = Promise.all([...sending, batches]);
    // Looked at in `finish`.
    this.running.catch(() => undefined);
  }

  static async start(
    db: TestDatabase,
    baseUrl: string,
    { rows, betweenBatchesMs = 0, rest = 1 }: WantedWork,
  ): Promise<OtherWork> {
    const receiver = await new HttpReceiver().open();
    const tool = await startTestApi(db, {}, { receiver: 'real' });
    const banks = new Map<WebhookBank, string[]>();
    for (let index = 0; index < HOOKED; index += 1)
      banks.set(await openWebhookBank(tool, receiver), []);
    const funds = MAX_BATCHES * BigInt(rows) * LEAST;
    const payroll = await openPayrollBank(tool, funds);
    const payBatches = async (goesOn: () => boolean): Promise<number> => {
      let count = 0;
      for (; goesOn(); count += 1) {
        const id = await executedBatch({ api: { baseUrl } }, payroll, rows);
        await until(`batch ${id} ends`, () => isBatchOver(db, id), { limitMs: END_MS });
        const read = async () => [await assertPaidOnce(db, id, rows), await batchEvents(db, id)];
        assert.deepEqual(await until('it can be read', () => tried(read()), { limitMs: END_MS }), [
          rows,
          ['ready', 'completed'],
        ]);
        await sleep(betweenBatchesMs);
      }
      const left = { available: funds - BigInt(count * rows) * LEAST, held: 0n };
      assert.deepEqual(await balanceOf(db.database, payroll.source.id), left);
      return count;
    };
    return new OtherWork(baseUrl, receiver, banks, tool, rest * PAUSE_MS, payBatches);
  }

  /** One after the other, each again with its key until it is known. */
  private async send({ bank, from, to }: WebhookBank, made: string[]): Promise<void> {
    const options = { token: bank.token, body: transferBody({ from, to, raw: LEAST }) };
    while (this.isRunning) {
      const asked = { ...options, key: randomUUID() };
      made.push(text((await answeredBy(this, 'POST', '/v1/transfers', asked)).id));
      await sleep(this.pauseMs);
    }
  }

  async finish(): Promise<string> {
    this.isRunning = false;
    try {
      await this.running;
      const told = [];
      for (const [bank, made] of this.banks) told.push(await this.assertTold(bank, made));
      return `${told.join(' + ')} events arrived, ${this.batches} batches paid once`;
    } finally {
      await this.tool.stop();
      await this.receiver.close();
    }
  }

  /** Exactly these transfers arrive, signed, those that arrive again with the same bytes. Returns how many. */
  private async assertTold(bank: WebhookBank, made: readonly string[]): Promise<number> {
    const arrived = (): ReadonlySet<string> => new Set(transfersAt(this.receiver, bank.path));
    await until(`${made.length} events arrive`, () => arrived().size >= made.length, {
      limitMs: END_MS,
    });
    assert.deepEqual([...arrived()].sort(), made.toSorted());
    await assertGenuine(this.receiver, bank);
    return made.length;
  }
}

/** Null while MySQL is away. A wrong figure fails. */
async function tried<T>(work: Promise<T>): Promise<T | null> {
  return work.catch((failure: unknown) => {
    if (failure instanceof assert.AssertionError) throw failure;
    return null;
  });
}
