import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Failpoint } from '../../src/core/failpoints.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import type { TestDatabase } from '../helpers/database.js';
import { HttpReceiver } from '../helpers/http-receiver.js';
import { sign } from '../helpers/receiver.js';
import { serving, type TestTemporal, until } from '../helpers/temporal.js';
import { openWebhookBank, type WebhookBank } from '../helpers/webhook-world.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { WorkerProcess } from '../helpers/worker-process.js';
import { emit, eventIds } from '../webhooks/support.js';

interface WebhookKills {
  /** Of its own: the events here are of no operation, which the auditor would tell. */
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  /** Over all tenants. */
  readonly events: number;
  readonly kills: number;
}

const TENANTS = 4;
/** A worker that starts after a kill waits until the claims of the one before have expired. */
const ARRIVE_MS = 600_000;
const MOMENT = 'any moment';
const WAYS: readonly (Failpoint | typeof MOMENT)[] = ['after_send', MOMENT, 'before_send'];

/**
 * The worker is killed while it delivers: after a send and before its record, before a send, and at any moment. Every event
 * arrives, signed; what arrives again has the same id and the same bytes.
 */
export function webhookKills({ db, temporal, events, kills }: WebhookKills): Promise<string> {
  return withCleanup(async (open) => {
    const receiver = await open(new HttpReceiver().open(), (own) => own.close());
    const api = await open(startTestApi(db, {}, { receiver: 'real' }), (own) => own.stop());
    const preparing = WorkerProcess.prepare(db.url, temporal, serving('webhooks'));
    const worker = await open(preparing, (own) => own.kill());
    const seen = new Arrivals(receiver);
    const banks = await Promise.all(
      Array.from({ length: TENANTS }, () => openWebhookBank(api, receiver)),
    );
    for (const bank of banks) seen.expect(bank);
    for (let kill = 0; kill < kills; kill += 1) {
      const batch = Math.floor((events * (kill + 1)) / kills) - Math.floor((events * kill) / kills);
      await killWhile(worker, WAYS[kill % WAYS.length]!, kill, seen, batch, () =>
        emitTo(api, banks, batch),
      );
      await worker.start();
    }
    const wanted = await Promise.all(banks.map(({ bank }) => eventIds(api, bank.tenant.tenant.id)));
    const total = wanted.reduce((sum, { length }) => sum + length, 0);
    await until(`${total} events arrive`, () => seen.different >= total, { limitMs: ARRIVE_MS });
    for (const [index, { path }] of banks.entries())
      assert.deepEqual(seen.idsAt(path), wanted[index]!.toSorted());
    await until('all is recorded', async () => (await openDeliveries(db)) === 0, {
      limitMs: ARRIVE_MS,
    });
    const again = seen.total - seen.different;
    assert(again > 0, 'nothing arrived twice: no kill came between a send and its record');
    return `worker killed ${kills} times while it delivered ${total} events of ${TENANTS} tenants: all arrived signed, with ${again} repetitions of the same bytes`;
  });
}

/** Makes the events, and ends the worker in this way while it delivers them. */
async function killWhile(
  worker: WorkerProcess,
  way: (typeof WAYS)[number],
  kill: number,
  seen: Arrivals,
  batch: number,
  make: () => Promise<void>,
): Promise<void> {
  if (way !== MOMENT) {
    await worker.kill();
    await make();
    const passing = 1 + ((kill * 37) % Math.max(1, Math.floor(batch / 2)));
    return worker.endAt(way, passing);
  }
  const before = seen.different;
  await make();
  const some = Math.ceil(batch * Math.random() * 0.9);
  await until('some arrive', () => seen.different >= before + some, { limitMs: ARRIVE_MS });
  await worker.kill();
}

async function emitTo(api: TestApi, banks: readonly WebhookBank[], count: number): Promise<void> {
  for (const [index, { from }] of banks.entries()) {
    const share =
      Math.floor((count * (index + 1)) / banks.length) - Math.floor((count * index) / banks.length);
    if (share > 0) await emit(api, { account: from }, share, 'transfer.completed');
  }
}

async function openDeliveries(db: TestDatabase): Promise<number> {
  const [row] = await db.sql(
    "SELECT COUNT(*) AS n FROM webhook_deliveries WHERE state<>'delivered'",
  );
  return Number(row?.n);
}

/** The deliveries without their bodies, because there may be many. */
class Arrivals {
  total = 0;
  different = 0;
  private readonly secrets = new Map<string, string>();
  private readonly digests = new Map<string, Map<string, string>>();

  constructor(receiver: HttpReceiver) {
    receiver.keepsNothing = true;
    receiver.reply = ({ path, id, body, headers }) => {
      const secret = this.secrets.get(path);
      assert(
        secret !== undefined && headers['svc-signature'] === sign(secret, body),
        `${id} is not signed`,
      );
      this.take(path, id, createHash('sha256').update(body).digest('base64'));
      return 200;
    };
  }

  expect({ path, secret }: WebhookBank): void {
    this.secrets.set(path, secret);
    this.digests.set(path, new Map());
  }

  idsAt(path: string): string[] {
    return [...(this.digests.get(path)?.keys() ?? [])].sort();
  }

  private take(path: string, id: string, digest: string): void {
    const known = this.digests.get(path)!;
    assert.equal(known.get(id) ?? digest, digest, `${id} has other bytes than before`);
    this.total += 1;
    if (!known.has(id)) this.different += 1;
    known.set(id, digest);
  }
}
