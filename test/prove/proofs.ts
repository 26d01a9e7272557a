import assert from 'node:assert/strict';
import { RAIL_FAILPOINTS } from '../../src/core/failpoints.js';
import { activitiesCampaign } from '../campaigns/approval-activities.js';
import { racesCampaign } from '../campaigns/approval-races.js';
import { batchKills } from '../campaigns/batch-kills.js';
import { bombsCampaign } from '../campaigns/bombs.js';
import { brokenFileCampaign } from '../campaigns/broken-files.js';
import { commitCuts } from '../campaigns/commit-cuts.js';
import { composedCampaign } from '../campaigns/composed.js';
import { failoverCampaign } from '../campaigns/failover.js';
import { clientGenerators } from '../campaigns/client-generators.js';
import { generatedCalls } from '../campaigns/generated-calls.js';
import { greedyReader } from '../campaigns/greedy-reader.js';
import { hangingEndpoints } from '../campaigns/hanging-endpoints.js';
import { ATTACKS } from '../campaigns/hostile/attacks/index.js';
import { hostileCampaign } from '../campaigns/hostile/campaign.js';
import { interleavingsCampaign } from '../campaigns/interleavings.js';
import { failpointCampaign, killCampaign, mysqlAway } from '../campaigns/kills.js';
import { countWaiting, leaveWaiting } from '../campaigns/left-waiting.js';
import {
  failoverHistories,
  linearizabilityCampaign,
} from '../campaigns/linearizability/campaign.js';
import { manyEndpoints } from '../campaigns/many-endpoints.js';
import { mixedLoadCampaign } from '../campaigns/mixed-load.js';
import { modelCampaign } from '../campaigns/model.js';
import { mutantsCampaign } from '../campaigns/mutants.js';
import { killedAroundRail } from '../campaigns/payouts.js';
import { railsCampaign } from '../campaigns/rails.js';
import { refundStorm } from '../campaigns/refund-storms.js';
import { restoreDrill } from '../campaigns/restore.js';
import { PhysicalCopier } from '../campaigns/restored-copies.js';
import { rollingCampaign } from '../campaigns/rolling.js';
import { scheduleKills } from '../campaigns/schedule-kills.js';
import { staleTemporalCampaign } from '../campaigns/stale-temporal.js';
import { statementsCampaign } from '../campaigns/statements.js';
import { drainStorm, racingStorm, RIVALS, sameKeyStorm, type Storm } from '../campaigns/storms.js';
import { temporalAway } from '../campaigns/temporal-away.js';
import { twoOfEachCampaign } from '../campaigns/two-of-each.js';
import { upgradeCampaign } from '../campaigns/upgrade.js';
import { webhookKills } from '../campaigns/webhook-kills.js';
import { startTestApi } from '../helpers/api.js';
import { ApiProcess } from '../helpers/api-process.js';
import { freshDatabase, ownDatabase, type TestDatabase } from '../helpers/database.js';
import { HttpReceiver } from '../helpers/http-receiver.js';
import { PrivateMysql } from '../helpers/private-mysql.js';
import { PrivateTemporal } from '../helpers/private-temporal.js';
import { loadRelease, recordRelease } from '../helpers/release-dump.js';
import { temporalEnvironment, type TestTemporal } from '../helpers/temporal.js';
import { type Open, withCleanup } from '../helpers/with-cleanup.js';

type Summary = string | readonly string[];
type Proof = (db: TestDatabase) => Promise<Summary>;
type Proofs = Readonly<Record<string, Proof>>;

interface Stage {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  readonly open: Open;
}

const CLIENTS = 64;
/** Of a history's load. */
const HISTORIES = { clients: 3, pauseMs: 1_500, calmMs: 3_000 };
const FATES = ['cut_before', 'cut_after', 'cut_racing'] as const;

/** Runs storms against two API processes on the common database. */
const overTwo =
  (...storms: readonly ((storm: Required<Storm>) => Promise<string>)[]): Proof =>
  (db) =>
    withCleanup(async (open) => {
      const api = await open(startTestApi(db), (own) => own.stop());
      const other = await open(ApiProcess.start(db.url), (own) => own.stop());
      return inTurn(storms, (one) => one({ api, others: [other.baseUrl] }));
    });

/** Runs a campaign with its own Temporal on the common database. */
const withTemporal =
  (work: (stage: Stage) => Promise<Summary>): Proof =>
  (db) =>
    withCleanup(async (open) => {
      const { temporal } = await open(PrivateTemporal.start(), (own) => own.remove());
      return work({ db, temporal, open });
    });

/** Runs a campaign with its own Temporal and its own database. */
const alone = (work: (stage: Stage) => Promise<Summary>): Proof =>
  withTemporal(async ({ temporal, open }) => {
    const db = await open(ownDatabase('alone'), (own) => own.remove());
    return work({ db, temporal, open });
  });

async function inTurn<T>(
  all: readonly T[],
  work: (one: T) => Promise<string>,
): Promise<readonly string[]> {
  const summaries: string[] = [];
  for (const one of all) summaries.push(await work(one));
  return summaries;
}

/** A campaign's full counts, overridden in order by the environment variable, such as `10,3`. */
function counts<Name extends string>(
  variable: string,
  full: Readonly<Record<Name, number>>,
): Readonly<Record<Name, number>> {
  const given = (process.env[variable] ?? '').split(',').filter(Boolean).map(Number);
  const named = Object.entries<number>(full).map(
    ([name, count], index) => [name, given[index] ?? count] as const,
  );
  return Object.fromEntries(named) as Record<Name, number>;
}

/** Writes test/releases/1.0.0.sql.gz, with many waiting resources, because no worker runs. */
async function recordWaiting(db: TestDatabase): Promise<void> {
  await withCleanup(async (open) => {
    const receiver = await open(new HttpReceiver().open(), (own) => own.close());
    const api = await open(startTestApi(db, {}, { receiver: 'real' }), (own) => own.stop());
    await leaveWaiting(api, receiver);
    await recordRelease(db);
  });
}

/** Each campaign with its full counts, by its name. */
export const PROOFS: Proofs = {
  'same-key': overTwo(
    ...RIVALS.map(
      (rival) => (storm: Storm) => sameKeyStorm({ ...storm, rival, rounds: 100, width: 100 }),
    ),
  ),
  racing: overTwo(
    (storm) => racingStorm({ ...storm, clients: CLIENTS, rounds: 400 }),
    (storm) => drainStorm({ ...storm, clients: CLIENTS, transfers: 20_000, feeRaw: 333n }),
  ),
  'refund-races': overTwo((storm) => refundStorm({ ...storm, width: CLIENTS, rounds: 100 })),
  'commit-cuts': (db) => inTurn(FATES, (fate) => commitCuts({ db, cuts: 500, fate })),
  'kill-api': () => killCampaign('api', { kills: 50, clients: CLIENTS }),
  'kill-mysql': () => killCampaign('mysql', { kills: 50, clients: CLIENTS }),
  failpoints: () => failpointCampaign(10, CLIENTS),
  interleavings: (db) =>
    interleavingsCampaign({
      db,
      ...counts('INTERLEAVINGS', { interleavings: 100_000 }),
      seed: Date.now() % 2 ** 31,
    }),
  linearizability: () =>
    linearizabilityCampaign({
      ...counts('LINEARIZABILITY_COUNTS', { rounds: 4, groups: 40 }),
      ...HISTORIES,
    }),
  'linearizability-failover': () =>
    failoverHistories({
      ...counts('FAILOVER_HISTORIES_COUNTS', { rounds: 4, groups: 40 }),
      ...HISTORIES,
    }),
  'mysql-away': () => mysqlAway(30_000, CLIENTS),
  'temporal-away': (db) => temporalAway({ db, awayMs: 600_000, clients: CLIENTS }),
  'stale-temporal': (db) => staleTemporalCampaign({ db, each: 50, lookAgainS: 120 }),
  failover: () =>
    failoverCampaign({
      clients: CLIENTS,
      ...counts('FAILOVER_COUNTS', { switchovers: 100, kills: 20, pauses: 5, cuts: 5 }),
      maxOutageMs: 10_000,
      onEvent: (line) => process.stdout.write(`  ${line}\n`),
    }),
  schemathesis: (db) => generatedCalls({ db, calls: 1_000, seed: Date.now() % 2 ** 31 }),
  'client-generators': clientGenerators,
  // A million operations take hours.
  model: (db) =>
    modelCampaign({
      db,
      ...counts('MODEL_OPERATIONS', { operations: 1_000_000 }),
      longest: 300,
      lanes: 4,
    }),
  mutants: withTemporal(({ temporal }) => mutantsCampaign(temporal.address)),
  'approval-races': (db) =>
    overTwo((storm) => racesCampaign({ db, ...storm, rounds: 1_000, seed: Date.now() }))(db),
  'approval-activities': (db) =>
    withCleanup(async (open) => {
      const api = await open(startTestApi(db), (own) => own.stop());
      return activitiesCampaign({ db, api, transfers: 300, calls: 10_000, seed: Date.now() });
    }),
  statements: (db) =>
    statementsCampaign({ db, accounts: 1_000, statements: 1_000, clients: 8, speed: 1 }),
  rolling: withTemporal(({ db, temporal }) =>
    rollingCampaign({
      db,
      temporal,
      ...counts('ROLLING_COUNTS', { perSecond: 500, rounds: 3 }),
    }),
  ),
  'mixed-load': alone(({ db, temporal }) =>
    mixedLoadCampaign({
      db,
      temporal,
      ...counts('MIXED_LOAD_COUNTS', { seconds: 7_200, clients: 8, pauseMs: 250 }),
      rows: 500,
      betweenBatchesMs: 30_000,
      isTimed: true,
    }),
  ),
  'two-of-each': () =>
    twoOfEachCampaign({
      ...counts('TWO_OF_EACH_COUNTS', { rounds: 10 }),
      apis: 2,
      clients: 32,
      calmMs: 1_500,
      rows: 500,
    }),
  composed: () => composedCampaign(),
  upgrade: alone(async ({ db, temporal, open }) => {
    if (process.env.RECORD_RELEASE !== undefined)
      await recordWaiting(await open(ownDatabase('recorded'), (own) => own.remove()));
    await loadRelease(db);
    assert((await countWaiting(db)) > 0, 'nothing waits in the dump of the release');
    const load = counts('UPGRADE_COUNTS', { open: 1_000, perSecond: 100 });
    return upgradeCampaign({ db, temporal, ...load });
  }),
  restore: withTemporal(async ({ temporal }) => {
    const { beforeS, lostS } = counts('RESTORE_SECONDS', { beforeS: 60, lostS: 600 });
    const drill = { clients: 32, beforeMs: beforeS * 1_000, lostMs: lostS * 1_000 };
    const sizes = { rows: 5_000, suppliers: 150 };
    return restoreDrill({ ...drill, ...sizes, copier: await PhysicalCopier.start(), temporal });
  }),
  'payout-kills': withTemporal(async ({ db, temporal, open }) => {
    const api = await open(startTestApi(db, temporalEnvironment(temporal)), (own) => own.stop());
    return inTurn(RAIL_FAILPOINTS, (failpoint) =>
      killedAroundRail({ db, api, temporal, failpoints: [failpoint], payouts: 500, kills: 10 }),
    );
  }),
  rails: withTemporal(({ db, temporal }) =>
    railsCampaign({
      db,
      temporal,
      payouts: 2_000,
      kills: 40,
      longestMs: 14_000,
      settlingMs: 120_000,
      seed: Date.now(),
    }),
  ),
  schedules: () => scheduleKills({ schedules: 100, runs: 40, kills: 52, betweenMs: 3_000 }),
  'batch-kills': () => batchKills({ kind: 'bonus', rows: 20_000, kills: 52, betweenMs: 3_000 }),
  'payout-batch-kills': () =>
    batchKills({ kind: 'payout', rows: 2_000, kills: 52, betweenMs: 3_000 }),
  'webhook-kills': withTemporal(async ({ temporal, open }) => {
    const mysql = await open(PrivateMysql.start(), (own) => own.remove());
    const db = await open(freshDatabase(mysql.adminUrl, 'money_webhooks'), (own) => own.close());
    return webhookKills({ db, temporal, events: 100_000, kills: 50 });
  }),
  'many-endpoints': alone(({ db, temporal }) =>
    manyEndpoints({
      db,
      temporal,
      ...counts('MANY_ENDPOINTS', { endpoints: 2_000, seconds: 300 }),
      everyMs: 5_000,
      workers: 2,
      killEveryMs: 10_000,
      isTimed: true,
    }),
  ),
  'hanging-endpoints': withTemporal(({ db, temporal }) =>
    hangingEndpoints({
      db,
      temporal,
      endpoints: 500,
      tenants: 32,
      others: 10,
      warmUp: 30,
      transfers: 60,
      isTimed: true,
    }),
  ),
  'greedy-reader': (db) =>
    greedyReader({ db, rows: 100_000, requests: 600, perSecond: 60, isTimed: true }),
  hostile: (db) => hostileCampaign(db),
  bombs: () => bombsCampaign(),
  'broken-files': async (db) =>
    (await brokenFileCampaign(db, { seed: 15, files: 10_000, maxMs: 5_000 })).summary,
};

/** Each attack of `hostile` by itself, such as `hostile-batch-flood`. */
export const SINGLE_ATTACKS: Proofs = Object.fromEntries(
  ATTACKS.map((attack) => [
    `hostile-${attack.name.replaceAll(' ', '-')}`,
    (db: TestDatabase) => hostileCampaign(db, [attack]),
  ]),
);
