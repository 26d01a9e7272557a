import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Uuid } from '../../src/core/ids.js';
import { type Instant, systemClock, toRfc3339 } from '../../src/core/instant.js';
import { counted } from '../../src/core/collections.js';
import { SignedInPeople } from '../ops/signed-in.js';
import { run } from '../ops/ops.js';
import { request, startTestApi, TEST_KEYRING } from '../helpers/api.js';
import { answered, idLiteral, type Json, LEAST, list, object } from '../helpers/bank.js';
import { type PayrollBank, payrollOf } from '../helpers/batch-workflows.js';
import type { TestDatabase } from '../helpers/database.js';
import { temporalEnvironment, until, workflowStatus } from '../helpers/temporal.js';
import { WorkerProcess } from '../helpers/worker-process.js';
import { assertLedgerSound } from '../helpers/world.js';
import {
  arePaid,
  GOES_ON_MS,
  ListingGateway,
  Load,
  momentAmongBatches,
  type RestoreDrill,
  setTheStage,
  type Stage,
  WAITING,
  whatIsLost,
} from './restore-stage.js';

const NAME = 'bank';
const RAIL = `http:${NAME}`;

/** An event as a tenant may have seen it. */
type Seen = ReadonlyMap<string, string>;

/** State of the service when it was lost. */
interface Lost {
  /** Ids that have a workflow, and no row in the copy. */
  readonly stale: readonly Uuid[];
  readonly seen: Seen;
  readonly supplierBatches: readonly Uuid[];
  /** The ids of their rows, which are the keys at the rail. */
  readonly rows: ReadonlySet<string>;
}

/**
 * Load, then the loss of its last part: the database is put back, made good by two people and served again. Nothing is posted
 * before; no sequence is used twice; every payment that the rail has and we do not is listed, and none is made twice, also of rows of
 * batches that are validated or executed again; what waited goes on.
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
    const { stage, moment, lost, acknowledged } = await servedUntilTheLoss(
      drill,
      environment,
      gateway,
    );
    const began = performance.now();
    const db = await drill.copier.restore();
    const copied = performance.now();
    const listed = await madeGood(db, environment, stage, moment, gateway);
    const opened = performance.now();
    await goesOn(db, drill, environment, stage, lost, gateway);
    const done = performance.now();
    await assertLedgerSound(db.database);
    const s = (from: number, to: number): string => `${((to - from) / 1_000).toFixed(1)} s`;
    return (
      `${acknowledged} transfers of ${drill.clients} clients, the last ${drill.lostMs / 1_000} s lost: restored in ${s(began, copied)}, reconciled and audited in ${s(copied, opened)}, ` +
      `${WAITING} approvals, ${WAITING - 1} payouts and ${1 + lost.supplierBatches.length} batches continued within ${s(opened, done)}; ${counted(listed, 'later payment')} of the rail listed, none of ${lost.rows.size} rows of batches of payouts paid twice, none of ${lost.seen.size} sequences used twice; the auditor found nothing`
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
    const stage = await setTheStage(api, drill);
    await copier.prepare();
    const load = new Load(stage, drill);
    await sleep(drill.beforeMs);
    const { moment, validating } = await momentAmongBatches(drill, stage);
    const stale = await whatIsLost(stage, validating, gateway);
    await sleep(drill.lostMs);
    const acknowledged = await load.stop();
    await worker.kill();
    const seen = await eventsOf(copier.source);
    const supplierBatches = [...Object.values(stage.payoutBatches), validating];
    const rows = await idsOf(copier.source, 'batch_rows', supplierBatches);
    return { stage, moment, lost: { stale, seen, supplierBatches, rows }, acknowledged };
  } finally {
    await worker.kill();
    await api.stop();
  }
}

/** Every id that a row of these batches has, in the table of rows or of payouts. */
async function idsOf(
  db: TestDatabase,
  table: 'batch_rows' | 'payouts',
  batches: readonly Uuid[],
): Promise<ReadonlySet<string>> {
  const rows = await db.sql(
    `SELECT LOWER(HEX(id)) AS id FROM ${table} WHERE batch_id IN (${batches.map(idLiteral).join(',')})`,
  );
  return new Set(rows.map(({ id }) => String(id)));
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
    const listed = await run('src/ops/main.js', ['restore', 'findings', '--all', '--json'], env);
    const found = list(JSON.parse(listed.stdout));
    const isRow = ({ here }: Json): boolean => String(here).startsWith('row of a batch');
    const unknown = found
      .filter((one) => one.finding === 'unknown_here' || isRow(one))
      .map(({ payout_id: id }) => String(id));
    const here = await db.sql(`SELECT LOWER(HEX(id)) AS id FROM payouts`);
    const known = new Set(here.map(({ id }) => String(id)));
    const later = [...gateway.payments.keys()].filter((key) => !known.has(key.replaceAll('-', '')));
    assert.deepEqual(unknown.sort(), later.sort());
    assert.ok(later.length > 0, 'no payment was lost');
    assert.ok(found.some(isRow), 'no row of a batch was lost');
    const lostApprovals = found
      .filter((one) => one.finding === 'approval_lost' && !isRow(one))
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
  { stale, seen, supplierBatches, rows }: Lost,
  gateway: ListingGateway,
): Promise<void> {
  const api = await startTestApi(db, environment);
  gateway.serviceUrl = api.baseUrl;
  const worker = await WorkerProcess.start(db.url, temporal, environment);
  try {
    const post = async (path: string, token: string): Promise<Json> =>
      answered(await request(api.baseUrl, 'POST', path, { token }), 200).json;
    const { guarded, waiting, payroll, suppliers, transfers, pendingPayouts, batchId } = stage;
    for (const id of transfers)
      assert.equal(
        (await post(`/v1/transfers/${id}/approve`, guarded.approvers[0])).status,
        'completed',
      );
    for (const id of pendingPayouts) await post(`/v1/payouts/${id}/approve`, waiting.approvers[0]);
    const onCopy = (own: PayrollBank) =>
      payrollOf(
        (method, path, options) =>
          request(api.baseUrl, method, path, { token: own.bank.token, ...options }),
        own,
      );
    await onCopy(payroll).execute(batchId);
    const [, ...others] = supplierBatches;
    for (const id of others) {
      await onCopy(suppliers).until(id, 'ready');
      await onCopy(suppliers).execute(id);
    }
    for (const id of supplierBatches)
      await until(`the rows of ${id} are paid`, () => arePaid(onCopy(suppliers), id), {
        limitMs: GOES_ON_MS,
      });
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
    // A row with another id than in the lost time would be another payout at the rail.
    assert.deepEqual(await idsOf(db, 'payouts', supplierBatches), rows);
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
