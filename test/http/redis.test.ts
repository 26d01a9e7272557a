import assert from 'node:assert/strict';
import { eachRateClass, type RateState } from '../../src/http/rate-limit.js';
import { SharedRateLimiter } from '../../src/http/shared-rate-limit.js';
import { request, startTestApi, type TestApi } from '../helpers/api.js';
import { openBank } from '../helpers/bank.js';
import { type TestDatabase, testDatabase } from '../helpers/database.js';
import { freePorts } from '../helpers/service-process.js';
import { REDIS_SERVER, TestRedis } from '../helpers/redis.js';
import { until } from '../helpers/temporal.js';

const RATE = { perSecond: 0.1, burst: 20 };
/** Where a busy machine must not look like a Redis that hangs. */
const PATIENT_MS = 10_000;

/** How many requests these processes have decided without Redis. */
async function decidedAlone(apis: readonly TestApi[]): Promise<number> {
  const texts = await Promise.all(
    apis.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()),
  );
  return texts.reduce(
    (sum, text) => sum + Number(/^rate_limit_decided_alone_total (\d+)/m.exec(text)?.[1]),
    0,
  );
}

/** A limiter of one process, and what it told. */
function limiterOver(url: string, { processes = 1, rate = RATE, answerMs = PATIENT_MS } = {}) {
  const changes: boolean[] = [];
  const seen = { alone: 0 };
  const limiter = new SharedRateLimiter(
    url,
    eachRateClass(() => rate),
    processes,
    { changed: (isThere) => changes.push(isThere), decidedLocally: () => (seen.alone += 1) },
    answerMs,
  );
  const take = (token: string): Promise<RateState> => limiter.take('requests', token);
  return { limiter, changes, seen, take };
}

describe('a shared rate limit', () => {
  let redis: TestRedis;

  before(async function () {
    if (REDIS_SERVER === undefined) this.skip();
    redis = await TestRedis.start(REDIS_SERVER);
  });

  after(async () => {
    if (REDIS_SERVER !== undefined) await redis.remove();
  });

  const connected = async (processes = 1, rate = RATE, answerMs = PATIENT_MS) => {
    const own = limiterOver(redis.url, { processes, rate, answerMs });
    await until('it is connected', () => own.limiter.isReady);
    return own;
  };

  it('grants one burst to all processes together, reports the remaining requests, and refuses further requests', async () => {
    const processes = await Promise.all([1, 2, 3, 4].map(() => connected(4)));
    for (let count = 0; count < 24; count += 1) {
      const state = await processes[count % 4]!.take('token');
      const { allowed, remaining, limit, retryAfterS, resetS } = state;
      assert.deepEqual([allowed, remaining, limit], [count < 20, Math.max(0, 19 - count), 20]);
      if (!allowed)
        assert(retryAfterS <= 10 && resetS <= 200 && resetS > 180, `${retryAfterS} ${resetS}`);
    }
    assert.equal((await processes[0]!.take('another token')).remaining, 19);
    for (const { limiter, seen } of processes) {
      assert.equal(seen.alone, 0);
      limiter.close();
    }
  });

  it('without its store a shared rate limit refuses no request, and is shared again once the store is back without its scripts', async () => {
    const { take, limiter, changes } = await connected(2);
    await redis.kill();
    for (let count = 0; count < 11; count += 1)
      assert.equal((await take('gone')).allowed, count < 10, 'its share of the burst');
    await redis.begin();
    await until('it is shared again', async () => {
      await take('back');
      return changes.at(-1);
    });
    assert.equal((await take('gone')).limit, 20);
    limiter.close();
  });

  it('holds for two API processes: of 60 requests only the burst passes, and there is no 5xx while Redis hangs', async () => {
    const db: TestDatabase = await testDatabase();
    const environment = { REDIS_URL: redis.url, RATE_LIMITS: 'requests=1/30' };
    const processes = [await startTestApi(db, environment), await startTestApi(db, environment)];
    const bank = await openBank(processes[0]!);
    const ask = async (count: number, token: string): Promise<number[]> => {
      const statuses: number[] = [];
      while (statuses.length < count) {
        const asked = processes.map(({ baseUrl }) =>
          request(baseUrl, 'GET', '/v1/events', { token }),
        );
        statuses.push(...(await Promise.all(asked)).map(({ status }) => status));
      }
      return statuses;
    };
    await until('a round in which Redis answered each request in time', async () => {
      const token = await bank.issue(bank.tenant.owner);
      const before = await decidedAlone(processes);
      const began = performance.now();
      const statuses = await ask(60, token);
      const refilled = Math.ceil((performance.now() - began) / 1_000);
      if ((await decidedAlone(processes)) > before) return false;
      const passed = statuses.filter((status) => status === 200).length;
      assert(passed >= 30 && passed <= 30 + refilled, `${passed} passed`);
      assert.equal(statuses.filter((status) => status === 429).length, 60 - passed);
      return true;
    });
    const before = await decidedAlone(processes);
    redis.freeze();
    try {
      for (const status of await ask(40, bank.token))
        assert([200, 429].includes(status), `${status}`);
      assert((await decidedAlone(processes)) > before);
    } finally {
      redis.thaw();
    }
  });
});

describe('a shared rate limit without its Redis', () => {
  it('a process starts and limits rates without its Redis', async () => {
    const [port] = await freePorts(1);
    const { take, limiter, changes } = limiterOver(`redis://127.0.0.1:${port}`);
    assert.equal((await take('alone')).remaining, 19);
    assert.equal((await take('alone')).remaining, 18);
    assert.deepEqual(changes, [false]);
    limiter.close();
  });
});
