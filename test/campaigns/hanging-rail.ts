import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Uuid } from '../../src/core/ids.js';
import { payouts as payoutTable } from '../../src/db/entities/payouts.js';
import { railBreakers } from '../../src/db/entities/rails.js';
import { openPayoutBank, type PayoutBank, TEST_KEYRING, untilStatus } from '../payouts/support.js';
import { startTestApi } from '../support/api.js';
import { LEAST } from '../support/bank.js';
import { BankGateway, type GatewayRequest } from '../support/bank-gateway.js';
import type { TestDatabase } from '../support/database.js';
import { serving, temporalEnvironment, type TestTemporal, until } from '../support/temporal.js';
import {
  type GuardedBank,
  newSignature,
  openGuardedBank,
  sendSignal,
} from '../support/temporal-world.js';
import { startTestWorker } from '../support/temporal-worker.js';
import { WorkerProcess } from '../support/worker-process.js';
import { assertLedgerSound } from '../support/world.js';
import { percentile99 } from '../support/percentile.js';

interface HangingRail {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  /** Open at the rail that hangs. */
  readonly payouts: number;
  /** Payouts over the other rail without it, and then beside it. */
  readonly measured: number;
  /** Transfers that are approved by the staff in each of the two. */
  readonly approvals: number;
  /** A process of its own, or in this one. */
  readonly worker: 'process' | 'here';
  /** How it gives no answers: the connection stays open, as with a bank that hangs, or is closed at once. */
  readonly silence: 'hold' | 'close';
  /** Whether the other's times must at most double. */
  readonly isTimed: boolean;
}

/** A gateway that takes every request, and does nothing and says nothing while it hangs. */
export class HangingGateway extends BankGateway {
  isHanging = false;
  /** Requests that got no answer. */
  unanswered = 0;

  constructor(
    name: string,
    private readonly silence: HangingRail['silence'],
  ) {
    super(name, TEST_KEYRING);
  }

  protected override async respond(
    request: GatewayRequest,
    response: ServerResponse,
  ): Promise<void> {
    if (!this.isHanging) return super.respond(request, response);
    this.unanswered += 1;
    if (this.silence === 'close') response.destroy();
  }
}

const EVERY_MS = 250;
/** So many come in a second, which Temporal keeps up with here: what is told is what the rail does to others, not what a flood does. */
const A_SECOND = 20;
const HANGING = { destination: { country: 'MX' } } as const;

/** A rail each for two countries. */
export function twoRails(
  well: BankGateway,
  hanging: BankGateway,
): Readonly<Record<string, string>> {
  const [key] = TEST_KEYRING;
  const shared = `${key.id}:${key.secret.toString('base64')}`;
  return {
    PAYOUT_RAILS: `*/CO=http:${well.name},*/MX=http:${hanging.name}`,
    PAYOUT_RAIL_URLS: `${well.name}=${well.url},${hanging.name}=${hanging.url}`,
    PAYOUT_RAIL_KEYS: `${well.name}=${shared},${hanging.name}=${shared}`,
  };
}

interface Stage extends HangingRail {
  readonly well: BankGateway;
  readonly own: PayoutBank;
  readonly guarded: GuardedBank;
}

/**
 * One rail hangs under many payouts: those over another rail are paid as before, and what waits for approval is decided as
 * before. When the rail answers again, each of its payouts is paid, once.
 */
export async function hangingRail(wanted: HangingRail): Promise<string> {
  const { db, temporal, payouts, isTimed, silence } = wanted;
  const [well, hanging] = [
    new BankGateway('well', TEST_KEYRING),
    new HangingGateway('hanging', silence),
  ];
  await Promise.all([well.start(), hanging.start()]);
  const environment = {
    ...{ ...temporalEnvironment(temporal), ...twoRails(well, hanging), PAYOUT_RAIL_PROBE_S: '2' },
    ...serving('payouts', 'approvals'),
  };
  const api = await startTestApi(db, environment);
  const worker =
    wanted.worker === 'process'
      ? await WorkerProcess.start(db.url, temporal, environment)
      : await startTestWorker(db, temporal, { environment });
  try {
    const stage = {
      ...{ ...wanted, well },
      own: await openPayoutBank(api, 2n * BigInt(payouts + 1_000) * LEAST),
      guarded: await openGuardedBank(api),
    };
    if (isTimed) await measure({ ...stage, measured: 20, approvals: 10 });
    const before = await measure(stage);
    hanging.isHanging = true;
    const ids: Uuid[] = [];
    const influx = { isOver: false };
    const during = measureUntil(stage, () => influx.isOver);
    while (ids.length < payouts) {
      const asked = Array.from({ length: Math.min(A_SECOND, payouts - ids.length) }, () =>
        pay(stage.own),
      );
      const [some] = await Promise.all([Promise.all(asked), sleep(1_000)]);
      ids.push(...some);
    }
    await untilLeftAlone(db, ids);
    influx.isOver = true;
    const coming = await during;
    const calls = hanging.unanswered;
    const beside = await measure(stage);
    const tried = hanging.unanswered - calls;
    hanging.isHanging = false;
    const began = performance.now();
    await untilStatus(stage.own, ids.at(-1)!, ['completed'], 900_000);
    await untilPaid(db, ids);
    const recoveredS = Math.round((performance.now() - began) / 1_000);
    for (const id of ids) assert.equal(hanging.paidTimes(id), 1, `${id} was not paid once`);
    await assertLedgerSound(db.database);
    const summary =
      `${payouts} payouts open at a rail that hangs, which got ${calls} calls until it was left alone and ${tried} while the others were measured; ` +
      `another rail's p99 from commit to payment ${before.paid} ms before, ${coming} ms while they came, ${beside.paid} ms beside them; ` +
      `approvals by the staff p99 ${before.approved} ms before, ${beside.approved} ms beside them; all paid once ${recoveredS} s after it answered`;
    if (isTimed)
      assert(beside.paid <= 2 * before.paid && beside.approved <= 2 * before.approved, summary);
    return summary;
  } finally {
    await worker.stop();
    await api.stop();
    well.stop();
    hanging.stop();
  }
}

function pay(own: PayoutBank): Promise<Uuid> {
  return own.pay(undefined, HANGING);
}

/** The breaker is open, and no workflow has more to do than to wait. */
async function untilLeftAlone(db: TestDatabase, ids: readonly Uuid[]): Promise<void> {
  await until(
    'the rail is left alone',
    async () =>
      (await db.database.reader.find(railBreakers, { rail: 'http:hanging' }))?.state !== 'closed',
    { limitMs: 60_000 },
  );
  await until(
    'every payout waits',
    async () => Number((await db.sql('SELECT COUNT(*) AS many FROM outbox'))[0]?.many) === 0,
    {
      limitMs: 600_000,
    },
  );
  // What was given to Temporal is done within seconds.
  await sleep(ids.length);
}

async function untilPaid(db: TestDatabase, ids: readonly Uuid[]): Promise<void> {
  await until(
    'every payout is paid',
    async () => {
      const rows = await db.sql(
        `SELECT COUNT(*) AS open FROM payouts WHERE rail='http:hanging' AND status<>'completed'`,
      );
      return Number(rows[0]?.open) === 0;
    },
    { limitMs: 900_000 },
  );
  const paid = await db.database.reader.select(payoutTable, { id: ids, status: 'completed' });
  assert.equal(paid.length, ids.length);
}

interface Measured {
  /** p99, in milliseconds: from the answer to the request until the other gateway paid. */
  readonly paid: number;
  /** From the signal of the staff until the transfer was completed. */
  readonly approved: number;
}

async function measure(stage: Stage): Promise<Measured> {
  const [paid, approved] = await Promise.all([
    steadily(stage.measured, () => payOne(stage)),
    steadily(stage.approvals, () => approveOne(stage)),
  ]);
  return { paid: percentile99(paid), approved: percentile99(approved) };
}

async function measureUntil(stage: Stage, isOver: () => boolean): Promise<number> {
  const took: Promise<number>[] = [];
  while (!isOver()) {
    took.push(payOne(stage));
    await sleep(EVERY_MS);
  }
  return percentile99(await Promise.all(took));
}

async function steadily(count: number, one: () => Promise<number>): Promise<number[]> {
  const took: Promise<number>[] = [];
  for (let made = 0; made < count; made += 1) {
    took.push(one());
    await sleep(EVERY_MS);
  }
  return Promise.all(took);
}

async function payOne({ own, well }: Stage): Promise<number> {
  const id = await own.pay();
  const committedAt = Date.now();
  const paid = await until(
    `${id} is paid`,
    () => well.acts.find(({ key, what }) => key === id && what === 'paid'),
    {
      limitMs: 120_000,
    },
  );
  return Math.max(0, paid.at - committedAt);
}

async function approveOne({ db, temporal, guarded }: Stage): Promise<number> {
  const id = await guarded.pend();
  const signature = await newSignature(db.database);
  const began = performance.now();
  await until('it has a workflow', () =>
    sendSignal(temporal, id, 'approve', signature).then(
      () => true,
      () => false,
    ),
  );
  const ended = async (): Promise<boolean> =>
    (await db.sql(`SELECT status FROM transfers WHERE id=X'${id.replaceAll('-', '')}'`))[0]
      ?.status === 'completed';
  await until(`${id} is approved`, ended, { limitMs: 120_000 });
  return performance.now() - began;
}
