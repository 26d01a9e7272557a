import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Uuid } from '../../src/core/ids.js';
import { type Instant, parseRfc3339, systemClock, toRfc3339 } from '../../src/core/instant.js';
import type { Amount } from '../../src/core/amount.js';
import { counted } from '../../src/core/collections.js';
import { PAYOUTS_PATH } from '../../src/payouts/rails/http.js';
import type { RailOrder } from '../../src/payouts/rails/rail.js';
import { pageText } from '../../development/simulated-rail/wire.js';
import { SignedInPeople } from '../ops/signed-in.js';
import { run } from '../ops/ops.js';
import { openPayoutBank, type PayoutBank, TEST_KEYRING } from '../payouts/support.js';
import { request, startTestApi, type TestAnswer, type TestApi } from '../helpers/api.js';
import {
  BankGateway,
  type GatewayAnswer,
  type GatewayPayment,
  type GatewayRequest,
} from '../helpers/bank-gateway.js';
import { answered, type Json, LEAST, list, object, text } from '../helpers/bank.js';
import { openPayrollBank, type PayrollBank } from '../helpers/batch-workflows.js';
import type { TestDatabase } from '../helpers/database.js';
import {
  temporalEnvironment,
  type TestTemporal,
  until,
  workflowStatus,
} from '../helpers/temporal.js';
import { type GuardedBank, openGuardedBank } from '../helpers/temporal-world.js';
import { WorkerProcess } from '../helpers/worker-process.js';
import { assertLedgerSound } from '../helpers/world.js';
import type { Copier } from './restored-copies.js';

interface RestoreDrill {
  readonly copier: Copier;
  readonly temporal: TestTemporal;
  readonly clients: number;
  /** How long the load runs before the moment that is restored, and how much of it is lost. */
  readonly beforeMs: number;
  readonly lostMs: number;
  readonly rows: number;
  /** Pause of each client between two requests: a short form proves the same with less load. Zero by default. */
  readonly pauseMs?: number;
}

const NAME = 'bank';
const RAIL = `http:${NAME}`;
const GOES_ON_MS = 300_000;
const WAITING = 4;

/** A gateway in memory that lists what it was given; it is outside, so no restore puts it back. */
class ListingGateway extends BankGateway {
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
interface Stage {
  readonly api: TestApi;
  readonly guarded: GuardedBank;
  readonly payouts: PayoutBank;
  readonly waiting: PayoutBank;
  readonly payroll: PayrollBank;
  readonly transfers: readonly Uuid[];
  readonly pendingPayouts: readonly Uuid[];
  readonly batchId: Uuid;
}

/** An event as a tenant may have seen it. */
type Seen = ReadonlyMap<string, string>;

/**
 * Load, then the loss of its last part: the database is put back, made good by two people and served again. Nothing is posted
 * before; no sequence is used twice; every payment that the rail has and we do not is listed, and none is made twice; what waited goes on.
 */
export async function restoreDrill(drill: RestoreDrill): Promise<string> {
  const gateway = await new ListingGateway(NAME, TEST_KEYRING).start();
  const [key] = TEST_KEYRING;
  const environment = {
    ...temporalEnvironment(drill.temporal),
    PAYOUT_RAILS: `*=${RAIL}`,
    PAYOUT_RAIL_URLS: `${NAME}=${gateway.url}`,
    PAYOUT_RAIL_KEYS: `${NAME}=${key.id}:${key.secret.toString('base64')}`,
    PAYOUT_RAIL_ALLOWED_HOSTS: 'http://127.0.0.1:*',
  };
  try {
    const { stage, moment, seen, stale, acknowledged } = await servedUntilTheLoss(
      drill,
      environment,
      gateway,
    );
    const began = performance.now();
    const db = await drill.copier.restore();
    const copied = performance.now();
    const listed = await madeGood(db, environment, stage, moment, gateway);
    const opened = performance.now();
    await goesOn(db, drill, environment, stage, seen, stale, gateway);
    const done = performance.now();
    await assertLedgerSound(db.database);
    const s = (from: number, to: number): string => `${((to - from) / 1_000).toFixed(1)} s`;
    return (
      `${acknowledged} transfers of ${drill.clients} clients, the last ${drill.lostMs / 1_000} s lost: restored in ${s(began, copied)}, reconciled and audited in ${s(copied, opened)}, ` +
      `${WAITING} approvals, ${WAITING - 1} payouts and a batch continued within ${s(opened, done)}; ${counted(listed, 'later payment')} of the rail listed, none of ${seen.size} sequences used twice; the auditor found nothing`
    );
  } finally {
    gateway.stop();
    await drill.copier.remove();
  }
}

async function servedUntilTheLoss(
  drill: RestoreDrill,
  environment: Readonly<Record<string, string>>,
  gateway: ListingGateway,
) {
  const { copier, temporal } = drill;
  const api = await startTestApi(copier.source, environment);
  gateway.serviceUrl = api.baseUrl;
  const worker = await WorkerProcess.start(copier.source.url, temporal, environment);
  try {
    const stage = await setTheStage(api, drill.rows);
    await copier.prepare();
    const load = new Load(stage, drill);
    await sleep(drill.beforeMs);
    const moment = await copier.moment();
    const stale = await whatIsLost(stage, gateway);
    await sleep(drill.lostMs);
    const acknowledged = await load.stop();
    await worker.kill();
    return { stage, moment, stale, acknowledged, seen: await eventsOf(copier.source) };
  } finally {
    await worker.kill();
    await api.stop();
  }
}

async function setTheStage(api: TestApi, rows: number): Promise<Stage> {
  const guarded = await openGuardedBank(api, { funds: 100_000n * LEAST });
  const [payouts, waiting] = [
    await openPayoutBank(api, 100_000n * LEAST),
    await openPayoutBank(api),
  ];
  await waiting.guard(1);
  const payroll = await openPayrollBank(api, 10_000_000n * LEAST);
  const batchId = await payroll.ready(rows);
  const transfers = await guarded.createManyPending(WAITING);
  const pendingPayouts = await Promise.all(
    Array.from({ length: WAITING }, () => waiting.createPending()),
  );
  return { api, guarded, payouts, waiting, payroll, transfers, pendingPayouts, batchId };
}

/** Makes decisions that the restored copy lacks. Returns the ids that will have a workflow and no row. */
async function whatIsLost(
  { guarded, waiting, payroll, transfers, pendingPayouts, batchId }: Stage,
  { payments }: ListingGateway,
): Promise<Uuid[]> {
  const paidBefore = payments.size;
  answered(await guarded.act('approve', transfers[0]!), 200);
  answered(await guarded.act('reject', transfers[1]!), 200);
  answered(await waiting.act('approve', pendingPayouts[0]!), 200);
  await payroll.execute(batchId);
  await until(
    'the rail has paid what was approved',
    async () => (await waiting.get(pendingPayouts[0]!)).status === 'completed',
  );
  // That one, and what was on its way at the moment, are known here afterwards.
  await until('the rail has paid what was asked for since', () => payments.size > paidBefore + 2);
  return guarded.createManyPending(2);
}

/** On a busy machine the result may be unknown: then no client relies on it. */
function overloadedOr201(answer: TestAnswer): TestAnswer {
  assert.ok(answer.status === 201 || answer.status === 503, answer.text);
  return answer;
}

/** Transfers and payouts without end, each client one after the other: what waits does not grow with the time that a slow machine takes. */
class Load {
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

async function eventsOf(db: TestDatabase): Promise<Seen> {
  const rows = await db.sql(
    'SELECT CONCAT(HEX(tenant_id), " ", sequence) AS place, HEX(id) AS id FROM events',
  );
  return new Map(rows.map(({ place, id }) => [String(place), String(id)]));
}

/** Returns how many payments of the rail were listed that the database does not know. */
async function madeGood(
  db: TestDatabase,
  environment: Readonly<Record<string, string>>,
  stage: Stage,
  moment: Instant,
  gateway: ListingGateway,
): Promise<number> {
  await assertClosed(db, environment, stage);
  const people = new SignedInPeople(db);
  try {
    await people.signIn('maria', ['manage']);
    await people.signIn('leo', ['manage', 'resolve']);
    const env = { ...environment, ...people.env };
    const ops = async (
      ...args: readonly string[]
    ): Promise<{ code: number | null; stdout: string; stderr: string }> =>
      run('src/ops/main.js', await people.withCode([...args, '--yes']), env);
    const lost = [
      '--to',
      toRfc3339(moment),
      '--until',
      toRfc3339(systemClock()),
      '--reason',
      'a drill',
    ];
    const begun = await ops('restore', 'begin', ...lost, '--as', 'maria');
    assert.equal(begun.code, 0, begun.stderr);
    const alone = await ops('restore', 'finish', '--as', 'maria');
    assert.deepEqual(
      [alone.code, /another person|second person/i.test(alone.stderr)],
      [1, true],
      alone.stderr,
    );
    const finished = await ops('restore', 'finish', '--as', 'leo', '--json');
    assert.equal(finished.code, 0, finished.stderr);
    const found = list(JSON.parse(finished.stdout));
    const unknown = found
      .filter(({ finding }) => finding === 'unknown_here')
      .map(({ payout_id: id }) => String(id));
    const here = await db.sql(`SELECT LOWER(HEX(id)) AS id FROM payouts`);
    const known = new Set(here.map(({ id }) => String(id)));
    const later = [...gateway.payments.keys()].filter((key) => !known.has(key.replaceAll('-', '')));
    assert.deepEqual(unknown.sort(), later.sort());
    assert.ok(later.length > 0, 'no payment was lost');
    const lostApprovals = found
      .filter(({ finding }) => finding === 'approval_lost')
      .map(({ payout_id: id }) => id);
    assert.deepEqual(lostApprovals, [stage.pendingPayouts[0]]);
    return later.length;
  } finally {
    people.remove();
  }
}

/** A service that is started on the copy by accident moves nothing, and shows no balance as if it were sound. */
async function assertClosed(
  db: TestDatabase,
  environment: Readonly<Record<string, string>>,
  stage: Stage,
) {
  const api = await startTestApi(db, environment);
  try {
    const { payroll, guarded, transfers } = stage;
    const send = {
      source_account: payroll.source.id,
      destination: { type: 'account', account_id: payroll.people[0]!.id },
    };
    const body = {
      ...send,
      amount: { raw: LEAST.toString(), asset: 'COPM' },
      description: 'too early',
    };
    const options = { token: payroll.bank.token, body };
    const moved = await request(api.baseUrl, 'POST', '/v1/transfers', options);
    assert.deepEqual([moved.status, moved.code], [503, 'ledger_unavailable']);
    const path = `/v1/transfers/${transfers[2]!}/approve`;
    assert.equal(
      (await request(api.baseUrl, 'POST', path, { token: guarded.approvers[0] })).status,
      503,
    );
    assert.equal((await fetch(`${api.adminUrl}/readyz`)).status, 503);
  } finally {
    await api.stop();
  }
}

async function goesOn(
  db: TestDatabase,
  { temporal }: RestoreDrill,
  environment: Readonly<Record<string, string>>,
  stage: Stage,
  seen: Seen,
  stale: readonly Uuid[],
  gateway: ListingGateway,
): Promise<void> {
  const api = await startTestApi(db, environment);
  gateway.serviceUrl = api.baseUrl;
  const worker = await WorkerProcess.start(db.url, temporal, environment);
  try {
    const post = async (path: string, token: string): Promise<Json> =>
      answered(await request(api.baseUrl, 'POST', path, { token }), 200).json;
    const { guarded, waiting, payroll, transfers, pendingPayouts, batchId } = stage;
    for (const id of transfers)
      assert.equal(
        (await post(`/v1/transfers/${id}/approve`, guarded.approvers[0])).status,
        'completed',
      );
    for (const id of pendingPayouts) await post(`/v1/payouts/${id}/approve`, waiting.approvers[0]);
    const execute = await request(api.baseUrl, 'POST', `/v1/bonus_batches/${batchId}/execute`, {
      token: payroll.bank.token,
    });
    answered(execute, 202);
    const look = async (): Promise<boolean> => {
      const [row] = await db.sql(
        `SELECT (SELECT COUNT(*) FROM payouts WHERE status IN ('pending_approval','approved','in_progress'))
         + (SELECT COUNT(*) FROM batches WHERE status NOT IN ('completed')) AS open`,
      );
      return String(row?.open) === '0';
    };
    await until('payouts and the batch have ended', look, { limitMs: GOES_ON_MS });
    for (const id of stale)
      await until(
        'a workflow without a row ends',
        async () => (await workflowStatus(temporal, id)) === 'COMPLETED',
        {
          limitMs: GOES_ON_MS,
        },
      );
    for (const key of gateway.payments.keys()) assert.equal(gateway.paidTimes(key), 1, key);
    await assertAnnounced(db, api.baseUrl, stage, seen);
  } finally {
    await worker.kill();
    await api.stop();
  }
}

/** No sequence names two events, and readers of the log are told where it was cut. */
async function assertAnnounced(
  db: TestDatabase,
  baseUrl: string,
  { guarded }: Stage,
  seen: Seen,
): Promise<void> {
  const now = await eventsOf(db);
  for (const [place, id] of now) assert.equal(seen.get(place) ?? id, id, `${place} is used twice`);
  const { bank } = guarded;
  const answer = await request(baseUrl, 'GET', '/v1/events?limit=1', { token: bank.token });
  const { gaps, items } = answered(answer, 200).json;
  const [gap] = list(gaps);
  const [newest] = list(items);
  const last = Number(newest?.sequence);
  assert.ok(gap !== undefined && last >= Number(gap.before), 'the gap is announced');
  assert.equal(newest?.restores, 1);
  const own = guarded.bank.tenant.tenant.id.replaceAll('-', '').toUpperCase();
  const before = [...seen.keys()]
    .filter((place) => place.startsWith(own))
    .map((place) => Number(place.split(' ')[1]));
  assert.ok(Math.max(...before) < Number(gap.before));
  assert.ok(object(newest).id !== undefined);
}
