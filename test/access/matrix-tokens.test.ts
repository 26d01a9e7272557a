import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueToken, revokeToken, type NewToken } from '../../src/access/tokens.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { SCOPES } from '../../src/core/permissions.js';
import { request, startTestApi, type TestAnswer, type TestApi } from '../support/api.js';
import { answered, type Bank, during, LEAST, openBank } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { TEST_ACTOR } from '../support/world.js';
import { ENDPOINTS, makeTarget, methodOf, type Target } from './matrix-endpoints.js';

const db = await testDatabase();

describe('a token', () => {
  let api: TestApi;
  let bank: Bank;
  let target: Target;
  let now: Instant;

  before(async () => {
    now = instant(Date.parse('2034-01-01T00:00:00.000Z'));
    api = await startTestApi(db, {}, { clock: () => now });
    bank = await openBank(api);
    target = await makeTarget(bank);
  });

  const issue = async (
    wanted: Partial<NewToken> = {},
  ): Promise<{ text: string; keyId: string }> => {
    const { text, token } = await issueToken(
      db.database,
      () => now,
      bank.tenant.owner,
      {
        name: 'a test',
        scopes: SCOPES,
        expiresAt: null,
        cidrs: [],
        ...wanted,
      },
      TEST_ACTOR,
    );
    return { text, keyId: token.keyId };
  };

  const ask = (
    token: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<TestAnswer> => api.request('GET', '/v1/events', { token, headers });

  const refused = (answer: TestAnswer): TestAnswer => {
    answered(answer, 401, 'unauthorized');
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
    return answer;
  };

  it('a token that is absent or not a live token is 401 unauthorized on every endpoint, whatever else is wrong', async () => {
    for (const endpoint of ENDPOINTS) {
      const { path, body } = endpoint.ask(target);
      const method = methodOf(endpoint);
      refused(await api.request(method, path, { body }));
      refused(
        await api.request(method, `${path}${path.includes('?') ? '&' : '?'}colour=red`, {
          body,
          token: 'x',
        }),
      );
      const wrong = `svc_live_${'a'.repeat(16)}_${'b'.repeat(40)}`;
      refused(
        await api.request(method, path, {
          token: wrong,
          key: null,
          ...(method === 'GET' ? {} : { body: '{' }),
        }),
      );
    }
  });

  it('a token with the secret of another, cut or longer is refused in the same words', async () => {
    const { text } = await issue();
    const { text: other } = await issue();
    answered(await ask(text), 200);
    const expected = refused(await ask(`svc_live_${'a'.repeat(16)}_${'b'.repeat(40)}`)).text;
    for (const wrong of [
      text.slice(0, 26) + other.slice(26),
      text.slice(0, -1),
      `${text}a`,
      text.toUpperCase(),
    ])
      assert.equal(refused(await ask(wrong)).text, expected);
  });

  it('a token is read only from a Bearer header, in any case', async () => {
    const { text } = await issue();
    const header = (authorization: string): Promise<TestAnswer> =>
      api.request('GET', '/v1/events', { headers: { authorization } });
    for (const good of [`Bearer ${text}`, `bearer ${text}`, `Bearer  ${text}`])
      answered(await header(good), 200);
    for (const bad of [
      text,
      `Basic ${text}`,
      `Bearer ${text} x`,
      `Bearer "${text}"`,
      'Bearer',
      `Token ${text}`,
    ])
      refused(await header(bad));
    refused(await api.request('GET', `/v1/events?access_token=${text}`));
  });

  it('a token of the sandbox is 401 unauthorized, and the message says that there is none yet', async () => {
    const { text } = await issue();
    for (const token of [text.replace('svc_live_', 'svc_test_'), 'svc_test_x'])
      assert.match(refused(await ask(token)).text, /sandbox is not available yet/);
  });

  it('a token is refused from the instant at which it expires', async () => {
    const { text } = await issue({ expiresAt: instant(now + 1_000) });
    now = instant(now + 999);
    answered(await ask(text), 200);
    now = instant(now + 1);
    refused(await ask(text));
  });

  it('a token that is revoked is refused one second later at every process, also one that knew it', async () => {
    const other = await startTestApi(db);
    const { text, keyId } = await issue();
    const everywhere = (): Promise<TestAnswer[]> =>
      Promise.all(
        [api.baseUrl, other.baseUrl].map((url) =>
          request(url, 'GET', '/v1/events', { token: text }),
        ),
      );
    // Kept in use, so that every process has read it a moment before.
    await during(sleep(100), async () => {
      for (const answer of await everywhere()) answered(answer, 200);
    });
    await revokeToken(db.database, systemClock, keyId, TEST_ACTOR);
    await sleep(1_000);
    for (const answer of await everywhere()) refused(answer);
    const replay = { from: target.account, to: target.other, raw: LEAST };
    refused(await bank.send(replay, { token: text }));
    await other.stop();
  });

  it('a token is accepted only from its address ranges', async () => {
    for (const [cidrs, isTaken] of [
      [['127.0.0.1'], true],
      [['10.0.0.0/8', '127.0.0.0/8'], true],
      [['10.0.0.0/8'], false],
      [['::1'], false],
      [['0.0.0.0/0'], true],
    ] as const) {
      const answer = await ask((await issue({ cidrs })).text);
      if (isTaken) answered(answer, 200);
      else refused(answer);
    }
  });

  it('a token is judged by the address of the peer; X-Forwarded-For counts only from a trusted proxy', async () => {
    const { text } = await issue({ cidrs: ['10.0.0.0/8'] });
    const forwarded = { 'x-forwarded-for': '10.1.2.3' };
    refused(await ask(text, forwarded));
    const behindProxy = await startTestApi(
      db,
      { TRUSTED_PROXIES: '127.0.0.0/8' },
      { clock: () => now },
    );
    const from = (header: string): Promise<TestAnswer> =>
      behindProxy.request('GET', '/v1/events', {
        token: text,
        headers: { 'x-forwarded-for': header },
      });
    answered(await from('10.1.2.3'), 200);
    // What the client claimed itself stands before what the proxy saw.
    refused(await from('10.1.2.3, 192.0.2.7'));
    answered(await from('192.0.2.7, 10.1.2.3'), 200);
    refused(await behindProxy.request('GET', '/v1/events', { token: text }));
    await behindProxy.stop();
  });

  it('a token is not locked out by a clock that is set back', async () => {
    const slow = await startTestApi(db, { RATE_LIMITS: 'requests=100/200' }, { clock: () => now });
    const { text } = await issue();
    answered(await slow.request('GET', '/v1/events', { token: text }), 200);
    const before = now;
    now = instant(now - 3_600_000);
    for (let count = 0; count < 3; count += 1)
      answered(await slow.request('GET', '/v1/events', { token: text }), 200);
    now = before;
    await slow.stop();
  });

  it('a token that asks too often is 429 rate_limited with Retry-After, others are not, and its requests do nothing', async () => {
    const limits = { RATE_LIMITS: 'requests=1/3' };
    const slow = await startTestApi(db, limits, { clock: () => now });
    const { text } = await issue();
    const before = await bank.available(target.account);
    const body = ENDPOINTS.find(({ route }) => route === 'POST /v1/transfers')!.ask(target).body;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        slow.request('POST', '/v1/transfers', { token: text, body }),
      ),
    );
    const limited = answers.filter(({ status }) => status === 429);
    assert(limited.length >= 6 && limited.length <= 7, `${limited.length} of 10`);
    for (const answer of limited) {
      answered(answer, 429, 'rate_limited');
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      assert.equal(answer.headers.get('ratelimit-limit'), '3');
    }
    assert.equal(
      await bank.available(target.account),
      before - LEAST * BigInt(10 - limited.length),
    );
    answered(await slow.request('GET', '/v1/events', { token: (await issue()).text }), 200);
    await slow.stop();
  });

  it('a token is not needed to learn that a path is unknown or a method wrong', async () => {
    for (const path of [
      '/v1/unknown',
      '/',
      '/v1',
      '/v1/transfers/',
      '/v1/Transfers',
      '/v1/transfers/x/y',
    ])
      answered(await api.request('GET', path), 404, 'not_found');
    const wrong = answered(await api.request('PATCH', '/v1/transfers'), 405, 'method_not_allowed');
    assert.equal(wrong.headers.get('allow'), 'POST, GET, HEAD');
    const onEvents = answered(await api.request('POST', '/v1/events'), 405, 'method_not_allowed');
    assert.equal(onEvents.headers.get('allow'), 'GET, HEAD');
  });
});
