import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { idempotencyKeys } from '../../src/db/entities/ledger.js';
import { transfers } from '../../src/db/entities/operations.js';
import type { Account } from '../../src/db/entities/parties.js';
import { request } from '../helpers/api.js';
import type { TestDatabase } from '../helpers/database.js';
import {
  assertLedgerSound,
  balanceOf,
  makeAccount,
  makeTenant,
  makeToken,
  openWriter,
} from '../helpers/world.js';

const ACCOUNTS = 5;
const FUNDS = 100_000_000_000n;
/** At least the smallest transfer. */
const RAW = 100_000n;
/** How long a key may take to be resolved once the service has recovered. */
const RESOLVE_MS = 60_000;
const ASK_AGAIN_MS = 50;

/**
 * Clients that transfer money over HTTP and, through all failures, repeat each request with its key until they know
 * its result. At the end the results are compared with the ledger.
 */
export class Clients {
  /** Requests that got an answer, and those that had to be asked more than once. */
  answered = 0;
  repeated = 0;
  /** Requests that were answered 503, or not at all. */
  refused = 0;
  /** Until a key was resolved, and until one request was answered, 503 included. */
  slowestMs = 0;
  slowestAnswerMs = 0;
  /** A time in which no transfer was acknowledged. */
  longestGapMs = 0;
  private lastAt = performance.now();
  private readonly acknowledged: { readonly id: string; readonly at: number }[] = [];
  private readonly told = new Map<string, string>();
  private isRunning = true;
  /** Rejects as soon as a client was told anything wrong. */
  running: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly db: TestDatabase,
    private readonly baseUrl: string,
    readonly token: string,
    private readonly accounts: readonly Account[],
    private readonly count: number,
    private readonly pauseMs: number,
    private readonly resolveMs: number,
  ) {}

  /** A tenant with accounts of its own, and `count` clients, each of which makes a transfer every `pauseMs` at most. */
  static async start(
    db: TestDatabase,
    baseUrl: string,
    count: number,
    pauseMs = 0,
    resolveMs = RESOLVE_MS,
  ): Promise<Clients> {
    const deps = { database: db.database, writer: openWriter(db.database).writer };
    const tenant = await makeTenant(db.database);
    const accounts: Account[] = [];
    for (let index = 0; index < ACCOUNTS; index += 1)
      accounts.push(await makeAccount(deps, tenant, { funds: { COPM: FUNDS } }));
    const { text } = await makeToken(db.database, tenant.owner, ['read', 'transfers']);
    const clients = new Clients(db, baseUrl, text, accounts, count, pauseMs, resolveMs);
    clients.running = Promise.all(Array.from({ length: count }, (_, index) => clients.work(index)));
    // Looked at in `finish`.
    clients.running.catch(() => undefined);
    return clients;
  }

  private async work(index: number): Promise<void> {
    for (let round = 0; this.isRunning; round += 1) {
      const from = this.accounts[(index + round) % ACCOUNTS]!;
      const to = this.accounts[(index + round + 1 + (round % (ACCOUNTS - 1))) % ACCOUNTS]!;
      await this.transfer(from, to);
      if (this.pauseMs > 0) await sleep(this.pauseMs);
    }
  }

  private async transfer(from: Account, to: Account): Promise<void> {
    const key = randomUUID();
    const body = {
      source_account: from.id,
      destination: { type: 'account', account_id: to.id },
      amount: { raw: RAW.toString(), asset: 'COPM' },
    };
    const began = performance.now();
    for (let asked = 1; ; asked += 1) {
      const sent = performance.now();
      const answer = await request(this.baseUrl, 'POST', '/v1/transfers', {
        token: this.token,
        body,
        key,
      }).catch(() => null);
      if (answer !== null)
        this.slowestAnswerMs = Math.max(this.slowestAnswerMs, performance.now() - sent);
      if (answer !== null && answer.status !== 503) {
        assert([200, 201].includes(answer.status), `${answer.status} ${answer.text}`);
        // 200 to the first request would be a replay of nothing.
        assert(asked > 1 || answer.status === 201, answer.text);
        this.told.set(key, String(answer.json.id));
        this.acknowledge(String(answer.json.id));
        if (asked > 1) this.repeated += 1;
        this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
        return;
      }
      this.refused += 1;
      const tookMs = performance.now() - began;
      assert(tookMs < this.resolveMs, `a key was not resolved within ${this.resolveMs} ms`);
      await sleep(ASK_AGAIN_MS);
    }
  }

  private acknowledge(id: string): void {
    const now = performance.now();
    this.longestGapMs = Math.max(this.longestGapMs, now - this.lastAt);
    this.lastAt = now;
    this.answered += 1;
    this.acknowledged.push({ id, at: now });
  }

  /** The youngest transfer that was acknowledged so long ago, or null. */
  acknowledgedBefore(ms: number): string | null {
    const until = performance.now() - ms;
    const next = this.acknowledged.findIndex(({ at }) => at > until);
    const old = this.acknowledged.splice(0, next < 0 ? this.acknowledged.length : next);
    const youngest = old.at(-1);
    if (youngest === undefined) return null;
    // It stays for those that ask before there is a younger one.
    this.acknowledged.unshift(youngest);
    return youngest.id;
  }

  /** Resolves when every client may have been answered once more; fails when none is within the time. */
  async progress(withinMs: number): Promise<void> {
    const wanted = this.answered + this.count;
    const until = performance.now() + withinMs;
    while (this.answered < wanted) {
      assert(performance.now() < until, `nothing was acknowledged within ${withinMs} ms`);
      await sleep(ASK_AGAIN_MS);
    }
  }

  /** Each ends with what it is at. */
  stop(): void {
    this.isRunning = false;
  }

  /** Lets every client finish, and compares what they were told with the ledger. */
  async finish(): Promise<string> {
    this.stop();
    await this.running;
    const { database } = this.db;
    const { tenantId } = this.accounts[0]!;
    const keys = (await database.reader.select(idempotencyKeys, { tenantId })).filter((key) =>
      this.told.has(key.idempotencyKey),
    );
    assert.equal(keys.length, this.told.size);
    for (const { idempotencyKey, resourceId } of keys)
      assert.equal(resourceId, this.told.get(idempotencyKey));
    const made = await database.reader.select(transfers, { tenantId });
    assert.deepEqual(made.map(({ id }) => id).sort(), [...this.told.values()].sort());
    const balances = await Promise.all(
      this.accounts.map((account) => balanceOf(database, account.id)),
    );
    assert.equal(
      balances.reduce((sum, { available }) => sum + available, 0n),
      FUNDS * BigInt(ACCOUNTS),
    );
    await assertLedgerSound(database);
    return `${this.answered} transfers, ${this.repeated} of them repeated with their key, every result known within ${Math.round(this.slowestMs)} ms; none made twice, none lost`;
  }
}
