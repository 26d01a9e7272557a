import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import {
  issueToken,
  listTokens,
  revokeToken,
  rotateToken,
  type NewToken,
} from '../../src/members/tokens.js';
import { TokenUses } from '../../src/access/authenticator.js';
import { hashToken, keyIdOf, generateToken } from '../../src/access/token-text.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import type { Database } from '../../src/db/database.js';
import { startTestApi, type TestAnswer, type TestApi } from '../helpers/api.js';
import { answered, type Bank, LEAST, openBank, transferBody } from '../helpers/bank.js';
import { openDatabase, testDatabase } from '../helpers/database.js';
import {
  assertLedgerSound,
  makeTenant,
  makeToken,
  refusalOf,
  TEST_ACTOR,
} from '../helpers/world.js';
import { commandLine } from '../ops/ops.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** A revocation is complete within this. */
const REVOCATION_MS = 1_000;

const db = await testDatabase();

describe('a token', () => {
  let api: TestApi;
  let bank: Bank;
  let now: Instant | null = null;
  const clock = (): Instant => now ?? systemClock();

  before(async () => {
    api = await startTestApi(db, { TRUSTED_PROXIES: '127.0.0.1/32' }, { clock });
    bank = await openBank(api);
  });
  beforeEach(() => void (now = null));

  const issue = (wanted: Partial<NewToken> = {}) =>
    issueToken(
      db.database,
      clock,
      bank.tenant.owner,
      { name: 'a server', scopes: ['read'], expiresAt: null, cidrs: [], ...wanted },
      TEST_ACTOR,
    );
  const use = (token: string, from?: string): Promise<TestAnswer> =>
    bank.request('GET', '/v1/accounts', {
      token,
      ...(from === undefined ? {} : { headers: { 'x-forwarded-for': from } }),
    });
  const rotate = (keyId: string, graceMs = 0) =>
    rotateToken(db.database, clock, keyId, graceMs, TEST_ACTOR);
  const revoke = (keyId: string) => revokeToken(db.database, clock, keyId, TEST_ACTOR);

  async function untilRefused(token: string): Promise<void> {
    const since = performance.now();
    for (let asked = since; (await use(token)).status !== 401; asked = performance.now()) {
      assert.ok(asked - since < REVOCATION_MS, 'it was still let in after a second');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  const stateOf = (work: Promise<unknown>) => refusalOf(work, 'current');

  it('is valid until its expiry and 401 from then on, to the millisecond', async () => {
    const expiresAt = instant(systemClock() + HOUR_MS);
    const { text } = await issue({ expiresAt });
    answered(await use(text), 200);
    now = instant(expiresAt - 1);
    answered(await use(text), 200);
    now = expiresAt;
    answered(await use(text), 401, 'unauthorized');
  });

  it('is valid only from its address ranges', async () => {
    const { text } = await issue({ cidrs: ['203.0.113.0/24', '2001:db8::/32'] });
    for (const from of ['203.0.113.7', '203.0.113.255', '2001:db8::1', '::ffff:203.0.113.7'])
      answered(await use(text, from), 200);
    for (const from of ['203.0.114.1', '10.0.0.1', '2001:db9::1', undefined])
      answered(await use(text, from), 401, 'unauthorized');
  });

  it('that was revoked is refused within a second, also while it is used all the time', async () => {
    const { text, token } = await issue();
    answered(await use(text), 200);
    await revoke(token.keyId);
    await untilRefused(text);
    for (let count = 0; count < 5; count += 1) answered(await use(text), 401, 'unauthorized');
  });

  it('a revoked token moves no money, even if the request began before and its last byte came after', async () => {
    const { text, token } = await issue({ scopes: ['read', 'transfers'] });
    const [from, to] = [await bank.account({ funds: { COPM: LEAST } }), await bank.account()];
    const body = JSON.stringify(transferBody({ from, to, raw: LEAST }));
    const headers = {
      authorization: `Bearer ${text}`,
      'content-type': 'application/json',
      'content-length': body.length,
      'idempotency-key': randomUUID(),
      expect: '100-continue',
    };
    const held = httpRequest(`${api.baseUrl}/v1/transfers`, { method: 'POST', headers });
    const response = once(held, 'response') as Promise<[IncomingMessage]>;
    held.flushHeaders();
    // It is asked for its body once it has been let in.
    await once(held, 'continue');
    held.write(body.slice(0, -1));
    await revoke(token.keyId);
    await untilRefused(text);
    held.end(body.slice(-1));
    const [answer] = await response;
    assert.equal(answer.resume().statusCode, 401);
    assert.equal(await bank.available(to), 0n);
    await assertLedgerSound(db.database);
  });

  it('that is revoked, expired, unknown or used from a forbidden address gets the same response without a reason', async () => {
    now = systemClock();
    const revoked = await issue();
    await revoke(revoked.token.keyId);
    const expired = await issue({ expiresAt: instant(now + 1) });
    const elsewhere = await issue({ cidrs: ['203.0.113.0/24'] });
    now = instant(now + HOUR_MS);
    const unknown = `${revoked.text.slice(0, -4)}aaaa`;
    const texts = [];
    for (const text of [revoked.text, expired.text, elsewhere.text, unknown])
      texts.push(answered(await use(text), 401, 'unauthorized').text);
    assert.equal(new Set(texts).size, 1);
  });

  it('rotating a token gives a new one with the same member, name, scopes, expiry and ranges; the old one ends at once', async () => {
    const expiresAt = instant(systemClock() + HOUR_MS);
    const old = await issue({
      scopes: ['read', 'lookup'],
      expiresAt,
      cidrs: ['127.0.0.1', '10.0.0.0/8'],
    });
    answered(await use(old.text), 200);
    const fresh = await rotate(old.token.keyId);
    const kept = ({ memberId, name, scopes, cidrs, expiresAt: end }: typeof fresh.token) => [
      memberId,
      name,
      scopes,
      cidrs,
      end,
    ];
    assert.deepEqual(kept(fresh.token), kept(old.token));
    assert.notEqual(fresh.token.keyId, old.token.keyId);
    answered(await use(fresh.text), 200);
    await untilRefused(old.text);
    const stored = await listTokens(db.database.reader, bank.tenant.tenant.id);
    assert.deepEqual(
      stored.find(({ keyId }) => keyId === fresh.token.keyId),
      fresh.token,
    );
  });

  it('rotated with a grace stays valid along with the new one until the grace ends, to the millisecond', async () => {
    const start = instant(systemClock() + HOUR_MS);
    const old = await issue();
    now = start;
    const fresh = await rotate(old.token.keyId, HOUR_MS);
    // No cache knows the old token by its former row any more.
    await new Promise((resolve) => setTimeout(resolve, REVOCATION_MS));
    now = instant(start + HOUR_MS - 1);
    for (const { text } of [old, fresh]) answered(await use(text), 200);
    now = instant(start + HOUR_MS);
    answered(await use(old.text), 401, 'unauthorized');
    answered(await use(fresh.text), 200);
  });

  it('a grace period never extends the expiry of a token', async () => {
    const expiresAt = instant(systemClock() + HOUR_MS);
    const { token } = await issue({ expiresAt });
    const { old } = await rotate(token.keyId, 2 * HOUR_MS);
    assert.deepEqual([old.expiresAt, old.revokedAt], [expiresAt, null]);
  });

  it('that is revoked or has expired is not rotated: 409 invalid_state', async () => {
    const { token } = await issue();
    await revoke(token.keyId);
    assert.deepEqual(await stateOf(rotate(token.keyId)), ['invalid_state', 'revoked']);
    const expiring = await issue({ expiresAt: instant(systemClock() + HOUR_MS) });
    now = instant(systemClock() + 2 * HOUR_MS);
    assert.deepEqual(await stateOf(rotate(expiring.token.keyId)), ['invalid_state', 'expired']);
    assert.deepEqual(await stateOf(rotate('a'.repeat(16))), ['not_found', undefined]);
  });
});

describe('the form of a token', () => {
  it('is svc_live_, the key id and at least 160 random bits, and its hash does not contain it', () => {
    const { keyId, text } = generateToken();
    const [, , id, secret = ''] = text.split('_');
    assert.ok(text.startsWith('svc_live_'));
    assert.equal(id, keyId);
    assert.equal(keyIdOf(text), keyId);
    assert.ok(!hashToken(text).toString('latin1').includes(text.slice(-40)));
    assert.match(secret, /^[a-z2-7]+$/);
    assert.ok(secret.length * 5 >= 160);
  });

  it('a token with any changed character is malformed', () => {
    const { text } = generateToken();
    for (const spoiled of [
      ...[text.replace('svc_live_', 'svc_test_'), text.slice(0, -1), `${text}a`, `${text}\n`],
      ...[text.toUpperCase(), `${text.slice(0, -1)}1`, text.slice(0, 26)],
    ])
      assert.equal(keyIdOf(spoiled), null, spoiled);
  });
});

describe('the last use of a token', () => {
  it('is shown to about 5 minutes, however often the token is used', async () => {
    const { tenant, owner } = await makeTenant(db.database);
    const { token } = await makeToken(db.database, owner);
    let now = systemClock();
    const uses = new TokenUses(db.database, () => now);
    const lastUsed = async (): Promise<Instant | null | undefined> =>
      (await listTokens(db.database.reader, tenant.id)).find(({ keyId }) => keyId === token.keyId)
        ?.lastUsedAt;
    assert.equal(await lastUsed(), null);
    const first = now;
    const useAndWrite = async (of = uses): Promise<void> => {
      for (let count = 0; count < 100; count += 1) of.record(token.keyId);
      await of.write();
    };
    await useAndWrite();
    assert.equal(await lastUsed(), first);
    now = instant(first + 4 * MINUTE_MS);
    await useAndWrite();
    // Another process that has not told of it.
    await useAndWrite(new TokenUses(db.database, () => now));
    assert.equal(await lastUsed(), first);
    now = instant(first + 6 * MINUTE_MS);
    await useAndWrite();
    assert.equal(await lastUsed(), now);
    const { rows } = commandLine(() => ({ MYSQL_URL: db.url }));
    const listed = await rows('tokens', 'list', '--tenant', tenant.name);
    const row = listed.find((one) => one.key_id === token.keyId);
    assert.equal(row?.last_used_at, new Date(now).toISOString());
  });

  it('that cannot be written is recorded by the next use', async () => {
    const away = openDatabase('mysql://nobody:none@127.0.0.1:1/none');
    let isAway = true;
    const database: Pick<Database, 'withTransaction'> = {
      withTransaction: (work) => (isAway ? away : db.database).withTransaction(work),
    };
    const uses = new TokenUses(database, systemClock);
    const { token } = await makeToken(db.database, (await makeTenant(db.database)).owner);
    uses.record(token.keyId);
    await uses.write();
    isAway = false;
    uses.record(token.keyId);
    await uses.write();
    await away.close();
    const known = await listTokens(db.database.reader, token.tenantId);
    assert.notEqual(known.find(({ keyId }) => keyId === token.keyId)?.lastUsedAt, null);
  });
});
