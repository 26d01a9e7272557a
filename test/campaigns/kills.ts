import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { counted } from '../../src/core/collections.js';
import { LEDGER_FAILPOINTS } from '../../src/core/failpoints.js';
import { ApiProcess } from '../helpers/api-process.js';
import { freshDatabase } from '../helpers/database.js';
import { PrivateMysql } from '../helpers/private-mysql.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { Clients } from './clients.js';

interface Stage {
  readonly api: ApiProcess;
  readonly mysql: PrivateMysql;
  readonly clients: Clients;
}

/** How long the clients work between two kills. */
const BETWEEN_MS = 300;
/** Within this a request is answered 503 when MySQL does not answer. */
const MAX_ANSWER_MS = 5_000;
const MAX_NORMAL_MS = 10_000;

/** Transfers, captures and refunds by `count` clients, all of them resolved in the end, while `harm` is done to an API process or its MySQL. */
function underLoad(count: number, harm: (stage: Stage) => Promise<string>): Promise<string> {
  return withCleanup(async (open) => {
    const mysql = await open(PrivateMysql.start(), (own) => own.remove());
    const db = await open(freshDatabase(mysql.adminUrl, 'money_kills'), (own) => own.close());
    const api = await open(ApiProcess.start(db.url), (own) => own.kill());
    const clients = await Clients.start(db, api.baseUrl, count);
    const harmed = await harm({ api, mysql, clients });
    await sleep(BETWEEN_MS);
    return `${harmed}: ${await clients.finish()}`;
  });
}

/** The API or MySQL is killed again and again. */
export function killCampaign(
  victim: 'api' | 'mysql',
  { kills, clients }: { readonly kills: number; readonly clients: number },
): Promise<string> {
  return underLoad(clients, async (stage) => {
    for (let kill = 0; kill < kills; kill += 1) {
      await sleep(BETWEEN_MS * (0.5 + Math.random()));
      await stage[victim].kill();
      await stage[victim].start();
    }
    return `${victim === 'api' ? 'API' : 'MySQL'} killed ${kills} times`;
  });
}

/** The API ends itself at each failpoint of the ledger in turn, `rounds` times, at another passing each time. */
export function failpointCampaign(rounds: number, count: number): Promise<string> {
  return underLoad(count, async ({ api, clients }) => {
    for (let round = 0; round < rounds; round += 1)
      for (const failpoint of LEDGER_FAILPOINTS) await api.endAt(failpoint, 20 + (round % 30));
    await api.start();
    for (const [kind, repeated] of Object.entries(clients.repeated))
      assert(repeated > 0, `no ${kind} was cut off`);
    return `API ended at each failpoint ${counted(rounds, 'time')} (${LEDGER_FAILPOINTS.join(', ')})`;
  });
}

/** MySQL neither answers nor hangs up for a while: 503 within 5 s, normal within 10 s of its return. */
export function mysqlAway(awayMs: number, count: number): Promise<string> {
  return underLoad(count, async ({ api, mysql, clients }) => {
    await sleep(BETWEEN_MS);
    mysql.freeze();
    await sleep(awayMs).finally(() => mysql.thaw());
    const back = performance.now();
    await clients.progress(MAX_NORMAL_MS);
    const normalMs = Math.round(performance.now() - back);
    assert(api.isRunning, 'the API ended');
    const slowestMs = Math.round(clients.slowestAnswerMs);
    assert(slowestMs <= MAX_ANSWER_MS, `a request was answered after ${slowestMs} ms`);
    return `MySQL unavailable for ${awayMs} ms, every request answered within ${slowestMs} ms, recovery ${normalMs} ms after its return`;
  });
}
