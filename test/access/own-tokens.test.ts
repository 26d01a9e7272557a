import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { listAuditRows, parseDetails } from '../../src/access/audit-log.js';
import { tokens } from '../../src/db/entities/parties.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, type Bank, LEAST, list, openBank, text, walk } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import { assertLedgerSound } from '../helpers/world.js';
import { created, createToken, person, setRole, untilStatus } from './own-access-support.js';

const db = await testDatabase();
const lines: string[] = [];
const api = await describedApi(
  await startTestApi(db, { LOG_LEVEL: 'debug' }, { log: { write: (line) => lines.push(line) } }),
);

describe('own tokens', () => {
  let bank: Bank;

  beforeEach(async () => {
    bank = await openBank(api);
    await bank.account({ funds: { COPM: 10n * LEAST } });
  });
  after(() => assertLedgerSound(db.database));

  const use = (token: string): Promise<TestAnswer> => bank.request('GET', '/v1/members', { token });
  const revoke = (keyId: string, { cascade = false, token = bank.token } = {}) =>
    bank.request('DELETE', `/v1/tokens/${keyId}${cascade ? '?cascade=true' : ''}`, { token });

  it('a token needs no name', async () => {
    const member = await bank.member();
    const { json } = answered(await createToken(bank, member, { more: { name: undefined } }), 201);
    assert.equal(json.name, null);
    const listed = (await walk(bank, '/v1/tokens')).find((one) => one.key_id === json.key_id);
    assert.equal(listed?.name, null);
  });

  it('a token is shown once: a replay, by any token, has null, and nothing stores or logs it', async () => {
    const member = await bank.member('server');
    const key = randomUUID();
    const more = {
      expires_at: '2035-01-01T00:00:00Z',
      address_ranges: ['127.0.0.1', '10.1.2.3/8', '127.0.0.1/32'],
      name: ' payroll  server ',
    };
    const scopes = ['access', 'read', 'read'] as const;
    const ask = (token?: string): Promise<TestAnswer> =>
      createToken(bank, member, { key, scopes, more, ...(token === undefined ? {} : { token }) });
    const { token, created_at: at, ...shown } = answered(await ask(), 201).json;
    assert.deepEqual(shown, {
      ...{ key_id: text(token).split('_')[2], member_id: member.id, name: 'payroll server' },
      ...{ scopes: ['read', 'access'], address_ranges: ['127.0.0.1/32', '10.0.0.0/8'] },
      ...{ effective_at: null, expires_at: '2035-01-01T00:00:00.000Z', last_used_at: null },
      created_by_key: bank.token.split('_')[2],
    });
    answered(await use(text(token)), 403, 'authority_insufficient');
    const another = await bank.issue(await bank.member(), ['access']);
    for (const by of [undefined, another]) {
      const again = answered(await ask(by), 200);
      assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
      assert.deepEqual(again.json, { ...shown, created_at: at, token: null });
    }
    const listed = (await walk(bank, '/v1/tokens')).find((one) => one.key_id === shown.key_id);
    assert.deepEqual({ ...listed, last_used_at: null }, { ...shown, created_at: at });
    const secret = text(token).slice(-40);
    const stored = [
      await db.sql('SELECT * FROM idempotency_keys'),
      await db.sql('SELECT * FROM events'),
      await db.sql('SELECT * FROM audit_log'),
      await db.sql('SELECT * FROM requests'),
      await db.sql('SELECT * FROM tokens'),
      await db.sql('SELECT * FROM outbox'),
    ];
    assert(!JSON.stringify(stored).includes(secret));
    assert(!lines.join('').includes(secret));
    const [line] = await listAuditRows(db.database.reader, { subjectId: text(shown.key_id) }, 5);
    assert.deepEqual([line?.action, line?.channel], ['token.issue', 'api']);
    assert.equal(parseDetails(line!).created_by_key, shown.created_by_key);
    answered(await createToken(bank, member, { key }), 409, 'idempotency_key_reused');
  });

  it('of simultaneous requests with one key, one shows the token, and it is valid', async () => {
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => createToken(bank, bank.tenant.owner, { key })),
    );
    const shown = answers.flatMap(({ json }) => (json.token === null ? [] : [text(json.token)]));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(7).fill(200), 201]);
    assert.equal(shown.length, 1);
    answered(await use(shown[0]!), 200);
  });

  it('a token grants only scopes of the token that creates it', async () => {
    const { token } = await created(bank, bank.tenant.owner, { scopes: ['read', 'access'] });
    for (const scopes of [['transfers'], ['read', 'webhooks'], ['access', 'payouts']] as const)
      answered(
        await createToken(bank, bank.tenant.owner, { token, scopes }),
        403,
        'authority_insufficient',
      );
    const next = await created(bank, bank.tenant.owner, { token, scopes: ['access'] });
    answered(
      await createToken(bank, bank.tenant.owner, { token: next.token, scopes: ['read'] }),
      403,
      'authority_insufficient',
    );
    const without = await bank.issue(bank.tenant.owner, ['read', 'transfers', 'webhooks']);
    answered(
      await createToken(bank, bank.tenant.owner, { token: without }),
      401,
      'insufficient_scope',
    );
  });

  it('a revoked token and all that it created, directly or through others, end within five seconds; others stay', async () => {
    const { owner } = bank.tenant;
    const leaked = await created(bank, owner);
    const child = await created(bank, owner, { token: leaked.token });
    const grandchild = await created(bank, owner, { token: child.token });
    const other = await created(bank, owner);
    // Revoked alone, its child lives on, and is still found through it.
    answered(await revoke(child.keyId), 204);
    await untilStatus(() => use(child.token), 401);
    answered(await use(grandchild.token), 200);
    answered(await revoke(leaked.keyId), 204);
    answered(await revoke(leaked.keyId, { cascade: true }), 204);
    await untilStatus(() => use(grandchild.token), 401);
    answered(await use(other.token), 200);
    answered(await revoke(leaked.keyId, { cascade: true }), 204);
    answered(await revoke('a'.repeat(16)), 404, 'not_found');
    const keyIds = (await walk(bank, '/v1/tokens')).map((one) => one.key_id);
    assert.deepEqual(keyIds, [other.keyId, bank.token.split('_')[2]]);
  });

  it('a cascade that would end a token of a member with a role that the owner lacks changes nothing', async () => {
    const [mine, theirs] = [await bank.account(), await bank.account()];
    const [local, target] = [await person(bank), await person(bank)];
    answered(await setRole(bank, mine, local.member, 'owner'), 200);
    answered(await setRole(bank, mine, target.member, 'owner'), 200);
    const child = await created(bank, local.member, { token: target.token });
    const cousin = await created(bank, bank.tenant.owner, { token: bank.token });
    await db.change(
      `UPDATE tokens SET created_by_key='${child.keyId}' WHERE key_id='${cousin.keyId}'`,
    );
    answered(
      await revoke(target.keyId, { cascade: true, token: local.token }),
      403,
      'authority_insufficient',
    );
    answered(await use(child.token), 200);
    answered(await revoke(target.keyId, { token: local.token }), 204);
    await db.change(`UPDATE tokens SET created_by_key=NULL WHERE key_id='${cousin.keyId}'`);
    assert.equal(theirs.status, 'active');
  });

  it('a token that is revoked while it creates others leaves none behind', async () => {
    for (let round = 0; round < 4; round += 1) {
      const leaked = await created(bank, bank.tenant.owner);
      const creating = Array.from({ length: 12 }, () =>
        createToken(bank, bank.tenant.owner, { token: leaked.token }),
      );
      const ended = revoke(leaked.keyId, { cascade: true });
      const answers = await Promise.all(creating);
      answered(await ended, 204);
      const live = await db.database.reader.select(tokens, {
        createdByKey: leaked.keyId,
        revokedAt: null,
      });
      assert.deepEqual(live, []);
      for (const { status } of answers) assert([201, 401].includes(status), String(status));
    }
  });

  it('what a member who is removed is about to create or give does not outlive the removal', async () => {
    const account = await bank.account();
    const heir = await person(bank);
    answered(await setRole(bank, account, heir.member, 'owner'), 200);
    const { token } = heir;
    const [, ...answers] = await Promise.all([
      bank.request('DELETE', `/v1/members/${heir.member.id}`),
      ...Array.from({ length: 4 }, () => createToken(bank, heir.member, { token })),
      bank.request('POST', '/v1/accounts', { token, body: { type: 'person', name: 'A' } }),
    ]);
    for (const { status } of answers) assert([201, 401, 404].includes(status), String(status));
    const { id } = heir.member;
    const rest = await db.sql(
      `SELECT 1 FROM tokens WHERE revoked_at IS NULL AND member_id=UNHEX('${id.replaceAll('-', '')}')`,
    );
    const listed = list(answered(await bank.get('/v1/members?limit=100'), 200).json.items);
    if (!listed.some((one) => one.id === id)) assert.deepEqual(rest, []);
  });

  it('the tokens of a tenant are listed page by page, without expired and revoked ones', async () => {
    const { owner } = bank.tenant;
    const made = [];
    for (let count = 0; count < 5; count += 1) made.push((await created(bank, owner)).keyId);
    await db.change(`UPDATE tokens SET expires_at=created_at WHERE key_id='${made[1]!}'`);
    answered(await revoke(made[3]!), 204);
    const seen = await walk(bank, '/v1/tokens?limit=2');
    assert.deepEqual(
      seen.map((one) => one.key_id),
      [made[4], made[2], made[0], bank.token.split('_')[2]],
    );
  });
});
