import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { counted } from '../../src/core/collections.js';
import { ApiError } from '../../src/core/errors.js';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import { instant, type Instant, systemClock } from '../../src/core/instant.js';
import { uuid } from '../../src/db/columns.js';
import {
  type Payout,
  type PayoutResolution,
  payoutResolutions,
  payouts,
} from '../../src/db/entities/payouts.js';
import { HttpRail } from '../../src/payouts/rails/http.js';
import type { Rail } from '../../src/payouts/rails/rail.js';
import { approveResolution } from '../../src/payouts/resolution/approve.js';
import {
  proposeResolution,
  rejectResolution,
  type SeenPayout,
} from '../../src/payouts/resolution/resolutions.js';
import { dayOf } from '../../src/payouts/statements/compare.js';
import { reconcile, DEFAULT_DELAY_MS } from '../../src/payouts/statements/reconcile.js';
import { openPayoutBank, payoutBody, type PayoutBank, railsOf, seen } from '../payouts/support.js';
import { startTestApi, TEST_KEYRING } from '../helpers/api.js';
import { answered, LEAST, text } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { serving, temporalEnvironment, type TestTemporal, until } from '../helpers/temporal.js';
import { WorkerProcess } from '../helpers/worker-process.js';
import { assertLedgerSound, someone, TEST_ACTOR } from '../helpers/world.js';
import { randomFrom } from './approval-activities.js';
import { ChaosGateway } from './chaos-gateway.js';

interface RailsCampaign {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  readonly payouts: number;
  readonly kills: number;
  /** How long a request may be held up on its way; the service waits 10 s for an answer. */
  readonly longestMs: number;
  /** For how long what is open may come to its end by itself, once all was created. */
  readonly settlingMs: number;
  /** One seed gives one gateway and one set of operators; the timing differs. */
  readonly seed: number;
}

const NAME = 'chaos';
const RAIL = `http:${NAME}`;
const AT_ONCE = 10;
const OPERATORS = 4;
const OPERATORS_EVERY_MS = 100;
const STATEMENTS_EVERY_MS = 1_500;
const DAY_MS = 86_400_000;
const UNFINISHED = ['approved', 'in_progress'] as const;

interface Stage extends RailsCampaign {
  readonly gateway: ChaosGateway;
  readonly own: PayoutBank;
  readonly ids: Uuid[];
  /** The keys of the payouts that go to one. */
  readonly keys: Map<Uuid, string>;
  /** The day whose statement is loaded. */
  readonly day: Instant;
  readonly deps: ReturnType<typeof railsOf>;
  readonly random: (below: number) => number;
}

/**
 * Payouts over a gateway behind a line that loses, delays, repeats and reorders, while two operators settle unknown results at
 * random, the worker is killed, and the gateway's statements of the day, some of them wrong and corrected by the next, are
 * loaded before, between and after its callbacks. At the end the gateway's books and the ledger agree about every payout
 * except those raised as stuck, and nothing was paid after its money was given back.
 */
export async function railsCampaign(campaign: RailsCampaign): Promise<string> {
  const { db, temporal, seed } = campaign;
  const gateway = await new ChaosGateway(NAME, TEST_KEYRING, seed, campaign.longestMs).start();
  const [key] = TEST_KEYRING;
  const environment = {
    ...{ ...temporalEnvironment(temporal), ...serving('payouts') },
    PAYOUT_RAILS: `*=${RAIL}`,
    PAYOUT_RAIL_URLS: `${NAME}=${gateway.url}`,
    PAYOUT_RAIL_KEYS: `${NAME}=${key.id}:${key.secret.toString('base64')}`,
    PAYOUT_RAIL_TERMS: `{"${NAME}": {"destinations": {"bank_account": {}, "bre_b_key": {}}}}`,
    PAYOUT_STUCK_AFTER_S: '5',
    PAYOUT_RAIL_PROBE_S: '1',
  };
  const api = await startTestApi(db, environment);
  gateway.serviceUrl = api.baseUrl;
  const worker = await WorkerProcess.start(db.url, temporal, environment);
  try {
    const own = await openPayoutBank(api, 2n * BigInt(campaign.payouts) * LEAST);
    const rails = new Map<string, Rail>([
      [RAIL, new HttpRail(NAME, gateway.url, TEST_KEYRING, systemClock)],
    ]);
    const stage = {
      ...campaign,
      gateway,
      own,
      ids: [],
      keys: new Map<Uuid, string>(),
      day: dayOf(systemClock()),
      deps: railsOf(db, { rails }),
      random: randomFrom(seed + 1),
    };
    const { resolved, loaded } = await troubledTimes(stage, worker);
    await comeToRest(stage, worker);
    const summary = await compared(stage);
    await assertLedgerSound(db.database);
    return `${summary}; ${counted(loaded, 'statement')} loaded, ${counted(resolved, 'resolution')} tried, ${counted(campaign.kills, 'kill')} of the worker, seed ${seed}`;
  } finally {
    await worker.kill();
    gateway.stop();
    await api.stop();
  }
}

/** Answers how often the operators tried to settle one, and how many statements were loaded. */
async function troubledTimes(
  stage: Stage,
  worker: WorkerProcess,
): Promise<{ readonly resolved: number; readonly loaded: number }> {
  const ending = new AbortController();
  const operating = Promise.all(
    Array.from({ length: OPERATORS }, () => operate(stage, ending.signal)),
  );
  const loading = loadOften(stage, ending.signal);
  const killing = killed(stage, worker, ending.signal);
  try {
    for (let made = 0; made < stage.payouts; made += AT_ONCE) {
      const many = Math.min(AT_ONCE, stage.payouts - made);
      stage.ids.push(...(await Promise.all(Array.from({ length: many }, () => pay(stage)))));
      await sleep(stage.random(1_000));
    }
    await killing;
    const end = performance.now() + stage.settlingMs;
    while (performance.now() < end && (await openOnes(stage)).length > 0) await sleep(200);
  } finally {
    ending.abort();
  }
  const resolved = (await operating).reduce((sum, tried) => sum + tried, 0);
  return { resolved, loaded: await loading };
}

/** Half of them go to keys whose holder was checked. */
function pay(stage: Stage): Promise<Uuid> {
  return stage.random(2) === 0 ? stage.own.pay() : payKey(stage);
}

/** Looks the key up until the gateway says who holds it. What the tenant is told is what the gateway said of the key. */
async function payKey({ own, gateway, random, keys }: Stage): Promise<Uuid> {
  const key = `300${1_000_000 + random(9_000_000)}`;
  for (;;) {
    const { status, code, json } = await own.bank.get(`/v1/payout_recipients?key=${key}`);
    const said = gateway.saidHolders.get(key) ?? new Set();
    if (status === 503) assert.equal(code, 'rail_unavailable');
    else assert(status === 404 ? said.has(null) : [...said].some(isHolder), `${key}: ${status}`);
    if (status === 404 && key.endsWith('08')) return own.pay();
    if (status !== 200) continue;
    const destination = { type: 'bre_b_key', key, holder_check: json.holder_check };
    const body = { ...payoutBody({ from: own.source }), destination };
    const id = answered(await own.bank.request('POST', '/v1/payouts', { body }), 201).json.id;
    keys.set(asUuid(text(id)), key);
    return asUuid(text(id));
  }
}

function isHolder(holder: string | null): boolean {
  return holder !== null;
}

/** One that failed for its holder before it was sent: the gateway said so, and never had it. */
function assertRefused({ gateway, keys }: Stage, { id, failureCode }: Payout): void {
  const said = [...(gateway.saidHolders.get(keys.get(id) ?? '') ?? [])];
  const isSaid = failureCode === 'account_unknown' ? said.includes(null) : said.length > 1;
  assert(isSaid, `${id} failed with ${failureCode}, which its rail has not said`);
  assert(!gateway.payments.has(id), `${id} was sent, and failed for its holder`);
}

/** Loads the day's statement again and again, each with more outcomes. Answers how often. */
async function loadOften(stage: Stage, signal: AbortSignal): Promise<number> {
  let loaded = 0;
  while (!signal.aborted) {
    await sleep(stage.random(STATEMENTS_EVERY_MS));
    if (stage.random(6) === 0) await loadForWrongDay(stage).catch(passOver);
    await loadStatement(stage).catch(passOver);
    loaded += 1;
  }
  return loaded;
}

/** The day before gets the same lines, which is refused unless some are new, and is withdrawn then. */
async function loadForWrongDay(stage: Stage): Promise<void> {
  const yesterday = instant(stage.day - DAY_MS);
  await loadStatement(stage, yesterday);
  await loadStatement(stage, yesterday, []);
}

async function loadStatement(
  { db, deps: { writer }, gateway, day: today }: Stage,
  day = today,
  listed = gateway.statement(),
): Promise<void> {
  const lines = listed.map(({ key: payoutKey, status, reference }, index) => ({
    ...{ number: index + 2, payoutKey, status, reference },
    ...{ raw: LEAST, asset: 'COPM' as const, at: null },
  }));
  const deps = { database: db.database, writer, delayMs: DEFAULT_DELAY_MS };
  await reconcile(deps, { rail: RAIL, day, lines }, TEST_ACTOR, systemClock());
}

/** Spread over the time in which payouts are made. */
async function killed(
  { kills, ids, payouts: wanted, random }: Stage,
  worker: WorkerProcess,
  signal: AbortSignal,
) {
  for (let done = 1; done <= kills; done += 1) {
    await until(
      'enough payouts are made',
      () => signal.aborted || ids.length >= (wanted * done) / (kills + 1),
      {
        limitMs: 3_600_000,
      },
    );
    await sleep(random(1_000));
    await worker.kill();
    await worker.start();
  }
}

/**
 * Maria and Leo, several times over: they ask the rail again, and settle without looking much, but for what is contradictory:
 * of that they look in the bank's books.
 */
async function operate(stage: Stage, signal: AbortSignal): Promise<number> {
  const { db, random } = stage;
  let tried = 0;
  while (!signal.aborted) {
    await sleep(OPERATORS_EVERY_MS + random(OPERATORS_EVERY_MS));
    const rows = await db.sql(
      `SELECT id FROM payouts WHERE rail='${RAIL}' AND (status IN ('approved','in_progress') OR stuck_since IS NOT NULL
         OR (status='completed' AND id IN (SELECT payout_id FROM payout_resolutions WHERE status='applied')))`,
    );
    if (rows.length === 0) continue;
    const before = await seen(db, uuid.parse(rows[random(rows.length)]!.id));
    const { payout } = before;
    const outcome = chosen(stage, payout);
    if (outcome === null) continue;
    const acting = outcome === 'retry' ? retry(stage, payout) : settle(stage, before, outcome);
    if (outcome !== 'retry') tried += 1;
    await acting.catch(passOver);
  }
  return tried;
}

/** Refused, or the ledger or the rail did not answer: there is another time. */
function passOver(failure: unknown): void {
  if (!(failure instanceof ApiError)) throw failure;
}

/** As ops payouts retry does. */
function retry({ deps: { submissions } }: Stage, { id, status }: Payout): Promise<unknown> {
  return status === 'approved' ? submissions.submit(id) : submissions.poll(id);
}

function chosen(
  { gateway, random }: Stage,
  payout: Payout,
): PayoutResolution['outcome'] | 'retry' | null {
  const { id, status, stuckReason } = payout;
  if (status === 'approved') return random(3) === 0 ? 'retry' : null;
  if (status === 'in_progress')
    return (['completed', 'failed', 'failed', 'retry', 'retry'] as const)[random(8)] ?? null;
  const books = gateway.payments.get(id)?.status;
  if (random(4) > 0) return null;
  // They take back what they completed and the bank has not paid, even while it may still pay.
  if (stuckReason === null)
    return status === 'completed' && books !== 'completed' ? 'returned' : null;
  if (books === 'accepted') return null;
  if (status === 'failed') return books === 'completed' ? 'completed' : 'unchanged';
  return status === 'completed' && books !== 'completed' ? 'returned' : 'unchanged';
}

async function settle(
  { db, deps, random }: Stage,
  before: SeenPayout,
  outcome: PayoutResolution['outcome'],
): Promise<void> {
  const { writer, calls } = deps;
  const open = await db.database.reader.find(payoutResolutions, {
    payoutId: before.payout.id,
    status: 'proposed',
  });
  if (open === undefined)
    await proposeResolution(writer, before, { outcome, reason: 'at random', by: someone('maria') });
  await sleep(random(300));
  const now = await seen(db, before.payout.id);
  // Whom a proposal of long ago surprises takes it back.
  if (open !== undefined && open.outcome !== outcome)
    await rejectResolution(writer, now, someone('leo'));
  else await approveResolution({ calls, quietMs: () => 86_400_000 }, now, someone('leo'));
}

/** The payments that have not ended; what the gateway denies after it took it stays so until an operator resolves it. */
async function openOnes({ db, ids }: Stage): Promise<readonly Payout[]> {
  const rows = await db.database.reader.select(payouts, { id: ids, status: UNFINISHED });
  return rows.filter(({ stuckReason }) => stuckReason !== 'contradiction');
}

/** The line is repaired, open proposals are taken back, and everything that would be asked one day is asked now. */
async function comeToRest(stage: Stage, worker: WorkerProcess): Promise<void> {
  const { db, gateway, deps, ids } = stage;
  await gateway.calm();
  // What only wrong lines had flagged is flagged no more.
  await loadStatement(stage, instant(stage.day - DAY_MS), []);
  await loadStatement(stage);
  for (const { payoutId } of await db.database.reader.select(payoutResolutions, {
    payoutId: ids,
    status: 'proposed',
  }))
    await rejectResolution(deps.writer, await seen(db, payoutId), someone('leo'));
  await until(
    'every payout has ended or is raised as contradictory',
    async () => {
      const open = await openOnes(stage);
      await Promise.all(
        open.slice(0, AT_ONCE).map((payout) => retry(stage, payout).catch(passOver)),
      );
      await gateway.calm();
      return open.length === 0;
    },
    { limitMs: 600_000 },
  );
  await worker.stop();
  // Its last orders have arrived, and their outcome is known.
  await gateway.calm();
  await db.change(
    `UPDATE payouts SET next_poll_at='2020-01-01' WHERE rail='${RAIL}' AND next_poll_at IS NOT NULL`,
  );
  while ((await deps.poller.pollDue(RAIL, AT_ONCE)) > 0);
}

function isStuck({ stuckSince }: Payout): boolean {
  return stuckSince !== null;
}

/** The gateway's books beside the ledger. */
async function compared(stage: Stage): Promise<string> {
  const { db, gateway, ids } = stage;
  const before = await db.database.reader.select(payouts, { id: ids });
  const flagged = new Set(before.filter(isStuck).map(({ id }) => id));
  await loadStatement(stage);
  const rows = await db.database.reader.select(payouts, { id: ids });
  assert.equal(rows.length, ids.length);
  const counts: Record<string, number> = {};
  const paid = new Map(
    gateway.acts.filter(({ what }) => what === 'paid').map(({ key, at }) => [key, at]),
  );
  let [stuck, refused] = [0, 0];
  for (const payout of rows) {
    const { id, status } = payout;
    counts[status] = (counts[status] ?? 0) + 1;
    assert(gateway.paidTimes(id) <= 1, `${id} was paid twice`);
    const paidAt = paid.get(id);
    const releasedAt =
      status === 'failed' ? payout.endedAt : (payout.failedAt ?? payout.returnedAt);
    if (paidAt !== undefined && releasedAt !== null)
      assert(
        paidAt <= releasedAt,
        `${id} was paid ${paidAt - releasedAt} ms after its money was given back`,
      );
    if (status === 'failed' && payout.submittedAt === null) {
      assertRefused(stage, payout);
      refused += 1;
    }
    if (isStuck(payout)) {
      assert(flagged.has(id), `the last statement contradicts ${id}, which was not raised`);
      stuck += 1;
    } else
      assert.equal(
        status === 'completed',
        paidAt !== undefined,
        `${id} is ${status}, and not raised`,
      );
  }
  const voided = gateway.acts.filter(({ what }) => what === 'voided').length;
  const { requests, lost, unanswered, repeated, delayed, renamed } = gateway.counts;
  const { asked, wrong, denied, changed } = gateway.keyCounts;
  const keys = `${stage.keys.size} to keys, ${asked} questions about holders, of which ${wrong} were answered wrongly, ${denied} denied and ${changed} with another holder: ${refused} failed before they were sent`;
  const summary =
    `${rows.length} payouts (${keys}) in ${requests} requests to a rail, ${lost} lost, ${delayed} delayed, ${repeated} repeated, ${unanswered} not answered: ` +
    `the rail paid ${paid.size}, voided ${voided} (${renamed} answers under another reference) and contradicted itself about ${gateway.liars.size}; states ${JSON.stringify(counts)}, ${stuck} flagged, ` +
    `the rail agrees with all other payouts, and paid none after its money was returned`;
  assert(
    lost > 0 && unanswered > 0 && repeated > 0 && delayed > 0 && voided > 0,
    `too little went wrong: ${summary}`,
  );
  return summary;
}
