import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPayoutBank, TEST_KEYRING } from '../payouts/support.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { ApiProcess } from '../support/api-process.js';
import { BankGateway } from '../support/bank-gateway.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { HttpReceiver } from '../support/http-receiver.js';
import { PrivateMysql } from '../support/private-mysql.js';
import { PrivatePrometheus, type PrometheusTools } from '../support/prometheus.js';
import { PrivateTemporal } from '../support/private-temporal.js';
import { temporalEnvironment } from '../support/temporal.js';
import { openHookedBank } from '../support/webhook-world.js';
import { WorkerProcess } from '../support/worker-process.js';
import { assertLedgerSound } from '../support/world.js';
import { Clients } from './clients.js';

interface AlertsCampaign {
  readonly tools: PrometheusTools;
  /** How often Prometheus scrapes and looks, in seconds. */
  readonly everyS: number;
  /** Within this an alert fires after its fault. */
  readonly withinMs: number;
  readonly onEvent: (line: string) => void;
}

const NAME = 'hanging';
/** For how long a fault that passes by itself is planted. */
const PLANTED_MS = 20_000;
const OVER_MS = 300_000;

/** A gateway that takes every order and never says a word. */
class HangingGateway extends BankGateway {
  protected override respond(): Promise<void> {
    return Promise.resolve();
  }
}

interface Stage extends AlertsCampaign {
  readonly db: TestDatabase;
  readonly mysql: PrivateMysql;
  readonly temporal: PrivateTemporal;
  readonly prometheus: PrivatePrometheus;
  readonly environment: Readonly<Record<string, string>>;
  /** In this process, to make tenants with. */
  readonly setting: TestApi;
  readonly receiver: HttpReceiver;
  readonly api: ApiProcess;
}

/** Clients that fill the queue of 5,000 commands and both groups in flight. */
const MORE_THAN_THE_QUEUE = 6_000;

interface Fault {
  readonly alert: string;
  readonly plant: (stage: Stage) => Promise<void>;
  /** Left out: nothing ends it but time. */
  readonly heal?: (stage: Stage) => Promise<void>;
  /** Whether the alert is over some time after the fault is. */
  readonly isOver: boolean;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'a full queue': {
    alert: 'QueueFull',
    isOver: true,
    // Not waited for: the alert is to fire while it lasts.
    plant: async ({ db, api }) => {
      const clients = await Clients.start(db, api.baseUrl, MORE_THAN_THE_QUEUE);
      void sleep(PLANTED_MS).then(() => clients.finish());
    },
    heal: () => sleep(PLANTED_MS),
  },
  'a rail that hangs': {
    alert: 'RailSilent',
    isOver: false,
    plant: async ({ setting }) => {
      const { pay } = await openPayoutBank(setting);
      await Promise.all(Array.from({ length: 3 }, () => pay()));
    },
  },
  'a receiver that fails': {
    alert: 'ReceiverFails',
    isOver: true,
    plant: async ({ setting, receiver }) => {
      receiver.reply = () => 500;
      const { sendMany } = await openHookedBank(setting, receiver);
      await sendMany(10);
    },
    heal: ({ receiver }) => {
      receiver.reply = () => 200;
      return Promise.resolve();
    },
  },
  'a contradiction in the ledger': {
    alert: 'AuditFinding',
    isOver: true,
    plant: async ({ db }) => {
      await db.change(
        `UPDATE balances SET available=available+7 WHERE overdraft=0 ORDER BY account_id LIMIT 1`,
      );
    },
    heal: async ({ db }) => {
      await db.change(
        `UPDATE balances SET available=available-7 WHERE overdraft=0 ORDER BY account_id LIMIT 1`,
      );
      await assertLedgerSound(db.database);
      // As `ops findings acknowledge` does; one that a step was about to store comes again.
      await sleep(5_000);
      await db.change(
        `UPDATE audit_findings SET acknowledged_at=NOW(3), acknowledged_by='the campaign'`,
      );
    },
  },
  'Temporal away': {
    alert: 'TemporalAway',
    isOver: true,
    plant: ({ temporal }) => temporal.kill(),
    heal: ({ temporal }) => temporal.start(),
  },
  'MySQL away': {
    alert: 'MysqlAway',
    isOver: true,
    plant: ({ mysql }) => mysql.kill(),
    heal: ({ mysql }) => mysql.start(),
  },
};

/** Each fault, one after the other, beside a real Prometheus that scrapes real processes: its alert fires in time. */
export async function alertsCampaign(campaign: AlertsCampaign): Promise<string[]> {
  const stage = await build(campaign);
  const { prometheus, withinMs, everyS, onEvent } = stage;
  try {
    const summaries: string[] = [];
    for (const [name, { alert, plant, heal, isOver }] of Object.entries(FAULTS)) {
      assert(!(await prometheus.firing()).has(alert), `${alert} fires before its fault`);
      const beganAt = performance.now();
      await plant(stage);
      await prometheus.untilFiring(alert, withinMs);
      const firedS = Math.round((performance.now() - beganAt) / 1_000);
      await heal?.(stage);
      if (isOver) await prometheus.untilSilent(alert, OVER_MS);
      summaries.push(`${name}: ${alert} after ${firedS} s${isOver ? ', and over again' : ''}`);
      onEvent(summaries.at(-1)!);
    }
    await assertLedgerSound(stage.db.database);
    return [`every alert within ${withinMs / 1_000} s, scraped every ${everyS} s`, ...summaries];
  } finally {
    await stage.remove();
  }
}

async function build(campaign: AlertsCampaign): Promise<Stage & { remove(): Promise<void> }> {
  const undo: (() => unknown)[] = [];
  const remove = async (): Promise<void> => {
    for (const step of undo.toReversed()) await step();
  };
  try {
    const mysql = await PrivateMysql.start();
    undo.push(() => mysql.remove());
    const temporal = await PrivateTemporal.start();
    undo.push(() => temporal.remove());
    const db = await freshDatabase(mysql.adminUrl, 'money_alerts');
    undo.push(() => db.close());
    const gateway = await new HangingGateway(NAME, TEST_KEYRING).start();
    undo.push(() => gateway.stop());
    const receiver = await new HttpReceiver().open();
    undo.push(() => receiver.close());
    const [key] = TEST_KEYRING;
    const environment = {
      ...temporalEnvironment(temporal.temporal),
      PAYOUT_RAILS: `*=http:${NAME}`,
      PAYOUT_RAIL_URLS: `${NAME}=${gateway.url}`,
      PAYOUT_RAIL_KEYS: `${NAME}=${key.id}:${key.secret.toString('base64')}`,
    };
    const audit = { AUDIT_PASS_EVERY_S: '10' };
    const setting = await startTestApi(db, environment, { receiver: 'real' });
    undo.push(() => setting.stop());
    const api = await ApiProcess.start(db.url, environment);
    undo.push(() => api.kill());
    const worker = await WorkerProcess.start(db.url, temporal.temporal, {
      ...environment,
      ...audit,
    });
    undo.push(() => worker.kill());
    const hostOf = (url: string): string => new URL(url).host;
    const targets = {
      'money-api': [hostOf(api.adminUrl)],
      'money-worker': [hostOf(worker.adminUrl)],
    };
    const prometheus = await PrivatePrometheus.start(campaign.tools, targets, campaign.everyS);
    undo.push(() => prometheus.remove());
    // What it knows of before a fault is what an increase is counted from.
    await sleep(3_000 * campaign.everyS);
    return {
      ...campaign,
      db,
      mysql,
      temporal,
      prometheus,
      environment,
      setting,
      receiver,
      api,
      remove,
    };
  } catch (failure) {
    await remove();
    throw failure;
  }
}
