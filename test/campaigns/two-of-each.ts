import { setTimeout as sleep } from 'node:timers/promises';
import {
  OUTBOX_FAILPOINTS,
  LEDGER_FAILPOINTS,
  WEBHOOK_FAILPOINTS,
  type Failpoint,
  RAIL_FAILPOINTS,
} from '../../src/core/failpoints.js';
import { idempotencyKeys } from '../../src/db/entities/ledger.js';
import { counted } from '../../src/core/collections.js';
import { Fleet } from '../helpers/fleet.js';
import { PrivateMysql } from '../helpers/private-mysql.js';
import { PrivateTemporal } from '../helpers/private-temporal.js';
import { type Cut, isCommit, Proxy } from '../helpers/proxy.js';
import type { ServiceProcess } from '../helpers/service-process.js';
import { serving, until } from '../helpers/temporal.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { Clients } from './clients.js';
import { OtherWork } from './other-work.js';
import { SteadyPayouts } from './steady-payouts.js';
import { WaitingClients } from './waiting-clients.js';
import { freshDatabase } from '../helpers/database.js';

interface TwoOfEach {
  /** How often each fault is made. */
  readonly rounds: number;
  /** The number of API processes. More than one need a proxy. */
  readonly apis: number;
  readonly clients: number;
  /** The pause of each client between two transfers, in milliseconds. By default zero. */
  readonly pauseMs?: number;
  /** The pauses of all other load are this many times those of the long campaign, 1 by default: a short form proves the same with less load. */
  readonly rest?: number;
  /** The mean pause between the recovery from one fault and the next fault. */
  readonly calmMs: number;
  /** Of each batch, one after the other. */
  readonly rows: number;
  /** Between two batches; none unless said. */
  readonly betweenBatchesMs?: number;
}

interface Stage {
  readonly mysql: PrivateMysql;
  readonly server: PrivateTemporal;
  readonly cutter: Proxy;
  readonly fleet: Fleet;
  readonly clients: Clients;
  readonly waiting: WaitingClients;
}

/** A kind of fault. `happen` resolves when everything runs again, and only if the fault was reached. */
interface Fault {
  readonly name: string;
  readonly happen: (round: number) => Promise<unknown>;
}

/** Longer than any recovery, on the slowest machine. */
const REACHED_MS = 600_000;
const CUTS_OF_EACH = 4;
/** Any faster, and Temporal falls minutes behind on two cores: the end then takes longer than the faults. */
const WAITING_PAUSE_MS = 500;

/**
 * Everything at once on API processes behind a proxy and two workers: transfers, transfers that wait for approval, webhooks, batches
 * and payouts, while the processes end at each failpoint, commits are cut, and MySQL and Temporal fail. Every answer to a client was
 * true, each resource has one end, each event arrives, each row and payout is paid once.
 */
export function twoOfEachCampaign(campaign: TwoOfEach): Promise<string> {
  const { apis, rounds } = campaign;
  return withCleanup(async (open) => {
    const mysql = await open(PrivateMysql.start(), (own) => own.remove());
    const server = await open(PrivateTemporal.start(), (own) => own.remove());
    const { temporal } = server;
    const db = await open(freshDatabase(mysql.adminUrl, 'money_fleet'), (own) => own.close());
    const cutter = await open(Proxy.open(db.url), (own) => own.close());
    const starting = Fleet.start({ mysqlUrl: cutter.through(db.url), temporal, apis });
    const fleet = await open(starting, (own) => own.end());
    const { baseUrl } = fleet;
    const { clients: count, pauseMs, rest = 1 } = campaign;
    const payouts = await SteadyPayouts.start(db, baseUrl, rest);
    const clients = await Clients.start(db, baseUrl, count, pauseMs, REACHED_MS);
    const waiting = await WaitingClients.start(
      { db, temporal, baseUrl },
      Math.ceil(count / 2),
      rest * WAITING_PAUSE_MS,
    );
    const others = await OtherWork.start(db, baseUrl, campaign);
    const faults = faultsOf({ mysql, server, cutter, fleet, clients, waiting }, rest);
    const happening = happenAll(faults, clients, campaign);
    const failing = [clients, others].map(({ running }) => running.then(() => happening));
    await waiting.during(payouts.during(Promise.race([happening, ...failing])));
    clients.stop();
    waiting.stop();
    const told = await Promise.all([payouts.finish(), others.finish()]);
    told.push(await waiting.finish(), await clients.finish());
    return `${apis} API processes and 2 workers, ${counted(rounds, 'round')} of faults (${faults.map(({ name }) => name).join(', ')}): ${told.join('; ')}`;
  });
}

async function happenAll(
  faults: readonly Fault[],
  clients: Clients,
  { rounds, calmMs }: TwoOfEach,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1)
    for (const { happen } of faults) {
      await happen(round);
      await clients.progress(REACHED_MS);
      await sleep(calmMs * (0.5 + Math.random()));
    }
}

function faultsOf(stage: Stage, rest: number): readonly Fault[] {
  const { apis, workers } = stage.fleet;
  return [
    {
      name: 'all processes killed at once and ended at each failpoint',
      happen: (round) =>
        Promise.all([endAtEach(apis, OF_API, round), endAtEach(workers, ofWorker(rest), round)]),
    },
    { name: 'commits cut before, after and while they happen', happen: () => cutCommits(stage) },
    { name: 'MySQL killed', happen: () => killMysql(stage) },
    { name: 'MySQL frozen until requests are refused', happen: () => freezeMysql(stage) },
    { name: 'Temporal killed', happen: () => killTemporal(stage) },
  ];
}

interface End {
  readonly failpoint: Failpoint;
  /** In the first round. */
  readonly passing: number;
  /** The variables that the process has beside its usual ones. */
  readonly environment: Readonly<Record<string, string>>;
}

const endsAt = (
  failpoints: readonly Failpoint[],
  passing: number,
  environment: End['environment'] = {},
): readonly End[] => failpoints.map((failpoint) => ({ failpoint, passing, environment }));

/** At the others a command has stored nothing yet: a short form leaves those to the API processes, which post as the workers do. */
const COMMITS = ['before_commit', 'after_commit'] as const;

const OF_API = endsAt([...OUTBOX_FAILPOINTS, ...LEDGER_FAILPOINTS], 2);

/**
 * All failpoints, those around the COMMIT also where only batches post. What Temporal repeats latest comes first. By its later sends, a
 * sender is in the midst of the log. Each worker serves only what reaches its failpoint, since every queue delays its start.
 */
const ofWorker = (rest: number): readonly End[] => [
  ...endsAt(['after_commit'], 1, serving('batches')),
  ...endsAt(WEBHOOK_FAILPOINTS, Math.ceil(30 / rest), serving('webhooks')),
  ...endsAt(RAIL_FAILPOINTS, 2, serving('payouts')),
  ...endsAt(['before_commit'], 1, serving('batches')),
  ...endsAt(
    [...OUTBOX_FAILPOINTS, ...(rest > 1 ? COMMITS : LEDGER_FAILPOINTS)],
    2,
    serving('approvals'),
  ),
];

/**
 * Kills all of them at once. Then each takes the next end that is left, starts, and ends there, again and again. One that finds none
 * left stays away until the others have reached theirs, so that all work comes to those.
 */
async function endAtEach(
  processes: readonly ServiceProcess[],
  ends: readonly End[],
  round: number,
): Promise<void> {
  await Promise.all(processes.map((one) => one.kill()));
  const rest = ends.values();
  const endInTurn = async (one: ServiceProcess): Promise<void> => {
    for (const { failpoint, passing, environment } of rest)
      await one.endAt(failpoint, passing + (round % 7), environment);
  };
  await Promise.all(processes.map(endInTurn));
  await Promise.all(processes.map((one) => one.start()));
}

const CUTS: readonly Cut[] = ['cut_before', 'cut_after', 'cut_racing'];

/** Cuts every second COMMIT that binds a key, in each way in turn. */
async function cutCommits({ cutter }: Stage): Promise<void> {
  let [commits, cuts] = [0, 0];
  cutter.fateOf = (data) =>
    isCommit(data) && data.includes(idempotencyKeys.name) && (commits += 1) % 2 === 0
      ? CUTS[(cuts += 1) % CUTS.length]!
      : 'pass';
  await until('commits are cut', () => cuts >= CUTS_OF_EACH * CUTS.length, LIMIT);
  cutter.fateOf = () => 'pass';
}

const LIMIT = { limitMs: REACHED_MS };

async function killMysql({ mysql, clients }: Stage): Promise<void> {
  await mysql.kill();
  await untilRefused(clients);
  await mysql.start();
}

async function freezeMysql({ mysql, clients }: Stage): Promise<void> {
  mysql.freeze();
  await untilRefused(clients).finally(() => mysql.thaw());
}

async function untilRefused(clients: Clients): Promise<void> {
  const { refused } = clients;
  await until('a request is refused', () => clients.refused > refused, LIMIT);
}

/** Stays away until transfers are made and decided without it. */
async function killTemporal({ server, clients, waiting }: Stage): Promise<void> {
  await server.kill();
  const { decided } = waiting;
  await until('transfers are decided without Temporal', () => waiting.decided > decided + 1, LIMIT);
  await clients.progress(REACHED_MS);
  await server.start();
}
