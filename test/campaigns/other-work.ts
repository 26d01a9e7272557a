import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { request, startTestApi } from '../support/api.js';
import { LEAST, transferBody } from '../support/bank.js';
import { assertPaidOnce, batchEvents, openPayrollBank } from '../support/batch-workflows.js';
import type { TestDatabase } from '../support/database.js';
import { HttpReceiver } from '../support/http-receiver.js';
import { until } from '../support/temporal.js';
import {
  assertGenuine,
  type HookedBank,
  openHookedBank,
  transfersAt,
} from '../support/webhook-world.js';
import { executedBatch, isBatchOver } from './batch-kills.js';

const END_MS = 300_000;
/** So many of one batch after the other. */
const MAX_BATCHES = 500n;
const PAUSE_MS = 50;

interface WantedWork {
  /** Of each batch, one after the other. */
  readonly rows: number;
  /** Between two batches; none unless said. */
  readonly betweenBatchesMs?: number;
}

/** A tenant whose every transfer is told to a receiver, and one that pays batch after batch. */
export class OtherWork {
  private isRunning = true;
  private readonly made: string[] = [];
  private batches = 0;
  private readonly running: Promise<unknown>;

  private constructor(
    private readonly baseUrl: string,
    private readonly receiver: HttpReceiver,
    private readonly hooked: HookedBank,
    private readonly tool: Awaited<ReturnType<typeof startTestApi>>,
    payBatches: (goesOn: () => boolean) => Promise<number>,
  ) {
    const batches = payBatches(() => this.isRunning).then((count) => (this.batches = count));
    this.running = Promise.all([this.send(), batches]);
    // Looked at in `finish`.
    this.running.catch(() => undefined);
  }

  static async start(
    db: TestDatabase,
    baseUrl: string,
    { rows, betweenBatchesMs = 0 }: WantedWork,
  ): Promise<OtherWork> {
    const receiver = await new HttpReceiver().open();
    const tool = await startTestApi(db, {}, { receiver: 'real' });
    const hooked = await openHookedBank(tool, receiver);
    const payroll = await openPayrollBank(tool, MAX_BATCHES * BigInt(rows) * LEAST);
    const payBatches = async (goesOn: () => boolean): Promise<number> => {
      let count = 0;
      for (; goesOn(); count += 1) {
        const id = await executedBatch({ api: { baseUrl } }, payroll, rows);
        await until(`batch ${id} ends`, () => isBatchOver(db, id), { limitMs: END_MS });
        assert.equal(
          await until('it can be read', () => tried(assertPaidOnce(db, id, rows)), {
            limitMs: END_MS,
          }),
          rows,
        );
        assert.deepEqual(await until('it can be read', () => tried(batchEvents(db, id))), [
          'ready',
          'completed',
        ]);
        await sleep(betweenBatchesMs);
      }
      return count;
    };
    return new OtherWork(baseUrl, receiver, hooked, tool, payBatches);
  }

  /** One after the other, each again with its key until it is known. */
  private async send(): Promise<void> {
    const { bank, from, to } = this.hooked;
    const options = { token: bank.token, body: transferBody({ from, to, raw: LEAST }) };
    while (this.isRunning) {
      const key = randomUUID();
      const ask = async (): Promise<string | null> => {
        const answer = await request(this.baseUrl, 'POST', '/v1/transfers', {
          ...options,
          key,
        }).catch(() => null);
        if (answer === null || answer.status === 503) return null;
        assert([200, 201].includes(answer.status), answer.text);
        return String(answer.json.id);
      };
      this.made.push(await until('a transfer is known', ask));
      await sleep(PAUSE_MS);
    }
  }

  async finish(): Promise<string> {
    this.isRunning = false;
    try {
      await this.running;
      const { receiver, hooked, made } = this;
      const arrived = (): ReadonlySet<string> => new Set(transfersAt(receiver, hooked.path));
      await until(`${made.length} events arrive`, () => arrived().size >= made.length, {
        limitMs: END_MS,
      });
      assert.deepEqual([...arrived()].sort(), made.toSorted());
      await assertGenuine(receiver, hooked);
      return `${made.length} events arrived, ${this.batches} batch(es) paid once`;
    } finally {
      await this.tool.stop();
      await this.receiver.close();
    }
  }
}

/** Null while MySQL is away. A wrong figure fails. */
async function tried<T>(work: Promise<T>): Promise<T | null> {
  return work.catch((failure: unknown) => {
    if (failure instanceof assert.AssertionError) throw failure;
    return null;
  });
}
