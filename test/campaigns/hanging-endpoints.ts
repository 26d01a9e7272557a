import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApi } from '../helpers/api.js';
import { answered } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { HttpReceiver } from '../helpers/http-receiver.js';
import { serving, temporalEnvironment, type TestTemporal, until } from '../helpers/temporal.js';
import { type WebhookBank, openWebhookBank, transfersAt } from '../helpers/webhook-world.js';
import { startTestWorker } from '../helpers/temporal-worker.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { assertLedgerSound } from '../helpers/world.js';
import { WorkerProcess } from '../helpers/worker-process.js';
import { percentile99 } from '../helpers/percentile.js';

interface HangingEndpoints {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  readonly endpoints: number;
  /** The tenants of the endpoints, because a tenant may have at most 16. */
  readonly tenants: number;
  /** Of other tenants, each with one endpoint that answers at once. */
  readonly others: number;
  /** Transfers of each of the others before anything is measured. */
  readonly warmUp: number;
  /** Then without the hanging ones, and then beside them. */
  readonly transfers: number;
  /** Whether the time from commit to arrival must at most double. */
  readonly isTimed: boolean;
}

const EVERY_MS = 500;

/** Endpoints of some tenants hang; those of others get their events as before. */
export function hangingEndpoints(wanted: HangingEndpoints): Promise<string> {
  const { db, temporal, endpoints, tenants, others, warmUp, transfers, isTimed } = wanted;
  return withCleanup(async (open) => {
    const starting = startTestApi(db, temporalEnvironment(temporal), { receiver: 'real' });
    const api = await open(starting, (own) => own.stop());
    const environment = serving('webhooks');
    await open<{ stop(): Promise<unknown> }>(
      isTimed
        ? WorkerProcess.start(db.url, temporal, environment)
        : startTestWorker(db, temporal, { environment }),
      (own) => own.stop(),
    );
    // They are closed first, since the worker would wait for what hangs.
    const receiver = await open(new HttpReceiver().open(), (own) => own.close());
    const hanging = await open(new HttpReceiver().open(), (own) => own.close());
    hanging.reply = () => new Promise(() => undefined);
    const good = await openMany(others, () => openWebhookBank(api, receiver));
    const bad = await openMany(tenants, () => openWebhookBank(api, hanging));
    for (let made = tenants; made < endpoints; made += 1) {
      const body = { url: hanging.url(`/hang-${made}`), events: ['transfer.completed'] };
      answered(
        await bad[made % tenants]!.bank.request('POST', '/v1/webhook_endpoints', { body }),
        201,
      );
    }
    const untold = (): Promise<unknown[]> => db.sql('SELECT id FROM outbox LIMIT 1');
    await until('every endpoint has its workflow', async () => (await untold()).length === 0, {
      limitMs: 300_000,
    });
    await deliver(receiver, good, warmUp);
    const before = percentile99(await deliver(receiver, good, transfers));
    const state = { isOver: false };
    const feeding = feed(bad, () => state.isOver);
    const hung = (): number => new Set(hanging.arrived.map(({ path }) => path)).size;
    await until(`${endpoints} endpoints hang`, () => hung() >= endpoints, { limitMs: 300_000 });
    const after = percentile99(
      await deliver(receiver, good, transfers).finally(() => (state.isOver = true)),
    );
    await feeding;
    const summary = `${endpoints} endpoints of ${tenants} tenants hang: ${others} healthy endpoints, ${transfers} transfers each, have a p99 from commit to arrival of ${after} ms, and of ${before} ms before`;
    if (isTimed) assert(after <= 2 * before, summary);
    await assertLedgerSound(db.database);
    return summary;
  });
}

async function openMany(count: number, open: () => Promise<WebhookBank>): Promise<WebhookBank[]> {
  const opened: WebhookBank[] = [];
  for (let index = 0; index < count; index += 1) opened.push(await open());
  return opened;
}

/** Each bank's transfers, spread over time. Answers how long each took from its answer, which is after the commit, to its arrival. */
async function deliver(
  receiver: HttpReceiver,
  banks: readonly WebhookBank[],
  each: number,
): Promise<number[]> {
  const committed = new Map<string, number>();
  await Promise.all(
    banks.map(async (own, index) => {
      await sleep((EVERY_MS * index) / banks.length);
      for (let count = 0; count < each; count += 1) {
        committed.set(await own.send(), performance.now());
        await sleep(EVERY_MS);
      }
    }),
  );
  const took: number[] = [];
  for (const { path } of banks) {
    const wanted = (): string[] => transfersAt(receiver, path).filter((id) => committed.has(id));
    await until(`all arrive at ${path}`, () => new Set(wanted()).size >= each);
    for (const [index, id] of transfersAt(receiver, path).entries()) {
      const at = committed.get(id);
      if (at !== undefined) took.push(Math.max(0, receiver.at(path)[index]!.at - at));
    }
  }
  return took;
}

/** Keeps what hangs busy, each tenant by itself. */
async function feed(banks: readonly WebhookBank[], isOver: () => boolean): Promise<void> {
  const everyMs = 4 * EVERY_MS;
  await Promise.all(
    banks.map(async (own, index) => {
      await sleep((everyMs * index) / banks.length);
      while (!isOver()) {
        await own.send();
        await sleep(everyMs);
      }
    }),
  );
}
