import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request, startTestApi } from '../helpers/api.js';
import { LEAST, object, transferBody, walk } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { Fleet } from '../helpers/fleet.js';
import { HttpReceiver } from '../helpers/http-receiver.js';
import type { ServiceProcess } from '../helpers/service-process.js';
import { serving, type TestTemporal, until } from '../helpers/temporal.js';
import {
  assertGenuine,
  type WebhookBank,
  openWebhookBank,
  transfersAt,
} from '../helpers/webhook-world.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { assertLedgerSound } from '../helpers/world.js';

interface Rolling {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  /** Requests, steadily. */
  readonly perSecond: number;
  /** How often all four are restarted. */
  readonly rounds: number;
}

/** Tokens, spread over both processes. */
const TENANTS = 8;
/** One transfer in this many asks for more than there is. */
const REFUSED_EVERY = 20;
const TICK_MS = 10;
const ARRIVE_MS = 300_000;

/**
 * Two API processes behind a proxy and two workers are restarted one after the other while requests come steadily: no request is
 * lost, no answer is anything but 2xx and 422, every event is in the log and at its receiver.
 */
export function rollingCampaign({ db, temporal, perSecond, rounds }: Rolling): Promise<string> {
  return withCleanup(async (open) => {
    const receiver = await open(new HttpReceiver().open(), (own) => own.close());
    const environment = serving('webhooks');
    const fleet = await open(Fleet.start({ mysqlUrl: db.url, temporal, environment }), (own) =>
      own.end(),
    );
    const tool = await open(startTestApi(db, {}, { receiver: 'real' }), (own) => own.stop());
    const banks = await Promise.all(
      Array.from({ length: TENANTS }, () => openWebhookBank(tool, receiver)),
    );
    const load = new SteadyLoad(fleet.baseUrl, banks, perSecond);
    for (let round = 0; round < rounds; round += 1)
      for (const [index, api] of fleet.apis.entries())
        for (const one of [api, fleet.workers[index]!]) await restart(one);
    const made = await load.finish();
    await assertAllArrived(receiver, banks, made);
    await assertLedgerSound(db.database);
    const processes = `${fleet.processes.length * rounds} restarts of ${fleet.processes.length} processes`;
    return `${processes} under ${perSecond} requests a second: ${load.summary()}; every event in the log and at its receiver`;
  });
}

async function restart(process: ServiceProcess): Promise<void> {
  assert.equal(await process.stop(), 0, 'a process did not end by itself');
  await process.start();
}

/** Sends `perSecond` requests a second, without waiting for responses. */
export class SteadyLoad {
  private readonly statuses = new Map<number, number>();
  private readonly made: string[][];
  private readonly open = new Set<Promise<void>>();
  private readonly ticking: NodeJS.Timeout;
  private readonly began = performance.now();
  private sent = 0;
  private slowestMs = 0;
  private fault: Error | null = null;

  constructor(
    private readonly baseUrl: string,
    private readonly banks: readonly WebhookBank[],
    private readonly perSecond: number,
  ) {
    this.made = banks.map(() => []);
    this.ticking = setInterval(() => this.tick(), TICK_MS);
  }

  /** Resolves when all are answered: the transfers that were made, of each bank. Fails with the first that was lost. */
  async finish(): Promise<readonly (readonly string[])[]> {
    clearInterval(this.ticking);
    await Promise.all(this.open);
    if (this.fault !== null) throw this.fault;
    return this.made;
  }

  summary(): string {
    const answers = Array.from(
      this.statuses,
      ([status, count]) => `${count} answered ${status}`,
    ).join(', ');
    return `${this.sent} requests, ${answers}, none lost, the slowest took ${Math.round(this.slowestMs)} ms`;
  }

  private tick(): void {
    const due = ((performance.now() - this.began) * this.perSecond) / 1_000;
    for (; this.sent < due && this.fault === null; this.sent += 1) {
      const one = this.ask(this.sent).catch(
        (fault: unknown) => void (this.fault ??= new Error('a request was lost', { cause: fault })),
      );
      this.open.add(one);
      void one.then(() => this.open.delete(one));
    }
  }

  private async ask(number: number): Promise<void> {
    const index = number % this.banks.length;
    const { bank, from, to } = this.banks[index]!;
    const isRefused = number % REFUSED_EVERY === 0;
    // The receiver of payments sends none in these minutes.
    const raw = isRefused ? 1_000_000_000n * LEAST : LEAST;
    const body = transferBody({ from, to, raw });
    const sentAt = performance.now();
    const options = { token: bank.token, body, key: randomUUID() };
    const answer = await request(this.baseUrl, 'POST', '/v1/transfers', options);
    this.slowestMs = Math.max(this.slowestMs, performance.now() - sentAt);
    this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
    assert.equal(answer.status, isRefused ? 422 : 201, answer.text);
    if (!isRefused) this.made[index]!.push(String(answer.json.id));
  }
}

/** The log has each transfer once, without a gap, and each came to its receiver. */
export async function assertAllArrived(
  receiver: HttpReceiver,
  banks: readonly WebhookBank[],
  made: readonly (readonly string[])[],
): Promise<void> {
  for (const [index, own] of banks.entries()) {
    const log = await walk(own.bank, '/v1/events?limit=100');
    const sequences = log.map(({ sequence }) => Number(sequence)).reverse();
    assert.deepEqual(
      sequences,
      Array.from(sequences, (_, position) => position + 1),
    );
    const told = log.filter(({ type }) => type === 'transfer.completed');
    const wanted = made[index]!.toSorted();
    assert.deepEqual(told.map(({ data }) => String(object(object(data).object).id)).sort(), wanted);
    await until(
      `${wanted.length} events arrive at ${own.path}`,
      () =>
        receiver.at(own.path).length >= wanted.length &&
        new Set(transfersAt(receiver, own.path)).size >= wanted.length,
      { limitMs: ARRIVE_MS },
    );
    assert.deepEqual([...new Set(transfersAt(receiver, own.path))].sort(), wanted);
    await assertGenuine(receiver, own);
  }
}
