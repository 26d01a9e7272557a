import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { tokens } from '../../src/db/entities/parties.js';
import { isUnavailable } from '../../src/db/failures.js';
import { updateSql } from '../../src/db/statements.js';
import { instant } from '../../src/core/instant.js';
import { request } from '../helpers/api.js';
import { ApiProcess } from '../helpers/api-process.js';
import { freshDatabase, openDatabase, type TestDatabase } from '../helpers/database.js';
import { type GroupedServer, urlOfAll } from '../helpers/grouped-servers.js';
import { MysqlGroup } from '../helpers/mysql-group.js';
import { makeTenant, makeToken } from '../helpers/world.js';
import { Clients } from './clients.js';

interface FailoverCampaign {
  readonly clients: number;
  /** The pause of each client between two transfers. A short run with a pause shows the same. By default none. */
  readonly pauseMs?: number;
  /** The primary gives its place to another, as for maintenance. */
  readonly switchovers: number;
  /** The primary is killed. */
  readonly kills: number;
  /** The primary is stopped until another has taken its place, and goes on. */
  readonly pauses: number;
  /** The primary is cut off from the others, while the service reaches it as before, and comes back. */
  readonly cuts: number;
  /** How long nothing may be acknowledged. */
  readonly maxOutageMs: number;
  /** Hears of each event. */
  readonly onEvent?: (line: string) => void;
}

type Event = (group: MysqlGroup, primary: GroupedServer) => Promise<() => Promise<void>>;

/** How old at most what is read may be. */
const MAX_STALE_MS = 2_000;
const BETWEEN_MS = 500;
const ASK_EVERY_MS = 25;
const PASSWORD = 'test-only';
const DATABASE = 'money_failover';

/** Each does its harm and answers how it is healed. */
export const EVENTS: Readonly<Record<'switchovers' | 'kills' | 'pauses' | 'cuts', Event>> = {
  switchovers: async (group, primary) => {
    await group.handOver(primary);
    return () => Promise.resolve();
  },
  kills: async (_, primary) => {
    await primary.kill();
    return () => primary.start();
  },
  pauses: (_, primary) => {
    primary.freeze();
    return Promise.resolve(() => Promise.resolve(primary.thaw()));
  },
  cuts: async (group, primary) => {
    await primary.cutOff(group.members.filter((member) => member !== primary));
    return () => primary.rejoinNetwork();
  },
};

/** A group loses its primary in every way, again and again, under clients of two API processes. */
export async function failoverCampaign(campaign: FailoverCampaign): Promise<string[]> {
  const group = await MysqlGroup.start(3);
  try {
    const db = await databaseOn(group);
    const apis = await Promise.all([ApiProcess.start(db.url), ApiProcess.start(db.url)]);
    try {
      return await withClients(group, db, apis, campaign);
    } finally {
      await Promise.all(apis.map((api) => api.kill()));
      await db.close();
    }
  } finally {
    await group.remove();
  }
}

/** Made on the primary; used wherever that is. */
export async function databaseOn(group: MysqlGroup): Promise<TestDatabase> {
  const made = await freshDatabase((await group.primary()).url, DATABASE);
  await made.close();
  const url = urlOfAll(group, DATABASE, PASSWORD, DATABASE);
  const database = openDatabase(url);
  return { ...made, url, database, close: () => database.close() };
}

async function withClients(
  group: MysqlGroup,
  db: TestDatabase,
  apis: readonly ApiProcess[],
  campaign: FailoverCampaign,
): Promise<string[]> {
  const clients = await Clients.start(db, apis[0]!.baseUrl, campaign.clients, campaign.pauseMs);
  const readers = apis.map((api) => new Reader(clients, api, campaign.pauseMs ?? ASK_EVERY_MS));
  try {
    return await runEvents(group, db, clients, readers, campaign);
  } finally {
    // Before the processes that they ask are ended.
    await Promise.allSettled(readers.map((reader) => reader.finish()));
  }
}

async function runEvents(
  group: MysqlGroup,
  db: TestDatabase,
  clients: Clients,
  readers: readonly Reader[],
  campaign: FailoverCampaign,
): Promise<string[]> {
  const lines: string[] = [];
  for (const [name, event] of Object.entries(EVENTS)) {
    const outagesMs: number[] = [];
    for (let times = campaign[name as keyof typeof EVENTS]; times > 0; times -= 1) {
      await sleep(BETWEEN_MS * (0.5 + Math.random()));
      const outageMs = await once(group, db, clients, readers, event, campaign.maxOutageMs);
      outagesMs.push(outageMs);
      campaign.onEvent?.(`${name}: ${Math.round(outageMs)} ms`);
    }
    if (outagesMs.length > 0)
      lines.push(
        `${outagesMs.length} ${name}: ${spread(outagesMs)} without an acknowledged transfer`,
      );
  }
  const reads = await Promise.all(readers.map((reader) => reader.finish()));
  const summary = await clients.finish();
  const [about] = await (await group.primary()).ask('SELECT VERSION() AS version');
  return [
    `${group.members.length} servers of ${String(about?.version)} in a group, ${campaign.clients} clients`,
    ...lines,
    `${summary}; the auditor found nothing`,
    `${reads.reduce((sum, { current }) => sum + current, 0)} reads meanwhile, and ${reads.reduce((sum, { refused }) => sum + refused, 0)} answered 503; none was older than ${MAX_STALE_MS} ms`,
  ];
}

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!);
  return `median ${at(0.5)} ms, longest ${at(1)} ms`;
}

/** Answers for how long no transfer was acknowledged. */
async function once(
  group: MysqlGroup,
  db: TestDatabase,
  clients: Clients,
  readers: readonly Reader[],
  event: Event,
  maxOutageMs: number,
): Promise<number> {
  const primary = await group.primary();
  const { text, token } = await untilWritten(async () =>
    makeToken(db.database, (await makeTenant(db.database)).owner, ['read']),
  );
  for (const reader of readers)
    while ((await reader.isTaken(text)) !== true) await sleep(ASK_EVERY_MS);
  clients.longestGapMs = 0;
  const heal = await event(group, primary);
  await clients.progress(maxOutageMs);
  // Only the new primary knows of this.
  await revoke(db, token.keyId);
  const revokedAt = performance.now();
  await heal();
  while (performance.now() < revokedAt + MAX_STALE_MS) await sleep(ASK_EVERY_MS);
  for (const reader of readers)
    assert.notEqual(await reader.isTaken(text), true, 'a revoked token was taken');
  await clients.progress(maxOutageMs);
  await group.allOnline();
  assert(
    clients.longestGapMs < maxOutageMs,
    `no transfer was acknowledged for ${clients.longestGapMs} ms`,
  );
  for (const reader of readers) reader.assertWell();
  return clients.longestGapMs;
}

/** Twice is once. */
async function revoke({ database }: TestDatabase, keyId: string): Promise<void> {
  const sql = updateSql(tokens, { revokedAt: instant(Date.now()) }, { keyId });
  await untilWritten(() => database.withTransaction((transaction) => transaction.execute(sql)));
}

/** Repeats the work until there is a primary, and after a COMMIT without an answer. */
async function untilWritten<T>(write: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await write();
    } catch (failure) {
      if (!isUnavailable(failure)) throw failure;
      await sleep(ASK_EVERY_MS);
    }
}

/** Reads again and again, of one process, what was acknowledged two seconds before; it must be there. */
class Reader {
  current = 0;
  refused = 0;
  private isRunning = true;
  private fault: unknown = null;
  private readonly running: Promise<void>;

  constructor(
    private readonly clients: Clients,
    private readonly api: ApiProcess,
    private readonly pauseMs: number,
  ) {
    this.running = this.run().catch((fault: unknown) => {
      this.fault = fault;
    });
  }

  private async run(): Promise<void> {
    for (; this.isRunning && this.fault === null; await sleep(this.pauseMs)) {
      const id = this.clients.acknowledgedBefore(MAX_STALE_MS);
      if (id === null) continue;
      const answer = await request(this.api.baseUrl, 'GET', `/v1/transfers/${id}`, {
        token: this.clients.token,
      });
      if (answer.status === 200) this.current += 1;
      else if (answer.status === 503) this.refused += 1;
      else
        this.fault = `${answer.status} for a transfer that was acknowledged ${MAX_STALE_MS} ms before`;
    }
  }

  /** Null where the process cannot tell. */
  async isTaken(token: string): Promise<boolean | null> {
    const { status } = await request(this.api.baseUrl, 'GET', '/v1/accounts', { token });
    return status === 503 ? null : status !== 401;
  }

  assertWell(): void {
    assert.equal(this.fault, null);
  }

  async finish(): Promise<Pick<Reader, 'current' | 'refused'>> {
    this.isRunning = false;
    await this.running;
    this.assertWell();
    return this;
  }
}
