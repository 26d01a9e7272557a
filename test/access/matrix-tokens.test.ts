import assert from 'node:assert/strict';
import { issueToken, type NewToken } from '../../src/members/tokens.js';
import { instant } from '../../src/core/instant.js';
import { SCOPES } from '../../src/core/permissions.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';
import { ENDPOINTS, makeTarget, methodOf } from './matrix-endpoints.js';

const db = await testDatabase();
const now = instant(Date.parse('2034-01-01T00:00:00.000Z'));
const api = await startTestApi(db, {}, { clock: () => now });
const bank = await openBank(api);
const target = await makeTarget(bank);

describe('a token', () => {
  const issue = async (
    wanted: Partial<NewToken> = {},
  ): Promise<{ text: string; keyId: string }> => {
    const { text, token } = await issueToken(
      db.database,
      () => now,
      bank.tenant.owner,
      { name: 'a test', scopes: SCOPES, expiresAt: null, cidrs: [], ...wanted },
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

  it('every endpoint answers 401 unauthorized without a live token, before it reports anything else', async () => {
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

  it("with another token's secret, or with a shorter or longer one, is refused with the same message", async () => {
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

  it('is read only from a Bearer header, in any case', async () => {
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

  it('a sandbox token gets 401 unauthorized, and the message says that there is no sandbox yet', async () => {
    const { text } = await issue();
    for (const token of [text.replace('svc_live_', 'svc_test_'), 'svc_test_x'])
      assert.match(refused(await ask(token)).text, /sandbox is not available yet/);
  });

  it("a token's address ranges apply to the peer's address; X-Forwarded-For counts only from a trusted proxy", async () => {
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
});
