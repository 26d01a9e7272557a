import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupBy } from '../../src/core/collections.js';
import { idempotencyKeys } from '../../src/db/entities/ledger.js';
import { type Transfer, transfers } from '../../src/db/entities/operations.js';
import type { Account } from '../../src/db/entities/parties.js';
import { request, type TestAnswer } from '../helpers/api.js';
import { type Json, LEAST, transferBody } from '../helpers/bank.js';
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
const RAW = LEAST;
const CAPTURED = LEAST - 1n;
const REFUNDED = LEAST / 3n;
/** How long a key may take to be resolved once the service has recovered. */
const RESOLVE_MS = 60_000;
const ASK_AGAIN_MS = 50;

/** Of a new transfer, its metadata, its capture or a refund of it. */
type Kind = 'transfer' | 'metadata' | 'capture' | 'refund';
/** Of the request that acts; a replay is 200. */
const FIRST_STATUS = { transfer: 201, metadata: 200, capture: 200, refund: 201 } as const;

interface Sent {
  readonly kind: Kind;
  readonly path: string;
  readonly body: object;
  readonly key: string | null;
}

interface Known extends Sent {
  readonly json: Json;
}

const amount = (raw: bigint): Json => ({ raw: raw.toString(), asset: 'COPM' });

/**
 * Clients that transfer money over HTTP, at once or by a capture and with refunds. Through all failures they repeat each
 * request with its key until they know its result. At the end the results are compared with the ledger.
 */
export class Clients {
  /** Requests that got an answer, and those that had to be sent more than once. */
  answered = 0;
  readonly repeated: Record<Kind, number> = { transfer: 0, metadata: 0, capture: 0, refund: 0 };
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
      if ((index + round) % 2 === 0)
        await this.ask('transfer', '/v1/transfers', transferBody({ from, to, raw: RAW }));
      else await this.captureAndRefund(from, to, round);
      if (this.pauseMs > 0) await sleep(this.pauseMs);
    }
  }

  /** Holds an amount, labels it, captures a part and sends that back in two refunds. */
  private async captureAndRefund(from: Account, to: Account, round: number): Promise<void> {
    const body = { ...transferBody({ from, to, raw: RAW }), capture: 'manual' };
    const held = await this.ask('transfer', '/v1/transfers', body);
    const path = `/v1/transfers/${String(held.json.id)}`;
    await this.ask('metadata', path, { metadata: { step: 'held', gone: 'x' } });
    const done = [
      held,
      await this.ask('capture', `${path}/capture`, { amount: amount(CAPTURED) }),
      await this.ask('refund', `${path}/refunds`, { amount: amount(REFUNDED) }),
      await this.ask('refund', `${path}/refunds`, {}),
    ];
    const change = { metadata: { step: 'refunded', gone: null } };
    const { json } = await this.ask('metadata', path, change);
    assert.deepEqual(
      [json.status, json.captured, json.refunded, json.metadata],
      ['completed', amount(CAPTURED), amount(CAPTURED), { step: 'refunded' }],
    );
    await this.assertBound(done[round % done.length]!);
  }

  /** The key stays bound to what it made, and is refused for anything else. */
  private async assertBound({ kind, path, body, key, json }: Known): Promise<void> {
    const { id } = json;
    const again = await this.known({ kind, path, body, key });
    const isReplay = again.headers.get('svc-idempotent-replayed') === 'true';
    assert.deepEqual([again.status, again.json.id, isReplay], [200, id, true], again.text);
    const other = await this.known({ kind, path, key, body: { ...body, amount: amount(1n) } });
    assert.equal(other.code, 'idempotency_key_reused', other.text);
  }

  /** Returns the result of a request that was never sent before. */
  private async ask(kind: Kind, path: string, body: object): Promise<Known> {
    const sent = { kind, path, body, key: kind === 'metadata' ? null : randomUUID() };
    const answer = await this.known(sent, (isFirst, { status, headers, text }) => {
      assert([200, FIRST_STATUS[kind]].includes(status), `${status} ${text}`);
      // A replay to the first request would be one of nothing.
      const isReplay = headers.get('svc-idempotent-replayed') !== null;
      assert(!isFirst || (status === FIRST_STATUS[kind] && !isReplay), text);
      if (!isFirst) this.repeated[kind] += 1;
    });
    const id = String(answer.json.id);
    if (sent.key !== null) this.told.set(sent.key, id);
    this.acknowledge(id);
    return { ...sent, json: answer.json };
  }

  /** Repeats the request, with its key, until its result is known. */
  private async known(
    { kind, path, body, key }: Sent,
    check: (isFirst: boolean, answer: TestAnswer) => void = () => undefined,
  ): Promise<TestAnswer> {
    const began = performance.now();
    const method = kind === 'metadata' ? 'PATCH' : 'POST';
    const options = { token: this.token, body, key };
    for (let asked = 1; ; asked += 1) {
      const sent = performance.now();
      const answer = await request(this.baseUrl, method, path, options).catch(() => null);
      const now = performance.now();
      if (answer !== null) this.slowestAnswerMs = Math.max(this.slowestAnswerMs, now - sent);
      if (answer !== null && answer.status !== 503) {
        check(asked === 1, answer);
        this.slowestMs = Math.max(this.slowestMs, now - began);
        return answer;
      }
      this.refused += 1;
      assert(now - began < this.resolveMs, `a key was not resolved within ${this.resolveMs} ms`);
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
    const told = [...new Set(this.told.values())];
    assert.deepEqual(made.map(({ id }) => id).sort(), told.sort());
    assertRefunded(made);
    const balances = await Promise.all(
      this.accounts.map((account) => balanceOf(database, account.id)),
    );
    assert.equal(
      balances.reduce((sum, { available }) => sum + available, 0n),
      FUNDS * BigInt(ACCOUNTS),
    );
    await assertLedgerSound(database);
    const repeated = Object.entries(this.repeated).map(([kind, count]) => `${count} ${kind}`);
    return `${this.answered} requests for transfers, metadata, captures and refunds, repeated until their result was known: ${repeated.join(', ')}, every result known within ${Math.round(this.slowestMs)} ms; none made twice, none lost`;
  }
}

/** Everything that was captured has gone back once, in the refunds that were made. */
function assertRefunded(made: readonly Transfer[]): void {
  const refunds = groupBy(made, ({ refundOfId }) => refundOfId);
  for (const one of made.filter(({ captureWithinS }) => captureWithinS !== null)) {
    const back = refunds.get(one.id)?.map(({ raw }) => raw);
    assert.deepEqual(back?.toSorted(), [REFUNDED, CAPTURED - REFUNDED].toSorted());
    assert.deepEqual([one.refundedRaw, one.refundingRaw], [CAPTURED, 0n]);
  }
}
