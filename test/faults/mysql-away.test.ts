import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ENDPOINTS,
  makeTarget,
  methodOf,
  renewed,
  type Target,
} from '../access/matrix-endpoints.js';
import { setQuotas } from '../../src/access/quotas.js';
import { systemClock } from '../../src/core/instant.js';
import { request, startTestApi, type TestAnswer, type TestApi } from '../helpers/api.js';
import { ApiProcess } from '../helpers/api-process.js';
import { answered, type Bank, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { Proxy } from '../helpers/proxy.js';
import { assertLedgerSound, TEST_ACTOR } from '../helpers/world.js';

/** Normal within 10 s of MySQL's return. (docs/operations/database.md, While MySQL is away) */
const NORMAL_MS = 60_000;

/** Operations with an address ask a name server before the ledger, and a test has none. */
const TAKE_AN_ADDRESS = ['POST /v1/webhook_endpoints', 'PATCH /v1/webhook_endpoints/{id}'];
const ASKED = ENDPOINTS.filter(({ route }) => !TAKE_AN_ADDRESS.includes(route));

/** Asked with a token that was read a moment ago. */
const NEEDS_NO_LEDGER = ['GET /v1/bonus_batches/template', 'GET /v1/payout_batches/template'];

/** Returns the status while MySQL responds. The member who asks has uploaded the file, and may not execute it. */
const normalStatus = (route: string): number | undefined =>
  route === 'POST /v1/payout_batches/{batch_id}/execute'
    ? 403
    : ASKED.find((one) => one.route === route)?.status;

const db = await testDatabase();

describe('while MySQL is unavailable', () => {
  /** On MySQL itself. */
  let healthy: TestApi;
  /** Behind the proxy. */
  let api: ApiProcess;
  let proxy: Proxy;
  let bank: Bank;
  let target: Target;

  before(async () => {
    healthy = await startTestApi(db);
    bank = await openBank(healthy);
    target = await makeTarget(bank);
    // Uploads are repeated until everything is normal, which is often on a slow machine.
    const quotas = { openBatches: 10_000n };
    await setQuotas(db.database, systemClock, bank.tenant.tenant.id, quotas, TEST_ACTOR);
    proxy = await Proxy.open(db.url);
    api = await ApiProcess.start(proxy.through(db.url), { COMMAND_TIMEOUT_MS: '2000' });
  });

  after(async () => {
    await api.kill();
    await proxy.close();
  });

  afterEach(async () => {
    proxy.delayMs = 0;
    assert(api.isRunning);
    await assertInTime();
    await assertLedgerSound(db.database);
  });

  interface Asked {
    readonly route: string;
    readonly answer: TestAnswer;
  }

  /** By the service's own clock: this process too is busy with all these answers at once. */
  async function assertInTime(): Promise<void> {
    const metrics = await api.metrics();
    const sum = (kind: string): number =>
      Array.from(
        metrics.matchAll(new RegExp(`^http_request_duration_seconds_${kind}.*\\} (\\d+)$`, 'gm')),
        ([, count]) => Number(count),
      ).reduce((all, count) => all + count, 0);
    assert(sum('count') > 0);
    assert.equal(sum('bucket\\{le="5"'), sum('count'), 'some answer took more than 5 s');
  }

  /** Every endpoint at once, each with a token that the process has never seen, unless one is given. */
  async function askEverything(known?: string): Promise<Asked[]> {
    const tokens = await Promise.all(
      ASKED.map(async () => known ?? (await bank.issue(bank.tenant.owner))),
    );
    const targets = await Promise.all(ASKED.map((endpoint) => renewed(endpoint, target)));
    return Promise.all(
      ASKED.map(async (endpoint, index) => {
        const { path, ...sent } = endpoint.ask(targets[index]!);
        const answer = await request(api.baseUrl, methodOf(endpoint), path, {
          token: tokens[index]!,
          ...sent,
        });
        return { route: endpoint.route, answer };
      }),
    );
  }

  function assertUnavailable({ route, answer }: Asked): void {
    assert.deepEqual(
      [route, answer.status, answer.code],
      [route, 503, 'ledger_unavailable'],
      answer.text,
    );
    assert.match(
      answer.text,
      /only repeating the same request with the same Idempotency-Key tells what happened|repeat the request"/,
    );
    assert.match(answer.headers.get('svc-request-id') ?? '', /^[0-9a-f-]{36}$/);
  }

  async function assertNormalSoon(): Promise<void> {
    const until = performance.now() + NORMAL_MS;
    for (;;) {
      const wrong = (await askEverything()).filter(
        ({ route, answer }) => answer.status !== normalStatus(route),
      );
      if (wrong.length === 0) return;
      assert(
        performance.now() < until,
        wrong.map(({ route, answer }) => `${route} ${answer.status}`).join(),
      );
      // What was unknown may be done late: a DELETE then takes what the next one was made for.
      for (const one of wrong)
        if (one.answer.status !== 404 || !one.route.startsWith('DELETE ')) assertUnavailable(one);
      await sleep(50);
    }
  }

  const health = async (path: string): Promise<string> => {
    const answer = await fetch(api.adminUrl + path);
    return `${answer.status} ${(await answer.text()).trim()}`;
  };

  it('while MySQL refuses connections, every endpoint is 503 ledger_unavailable within 5 s, token check included; then normal', async () => {
    await assertNormalSoon();
    proxy.refuse();
    for (const one of await askEverything()) assertUnavailable(one);
    assert.deepEqual([await health('/livez'), await health('/readyz')], ['200 ok', '200 degraded']);
    proxy.allow();
    await assertNormalSoon();
    assert.deepEqual([await health('/livez'), await health('/readyz')], ['200 ok', '200 ready']);
  });

  it('while MySQL hangs, every endpoint is 503 ledger_unavailable within 5 s, token check included; then normal', async () => {
    const { token } = bank;
    answered(await request(api.baseUrl, 'GET', '/v1/events', { token }), 200);
    proxy.stall();
    // Some wait for the token, the others for what they are about: this token was read a moment ago.
    const asked = (await Promise.all([askEverything(), askEverything(token)])).flat();
    for (const one of asked)
      if (!NEEDS_NO_LEDGER.includes(one.route) || one.answer.status !== 200) assertUnavailable(one);
    proxy.resume();
    await assertNormalSoon();
  });
});
