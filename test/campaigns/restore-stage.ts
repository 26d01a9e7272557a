import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Amount } from '../../src/core/amount.js';
import type { Uuid } from '../../src/core/ids.js';
import { type Instant, parseRfc3339 } from '../../src/core/instant.js';
import { PAYOUTS_PATH } from '../../src/payouts/rails/http.js';
import type { RailOrder } from '../../src/payouts/rails/rail.js';
import { pageText } from '../../development/simulated-rail/wire.js';
import { openPayoutBank, type PayoutBank } from '../payouts/support.js';
import type { TestAnswer, TestApi } from '../helpers/api.js';
import {
  BankGateway,
  type GatewayAnswer,
  type GatewayPayment,
  type GatewayRequest,
} from '../helpers/bank-gateway.js';
import { answered, idLiteral, LEAST, object, text } from '../helpers/bank.js';
import { openPayrollBank, type PayrollBank } from '../helpers/batch-workflows.js';
import { heldUp } from '../helpers/database.js';
import { type TestTemporal, until } from '../helpers/temporal.js';
import { type GuardedBank, openGuardedBank } from '../helpers/temporal-world.js';
import type { Copier } from './restored-copies.js';

/** The part of a drill of a restore before the loss. */

export const GOES_ON_MS = 300_000;
export const WAITING = 4;

export interface RestoreDrill {
  readonly copier: Copier;
  readonly temporal: TestTemporal;
  readonly clients: number;
  /** How long the load runs before the moment that is restored, and how much of it is lost. */
  readonly beforeMs: number;
  readonly lostMs: number;
  readonly rows: number;
  /** Rows of each batch of payouts. */
  readonly suppliers: number;
  /** Pause of each client between two requests: a short form proves the same with less load. Zero by default. */
  readonly pauseMs?: number;
}

/** A gateway in memory that lists what it was given; it is outside, so no restore puts it back. */
export class ListingGateway extends BankGateway {
  private readonly orders = new Map<Uuid, { readonly amount: Amount; readonly at: number }>();

  protected override pay(order: RailOrder): GatewayPayment {
    this.orders.set(order.key, { amount: order.amount, at: Date.now() });
    return super.pay(order);
  }

  protected override answer(asked: GatewayRequest): GatewayAnswer {
    if (asked.method !== 'GET' || !asked.path.startsWith(`${PAYOUTS_PATH}?`))
      return super.answer(asked);
    if (!this.isGenuine(asked)) return { status: 401, text: '{}' };
    const since =
      parseRfc3339(new URLSearchParams(asked.path.split('?')[1]).get('since') ?? '') ?? 0;
    const items = [...this.payments.values()].flatMap((payment) => {
      const order = this.orders.get(payment.key);
      return order === undefined || order.at < since
        ? []
        : [{ ...this.tell(payment), amount: order.amount }];
    });
    return { status: 200, text: pageText({ items, next: null }) };
  }
}

/** The resources of tenants, made before anything is lost. */
export interface Stage {
  readonly api: TestApi;
  readonly guarded: GuardedBank;
  readonly payouts: PayoutBank;
  readonly waiting: PayoutBank;
  readonly payroll: PayrollBank;
  readonly suppliers: PayrollBank;
  readonly transfers: readonly Uuid[];
  readonly pendingPayouts: readonly Uuid[];
  readonly batchId: Uuid;
  readonly payoutBatches: PayoutBatches;
}

/** Batches of payouts, by what the copy and the lost time have of them. */
interface PayoutBatches {
  /** Executed before the moment. */
  readonly executing: Uuid;
  /** Ready at the moment, executed and paid in the lost time. */
  readonly executedLater: Uuid;
  /** Ready at the moment and later. */
  readonly ready: Uuid;
}

/** The moment, at which a batch of payouts is executing and another, uploaded just before, cannot become ready. */
export async function momentAmongBatches(
  { copier, suppliers: rows }: RestoreDrill,
  { suppliers, payoutBatches }: Stage,
): Promise<{ readonly moment: Instant; readonly validating: Uuid }> {
  await suppliers.execute(payoutBatches.executing);
  await until(
    'the first rows are payouts',
    async () => object((await suppliers.read(payoutBatches.executing)).progress).created !== 0,
  );
  const validating = await suppliers.upload(suppliers.file(rows));
  const moments: Instant[] = [];
  await heldUp(
    copier.source,
    `SELECT id FROM accounts WHERE id=${idLiteral(suppliers.source.id)}`,
    () => suppliers.until(validating, 'ready'),
    async () => moments.push(await copier.moment()),
  );
  return { moment: moments[0]!, validating };
}

export async function setTheStage(
  api: TestApi,
  { rows, suppliers: supplierRows }: RestoreDrill,
): Promise<Stage> {
  const guarded = await openGuardedBank(api, { funds: 100_000n * LEAST });
  const [payouts, waiting] = [
    await openPayoutBank(api, 100_000n * LEAST),
    await openPayoutBank(api),
  ];
  await waiting.guard(1);
  const payroll = await openPayrollBank(api, 10_000_000n * LEAST);
  const batchId = await payroll.ready(rows);
  const suppliers = await openPayrollBank(api, 10_000_000n * LEAST, 'payout');
  const payoutBatches = {
    executing: await suppliers.ready(supplierRows),
    executedLater: await suppliers.ready(supplierRows),
    ready: await suppliers.ready(supplierRows),
  };
  const transfers = await guarded.createManyPending(WAITING);
  const pendingPayouts = await Promise.all(
    Array.from({ length: WAITING }, () => waiting.createPending()),
  );
  const banks = { guarded, payouts, waiting, payroll, suppliers };
  return { api, ...banks, transfers, pendingPayouts, batchId, payoutBatches };
}

/** Makes decisions that the restored copy lacks. Returns the ids that will have a workflow and no row. */
export async function whatIsLost(
  {
    guarded,
    waiting,
    payroll,
    suppliers,
    transfers,
    pendingPayouts,
    batchId,
    payoutBatches,
  }: Stage,
  validating: Uuid,
  { payments }: ListingGateway,
): Promise<Uuid[]> {
  const paidBefore = payments.size;
  answered(await guarded.act('approve', transfers[0]!), 200);
  answered(await guarded.act('reject', transfers[1]!), 200);
  answered(await waiting.act('approve', pendingPayouts[0]!), 200);
  await payroll.execute(batchId);
  const { executing, executedLater } = payoutBatches;
  for (const id of [executedLater, validating]) await suppliers.execute(id);
  for (const id of [executing, executedLater, validating])
    await until(`the rail has paid a row of ${id}`, () => isOnePaid(suppliers, id), {
      limitMs: GOES_ON_MS,
    });
  await until(
    'the rail has paid what was approved',
    async () => (await waiting.get(pendingPayouts[0]!)).status === 'completed',
  );
  // That one, and what was on its way at the moment, are known here afterwards.
  await until('the rail has paid what was asked for since', () => payments.size > paidBefore + 2);
  return guarded.createManyPending(2);
}

async function isOnePaid(suppliers: PayrollBank, id: Uuid): Promise<boolean> {
  const { payouts } = await suppliers.read(id);
  return payouts !== null && object(payouts).completed !== 0;
}

export async function arePaid(suppliers: Pick<PayrollBank, 'read'>, id: Uuid): Promise<boolean> {
  const { status, rows, payouts } = await suppliers.read(id);
  return status === 'completed' && object(payouts).completed === rows;
}

/** On a busy machine the result may be unknown: then no client relies on it. */
function overloadedOr201(answer: TestAnswer): TestAnswer {
  assert.ok(answer.status === 201 || answer.status === 503, answer.text);
  return answer;
}

/** Transfers and payouts without end, each client one after the other: what waits does not grow with the time that a slow machine takes. */
export class Load {
  private isOver = false;
  private acknowledged = 0;
  private readonly running: Promise<unknown>;

  constructor(
    private readonly stage: Stage,
    private readonly drill: RestoreDrill,
  ) {
    const { clients } = drill;
    this.running = Promise.all(Array.from({ length: clients }, (_, index) => this.client(index)));
    this.running.catch(() => undefined);
  }

  async stop(): Promise<number> {
    this.isOver = true;
    await this.running;
    return this.acknowledged;
  }

  private async client(index: number): Promise<void> {
    const { payroll, payouts } = this.stage;
    const [to] = payroll.people;
    for (; !this.isOver; await sleep(this.drill.pauseMs ?? 0)) {
      if (index === 0) {
        const { status, json } = overloadedOr201(await payouts.ask());
        if (status === 201) await this.paid(text(json.id));
      } else {
        const { status } = overloadedOr201(
          await payroll.bank.send({ from: payroll.source, to: to!, raw: LEAST }),
        );
        if (status === 201) this.acknowledged += 1;
      }
    }
  }

  private async paid(id: string): Promise<void> {
    const { payouts } = this.stage;
    const isPaid = async (): Promise<boolean> =>
      this.isOver || (await payouts.get(id)).status === 'completed';
    await until('it is paid', isPaid, { limitMs: GOES_ON_MS });
  }
}
