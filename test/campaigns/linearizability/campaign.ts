import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { counted } from '../../../src/core/collections.js';
import { LEDGER_FAILPOINTS } from '../../../src/core/failpoints.js';
import { ApiProcess } from '../../helpers/api-process.js';
import { freshDatabase, type TestDatabase } from '../../helpers/database.js';
import { MysqlGroup } from '../../helpers/mysql-group.js';
import { PrivateMysql } from '../../helpers/private-mysql.js';
import { PrivateTemporal } from '../../helpers/private-temporal.js';
import { type Cut, isCommit, Proxy } from '../../helpers/proxy.js';
import type { ServiceProcess } from '../../helpers/service-process.js';
import { temporalEnvironment, until } from '../../helpers/temporal.js';
import { type Open, withCleanup } from '../../helpers/with-cleanup.js';
import { WorkerProcess } from '../../helpers/worker-process.js';
import { assertLedgerSound } from '../../helpers/world.js';
import { databaseOn, EVENTS } from '../failover.js';
import { Group } from './group.js';
import { type History, writeHistories } from './history.js';
import { loadGroup } from './load.js';
import { findFault } from './order.js';
import { Porcupine } from './porcupine.js';

interface Campaign {
  /** Of connected accounts. */
  readonly groups: number;
  /** Of each group. */
  readonly clients: number;
  /** The mean pause of a client between two requests, in milliseconds. */
  readonly pauseMs: number;
  /** How often each fault happens. */
  readonly rounds: number;
  /** The mean pause between the recovery from one fault and the next fault, in milliseconds. */
  readonly calmMs: number;
}

/** A kind of fault. `happen` resolves when everything runs again. */
interface Fault {
  readonly name: string;
  readonly happen: (load: Load, round: number) => Promise<unknown>;
}

const CUTS: readonly Cut[] = ['cut_before', 'cut_after', 'cut_racing'];
const CUTS_OF_EACH = 4;
const AWAY_MS = 3_000;
/** Longer than any recovery, on the slowest machine. */
const LIMIT = { limitMs: 600_000 };

/** Clients of all groups, through faults. */
class Load {
  private isRunning = true;
  private readonly running: Promise<unknown>;

  private constructor(
    private readonly groups: readonly Group[],
    { clients, pauseMs }: Campaign,
  ) {
    const goesOn = (): boolean => this.isRunning;
    this.running = Promise.all(
      groups.map((group) => loadGroup(group, { clients, pauseMs, goesOn })),
    );
    // `finish` fails with it.
    this.running.catch(() => undefined);
  }

  static async start(
    db: TestDatabase,
    apis: readonly ApiProcess[],
    campaign: Campaign,
  ): Promise<Load> {
    const baseUrls = apis.map(({ baseUrl }) => baseUrl);
    const now = (): number => performance.timeOrigin + performance.now();
    const groups: Group[] = [];
    for (let index = 0; index < campaign.groups; index += 1)
      groups.push(await Group.open(db, { baseUrls, now }));
    return new Load(groups, campaign);
  }

  private count(isAnswered: boolean): number {
    return this.groups.reduce(
      (sum, { operations }) =>
        sum + operations.filter(({ response }) => (response !== null) === isAnswered).length,
      0,
    );
  }

  /** Resolves when every group may have had a response since. */
  async progress(): Promise<void> {
    const wanted = this.count(true) + this.groups.length;
    await until('requests are answered', () => this.count(true) >= wanted, LIMIT);
  }

  async untilRefused(): Promise<void> {
    const refused = this.count(false);
    await until('a request is refused', () => this.count(false) > refused, LIMIT);
  }

  async finish(): Promise<readonly History[]> {
    this.isRunning = false;
    await this.running;
    const histories: History[] = [];
    for (const group of this.groups) histories.push(await group.finish());
    return histories;
  }
}

/** Two API processes and two workers of one database, whose COMMITs can be cut, while each of them fails. */
export function linearizabilityCampaign(campaign: Campaign): Promise<string[]> {
  return withCleanup(async (open) => {
    const mysql = await open(PrivateMysql.start(), (own) => own.remove());
    const server = await open(PrivateTemporal.start(), (own) => own.remove());
    const db = await open(freshDatabase(mysql.adminUrl, 'money_histories'), (own) => own.close());
    const cutter = await open(Proxy.open(db.url), (own) => own.close());
    const { apis, workers } = await twoOfEach(open, cutter.through(db.url), server);
    const faults: readonly Fault[] = [
      ...apis.map((api, index) => killed(`API process ${index + 1}`, [api])),
      killed('both API processes', apis),
      ...workers.map((worker, index) => killed(`worker ${index + 1}`, [worker])),
      killed('both workers', workers),
      killed('MySQL', [mysql]),
      killed('Temporal', [server]),
      { name: 'MySQL frozen until requests are refused', happen: (load) => freeze(mysql, load) },
      { name: 'commits cut before, after and while they happen', happen: () => cut(cutter) },
      {
        name: 'an API process ended at each failpoint of the ledger',
        happen: (_, round) => endAtEach(apis[round % 2]!, round),
      },
    ];
    return judgeUnder(faults, db, apis, campaign);
  });
}

/** A group of database servers behind the same processes, whose primary fails. */
export function failoverHistories(campaign: Campaign): Promise<string[]> {
  return withCleanup(async (open) => {
    const group = await open(MysqlGroup.start(3), (own) => own.remove());
    const server = await open(PrivateTemporal.start(), (own) => own.remove());
    const db = await open(databaseOn(group), (own) => own.close());
    const { apis } = await twoOfEach(open, db.url, server);
    const faults = Object.entries(EVENTS).map(([name, event]): Fault => ({
      name,
      happen: async (load) => {
        const heal = await event(group, await group.primary());
        await load.progress();
        await heal();
        await group.allOnline();
      },
    }));
    return judgeUnder(faults, db, apis, campaign);
  });
}

async function twoOfEach(open: Open, url: string, { temporal }: PrivateTemporal) {
  const [apis, workers] = [[] as ApiProcess[], [] as WorkerProcess[]];
  for (let count = 0; count < 2; count += 1) {
    const api = ApiProcess.start(url, temporalEnvironment(temporal));
    apis.push(await open(api, (own) => own.kill()));
    workers.push(await open(WorkerProcess.start(url, temporal), (own) => own.kill()));
  }
  return { apis, workers };
}

/** Runs the load while each fault happens again and again, and judges the histories with both checkers. */
async function judgeUnder(
  faults: readonly Fault[],
  db: TestDatabase,
  apis: readonly ApiProcess[],
  campaign: Campaign,
): Promise<string[]> {
  const porcupine = await Porcupine.build();
  assert(porcupine !== null, 'the campaign needs Go, and its module proxy for porcupine');
  const load = await Load.start(db, apis, campaign);
  for (let round = 0; round < campaign.rounds; round += 1)
    for (const { happen } of faults) {
      await load.progress();
      await sleep(campaign.calmMs * (0.5 + Math.random()));
      await happen(load, round);
    }
  await load.progress();
  const histories = await load.finish();
  const file = writeHistories('campaign', histories);
  await assertLedgerSound(db.database);
  const faultsFound = histories.flatMap((history, group) => {
    const fault = findFault(history);
    return fault === null ? [] : [`group ${group}: ${fault}`];
  });
  assert.deepEqual(faultsFound, [], file);
  const refused = (await porcupine.judge([file])).filter(({ result }) => result !== 'Ok');
  assert.deepEqual(refused, [], file);
  return summaryOf(histories, faults, campaign);
}

function summaryOf(
  histories: readonly History[],
  faults: readonly Fault[],
  { rounds, clients }: Campaign,
): string[] {
  const operations = histories.flatMap((history) => history.operations);
  const lost = operations.filter(({ response }) => response === null).length;
  const expired = histories
    .flatMap(({ events }) => events)
    .filter(({ type }) => type === 'transfer.expired').length;
  return [
    `${operations.length} requests of ${clients * histories.length} clients in ${histories.length} groups of accounts, ${lost} of them without a response, ${expired} expiries: both checkers found an order in which each response is correct`,
    `${counted(rounds, 'round')} of faults (${faults.map(({ name }) => name).join(', ')})`,
  ];
}

type Killable = Pick<ServiceProcess | PrivateMysql, 'kill'> & { start(): Promise<void> };

function killed(what: string, programs: readonly Killable[]): Fault {
  return {
    name: `${what} killed`,
    happen: async () => {
      await Promise.all(programs.map((program) => program.kill()));
      await sleep(AWAY_MS * Math.random());
      await Promise.all(programs.map((program) => program.start()));
    },
  };
}

async function freeze(mysql: PrivateMysql, load: Load): Promise<void> {
  mysql.freeze();
  await load.untilRefused().finally(() => mysql.thaw());
}

/** Cuts every second COMMIT, in each way in turn. */
async function cut(cutter: Proxy): Promise<void> {
  let [commits, cuts] = [0, 0];
  cutter.fateOf = (data) =>
    isCommit(data) && (commits += 1) % 2 === 0 ? CUTS[(cuts += 1) % CUTS.length]! : 'pass';
  await until('commits are cut', () => cuts >= CUTS_OF_EACH * CUTS.length, LIMIT);
  cutter.fateOf = () => 'pass';
}

async function endAtEach(api: ApiProcess, round: number): Promise<void> {
  for (const failpoint of LEDGER_FAILPOINTS) await api.endAt(failpoint, 3 + (round % 7));
  await api.start();
}
