import { setTimeout as sleep } from 'node:timers/promises';
import {
  BRIDGE_FAILPOINTS,
  DESK_FAILPOINTS,
  DRAIN_FAILPOINTS,
  type Failpoint,
} from '../../src/core/failpoints.js';
import { Fleet } from '../support/fleet.js';
import { PrivateMysql } from '../support/private-mysql.js';
import { PrivateTemporal } from '../support/private-temporal.js';
import { isCommit, Proxy } from '../support/proxy.js';
import type { ServiceProcess } from '../support/service-process.js';
import { serving } from '../support/temporal.js';
import { Clients } from './clients.js';
import { OtherWork } from './other-work.js';
import { WaitingClients } from './waiting-clients.js';
import { freshDatabase } from '../support/database.js';

interface TwoOfEach {
  /** How often every fault comes; each time at another process. */
  readonly rounds: number;
  readonly clients: number;
  /** What each rests between two transfers: a short form shows the same with what leaves the processors to others. None unless said. */
  readonly pauseMs?: number;
  /** Between what was broken is back and the next fault. */
  readonly calmMs: number;
  /** Of each batch, one after the other. */
  readonly rows: number;
  /** Between two batches; none unless said. */
  readonly betweenBatchesMs?: number;
}

/** What may happen, and what is back when it resolves. */
interface Fault {
  readonly name: string;
  readonly happen: (round: number) => Promise<unknown>;
}

const ALL_BUT_PAYOUTS = serving('approvals', 'batches', 'webhooks');
const FROZEN_MS = 3_000;
const CUTS = 10;
const CUTS_MS = 10_000;
/** At a failpoint whose turn does not come, the process is killed all the same. */
const FAILPOINT_MS = 10_000;
const PAUSE_MS = 50;
/** Any faster, and Temporal falls minutes behind on two cores: the end then takes longer than the faults. */
const WAITING_PAUSE_MS = 500;

/**
 * Everything at once on two API processes behind a proxy and two workers: transfers, what waits for approval, webhooks and batches,
 * while each of the processes, MySQL and Temporal fail in every way that a campaign knows. What every client was told is true, each
 * resource has one end, each event arrives, each row is paid once.
 */
export async function twoOfEachCampaign(campaign: TwoOfEach): Promise<string> {
  const [mysql, server] = await Promise.all([PrivateMysql.start(), PrivateTemporal.start()]);
  const { temporal } = server;
  try {
    const db = await freshDatabase(mysql.adminUrl, 'money_fleet');
    const cutter = await Proxy.open(db.url);
    const fleet = await Fleet.start({
      mysqlUrl: cutter.through(db.url),
      temporal,
      environment: ALL_BUT_PAYOUTS,
    });
    try {
      const { baseUrl } = fleet;
      const clients = await Clients.start(db, baseUrl, campaign.clients, campaign.pauseMs);
      const waiting = await WaitingClients.start(
        { db, temporal, baseUrl },
        Math.ceil(campaign.clients / 2),
        WAITING_PAUSE_MS,
      );
      const others = await OtherWork.start(db, baseUrl, campaign);
      const faults = faultsOf(fleet, mysql, server, cutter);
      await waiting.during(happenAll(faults, campaign));
      // What waits comes to its end sooner where nobody adds to it.
      clients.stop();
      const told = [await others.finish(), await waiting.finish(), await clients.finish()];
      return `2 API and 2 worker processes behind a proxy, ${faults.map(({ name }) => name).join(', ')}, ${campaign.rounds} time(s) each: ${told.join('; ')}`;
    } finally {
      await fleet.end();
      await cutter.close();
      await db.close();
    }
  } finally {
    await server.remove();
    await mysql.remove();
  }
}

async function happenAll(faults: readonly Fault[], { rounds, calmMs }: TwoOfEach): Promise<void> {
  for (let round = 0; round < rounds; round += 1)
    for (const { happen } of faults) {
      await happen(round);
      await sleep(calmMs * (0.5 + Math.random()));
    }
}

function faultsOf(
  fleet: Fleet,
  mysql: PrivateMysql,
  server: PrivateTemporal,
  cutter: Proxy,
): readonly Fault[] {
  const oneOf = <T>(all: readonly T[], round: number): T => all[round % all.length]!;
  const kill = async (one: {
    kill(): Promise<unknown>;
    start(): Promise<unknown>;
  }): Promise<void> => {
    await one.kill();
    await one.start();
  };
  const { apis, workers } = fleet;
  return [
    { name: 'both API processes killed at once', happen: () => Promise.all(apis.map(kill)) },
    { name: 'both workers killed at once', happen: () => Promise.all(workers.map(kill)) },
    {
      name: 'an API process killed, and then ended at a failpoint',
      happen: (round) => endAt(oneOf(apis, round), OF_API, round),
    },
    {
      name: 'a worker killed, and then ended at a failpoint',
      happen: (round) => endAt(oneOf(workers, round), OF_WORKER, round),
    },
    { name: 'commits cut', happen: () => cutCommits(cutter) },
    { name: 'MySQL killed', happen: () => kill(mysql) },
    { name: `MySQL frozen for ${FROZEN_MS} ms`, happen: () => freeze(mysql) },
    { name: 'Temporal killed', happen: () => kill(server) },
  ];
}

const OF_API: readonly Failpoint[] = [...DESK_FAILPOINTS, ...BRIDGE_FAILPOINTS];
const OF_WORKER: readonly Failpoint[] = [
  ...DRAIN_FAILPOINTS,
  ...BRIDGE_FAILPOINTS,
  ...DESK_FAILPOINTS,
];

async function endAt(
  process: ServiceProcess,
  failpoints: readonly Failpoint[],
  round: number,
): Promise<void> {
  await process.kill();
  const TEST_FAILPOINT = `${failpoints[round % failpoints.length]!}:${2 + (round % 7)}`;
  // It may end before anybody has asked whether it is ready.
  await process.start({ TEST_FAILPOINT }).catch(() => undefined);
  await Promise.race([process.ended(), sleep(FAILPOINT_MS)]);
  await process.kill();
  await process.start();
}

async function cutCommits(cutter: Proxy): Promise<void> {
  const before = cutter.cuts;
  let commit = 0;
  cutter.fateOf = (data) =>
    isCommit(data) && (commit += 1) % 3 === 0 ? FATES[commit % FATES.length]! : 'pass';
  const end = performance.now() + CUTS_MS;
  while (cutter.cuts < before + CUTS && performance.now() < end) await sleep(PAUSE_MS);
  cutter.fateOf = () => 'pass';
}

const FATES = ['cut_before', 'cut_after', 'cut_racing'] as const;

async function freeze(mysql: PrivateMysql): Promise<void> {
  mysql.freeze();
  await sleep(FROZEN_MS);
  mysql.thaw();
}
