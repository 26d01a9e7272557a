import { setTimeout as sleep } from 'node:timers/promises';
import type { Failpoint } from '../../src/core/failpoints.js';
import { ApiProcess } from '../support/api-process.js';
import type { TestDatabase } from '../support/database.js';
import { PrivateMysql } from '../support/private-mysql.js';
import { Clients } from './clients.js';
import { freshDatabase } from '../support/database.js';

interface KillCampaign {
  readonly kills: number;
  readonly clients: number;
}

/** How long the clients work between two kills. */
const BETWEEN_MS = 300;
/** Within this a request is answered 503 when MySQL does not answer. */
const MAX_ANSWER_MS = 5_000;

/** The API is killed again and again under load. */
export async function killApiCampaign(
  db: TestDatabase,
  { kills, clients: count }: KillCampaign,
): Promise<string> {
  const api = await ApiProcess.start(db.url);
  try {
    const clients = await Clients.start(db, api.baseUrl, count);
    for (let kill = 0; kill < kills; kill += 1) {
      await sleep(BETWEEN_MS * (0.5 + Math.random()));
      await api.kill();
      await api.start();
    }
    await sleep(BETWEEN_MS);
    return `API killed ${kills} times: ${await clients.finish()}`;
  } finally {
    await api.kill();
  }
}

/** The API ends itself at the failpoints in turn, `kills` times at each, at another passing each time. */
export async function failpointCampaign(
  db: TestDatabase,
  failpoints: readonly Failpoint[],
  { kills, clients: count }: KillCampaign,
): Promise<string> {
  const api = await ApiProcess.prepare(db.url);
  try {
    const clients = await Clients.start(db, api.baseUrl, count);
    for (let kill = 0; kill < kills; kill += 1)
      for (const failpoint of failpoints) await api.endAt(failpoint, 20 + (kill % 30));
    await api.start();
    await sleep(BETWEEN_MS);
    return `API ended at ${failpoints.join(', ')}, ${kills} time(s) each: ${await clients.finish()}`;
  } finally {
    await api.kill();
  }
}

/** MySQL is killed again and again under load. */
export async function killMysqlCampaign({ kills, clients: count }: KillCampaign): Promise<string> {
  const mysql = await PrivateMysql.start();
  try {
    const db = await freshDatabase(mysql.adminUrl, 'money_kill');
    const api = await ApiProcess.start(db.url);
    try {
      const clients = await Clients.start(db, api.baseUrl, count);
      for (let kill = 0; kill < kills; kill += 1) {
        await sleep(BETWEEN_MS * (0.5 + Math.random()));
        await mysql.kill();
        await mysql.start();
      }
      await sleep(BETWEEN_MS);
      return `MySQL killed ${kills} times: ${await clients.finish()}`;
    } finally {
      await api.kill();
      await db.close();
    }
  } finally {
    await mysql.remove();
  }
}

interface AwayCampaign {
  readonly awayMs: number;
  readonly clients: number;
}

/** MySQL neither answers nor hangs up for a while: 503 within 5 s, normal within 10 s of its return. */
export async function frozenMysqlCampaign({
  awayMs,
  clients: count,
}: AwayCampaign): Promise<string> {
  const mysql = await PrivateMysql.start();
  try {
    const db = await freshDatabase(mysql.adminUrl, 'money_frozen');
    const api = await ApiProcess.start(db.url);
    try {
      const clients = await Clients.start(db, api.baseUrl, count);
      await sleep(BETWEEN_MS);
      mysql.freeze();
      await sleep(awayMs);
      const before = clients.answered;
      mysql.thaw();
      const back = performance.now();
      while (clients.answered < before + count) {
        if (performance.now() - back > 10_000) throw new Error('not normal within 10 s');
        await sleep(20);
      }
      const normalMs = Math.round(performance.now() - back);
      if (!api.isRunning) throw new Error('the API ended');
      const summary = await clients.finish();
      const slowestMs = Math.round(clients.slowestAnswerMs);
      if (slowestMs > MAX_ANSWER_MS)
        throw new Error(`a request was answered after ${slowestMs} ms`);
      return `MySQL away for ${awayMs} ms, every request answered within ${slowestMs} ms, normal ${normalMs} ms after its return: ${summary}`;
    } finally {
      await api.kill();
      await db.close();
    }
  } finally {
    mysql.thaw();
    await mysql.remove();
  }
}
