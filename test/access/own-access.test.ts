import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { listAuditRows } from '../../src/access/audit-log.js';
import { setQuotas } from '../../src/access/quotas.js';
import { systemClock } from '../../src/core/instant.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, type Bank, idLiteral, list, openBank, text, walk } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import { assertLedgerSound, TEST_ACTOR } from '../helpers/world.js';
import { createToken, person, type Person, setRole } from './own-access-support.js';

const db = await testDatabase();
const api = await describedApi(await startTestApi(db));

describe('own accounts, members and roles', () => {
  let bank: Bank;

  beforeEach(async () => {
    bank = await openBank(api);
    await bank.account();
  });
  after(() => assertLedgerSound(db.database));

  const open = (body: object, options = {}): Promise<TestAnswer> =>
    bank.request('POST', '/v1/accounts', {
      body: { type: 'business', name: 'Branch', ...body },
      ...options,
    });
  const remove = (path: string, token = bank.token): Promise<TestAnswer> =>
    bank.request('DELETE', path, { token });
  const roleOf = async ({ token }: Person, { id }: { id: unknown }): Promise<number> =>
    (await bank.request('GET', `/v1/accounts/${text(id)}/balances`, { token })).status;

  it('an owner opens an account, owns it, and a replay shows the account as it is now', async () => {
    const key = randomUUID();
    const body = {
      ...{ type: 'person', name: 'Ana María  Pérez', alias: '$Ana.own', phone: '300 999 1111' },
      metadata: { branch: 'norte', empty: null },
    };
    const { json } = answered(await open(body, { key }), 201);
    const { id, created_at: _, ...account } = json;
    assert.deepEqual(account, {
      ...{ type: 'person', status: 'active', name: 'Ana María Pérez', display_name: 'Ana M. P.' },
      ...{ alias: '$ana.own', phone: '+573009991111', metadata: { branch: 'norte' } },
      ...{ can_send: false, verified_at: null },
    });
    const path = `/v1/accounts/${text(id)}`;
    const change = { metadata: { branch: 'sur', code: '7' } };
    const changed = answered(await bank.request('PATCH', path, { body: change }), 200).json;
    assert.deepEqual(changed, { ...json, metadata: { branch: 'sur', code: '7' } });
    const again = answered(await open(body, { key }), 200);
    assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
    assert.deepEqual(again.json, changed);
    answered(await open({ ...body, name: 'Another' }, { key }), 409, 'idempotency_key_reused');
    answered(await bank.request('GET', `${path}/balances`), 200);
    assert.deepEqual((await walk(bank, '/v1/accounts')).map((one) => one.id)[0], id);
    const rows = await listAuditRows(db.database.reader, { subjectId: text(id) }, 5);
    assert.deepEqual(
      rows.map(({ action, channel, actorClaimed }) => [action, channel, actorClaimed]),
      ['account.change_metadata', 'account.open'].map((action) => [
        ...[action, 'api', `member:${bank.tenant.owner.id}`],
      ]),
    );
  });

  it('an account is not opened with a taken phone or alias: 409 leaves the key free, 422 binds it', async () => {
    answered(await open({ alias: '$own.taken', phone: '3009992222' }), 201);
    const key = randomUUID();
    answered(await open({ phone: '+57 300 999 2222' }, { key }), 409, 'phone_taken');
    answered(await open({ alias: '$OWN.taken' }, { key }), 422, 'alias_taken');
    const again = answered(await open({ alias: '$OWN.taken' }, { key }), 422, 'alias_taken');
    assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
    answered(await open({ alias: '$admin' }), 422, 'alias_reserved');
    answered(await open({}, { key }), 409, 'idempotency_key_reused');
  });

  it('bad input is refused with its field and reason, before the rights of the member', async () => {
    const viewer = await person(bank, ['access']);
    const account = await bank.account();
    const roles = `/v1/accounts/${account.id}/roles/${viewer.member.id}`;
    const token = { member_id: viewer.member.id, scopes: ['read'] };
    for (const [method, path, body, field, reason] of [
      ['POST', '/v1/accounts', { name: 'A' }, 'type', undefined],
      ['POST', '/v1/accounts', { type: 'person', name: ' ' }, 'name', 'too_short'],
      ['POST', '/v1/accounts', { type: 'person', name: 'A', alias: '$a' }, 'alias', 'malformed'],
      ['POST', '/v1/accounts', { type: 'person', name: 'A', phone: '1.5' }, 'phone', 'malformed'],
      ['PATCH', `/v1/accounts/${account.id}`, { metadata: { A: 'b' } }, 'metadata.A', 'malformed'],
      ['POST', '/v1/members', { name: ' ' }, 'name', 'too_short'],
      ['PUT', roles, {}, 'role', undefined],
      [
        'POST',
        '/v1/tokens',
        { ...token, address_ranges: ['10.0.0.0/99'] },
        'address_ranges.0',
        'malformed',
      ],
    ] as const) {
      const answer = answered(
        await bank.request(method, path, { body, token: viewer.token }),
        400,
        reason === undefined ? 'missing_field' : 'invalid_field',
      );
      assert.deepEqual([answer.details?.field, answer.details?.reason], [field, reason], path);
    }
    const query = await bank.request('DELETE', '/v1/tokens/aaaaaaaaaaaaaaaa?cascade=yes');
    assert.equal(answered(query, 400, 'invalid_field').details?.field, 'cascade');
    for (const path of ['/v1/accounts', '/v1/members', '/v1/tokens'])
      answered(
        await bank.request('POST', path, { body: {}, key: null }),
        400,
        'missing_idempotency_key',
      );
    const past = { expires_at: '2020-01-01T00:00:00Z' };
    const late = await createToken(bank, bank.tenant.owner, { more: past });
    assert.equal(answered(late, 400, 'invalid_field').details?.reason, 'in_the_past');
  });

  it('of simultaneous requests with one key and name, one adds the member and the others are replays', async () => {
    const key = randomUUID();
    const body = { name: `clerk ${key}` };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => bank.request('POST', '/v1/members', { body, key })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array<number>(5).fill(200), 201]);
    const ids = new Set(answers.map(({ json }) => text(json.id)));
    assert.equal(ids.size, 1);
    answered(await remove(`/v1/members/${[...ids].join('')}`), 204);
  });

  it('a member is added once per key and name, gets a role, and is gone after its removal with its roles and tokens', async () => {
    const key = randomUUID();
    const add = (name: string, as?: string): Promise<TestAnswer> =>
      bank.request('POST', '/v1/members', {
        body: { name },
        ...(as === undefined ? {} : { key: as }),
      });
    const { json } = answered(await add('clerk', key), 201);
    assert.deepEqual(Object.keys(json), ['id', 'name', 'pending_roles', 'created_at']);
    assert.deepEqual(answered(await add('clerk', key), 200).json, json);
    const taken = answered(await add('clerk'), 400, 'invalid_field');
    assert.deepEqual([taken.details?.field, taken.details?.reason], ['name', 'taken']);
    const id = text(json.id);
    const account = await bank.account();
    const given = answered(await setRole(bank, account, { id }, 'operator'), 200).json;
    assert.deepEqual(given, {
      ...{ account_id: account.id, member_id: id, role: 'operator', effective_at: null },
    });
    const { token } = answered(await createToken(bank, { id }), 201).json;
    const clerk = { token: text(token) } as Person;
    assert.equal(await roleOf(clerk, account), 200);
    assert.deepEqual(
      (await walk(bank, '/v1/members?limit=1')).map(({ name }) => name),
      ['clerk', 'owner'],
    );
    answered(await remove(`/v1/members/${id}`), 204);
    answered(await remove(`/v1/members/${id}`), 404, 'not_found');
    for (const again of [setRole(bank, account, { id }, 'viewer'), createToken(bank, { id })])
      answered(await again, 404, 'not_found');
    assert.deepEqual(
      (await walk(bank, '/v1/members')).map(({ name }) => name),
      ['owner'],
    );
    assert.deepEqual(
      (await walk(bank, '/v1/tokens')).filter((one) => one.member_id === id),
      [],
    );
    const { json: heir } = answered(await add('clerk'), 201);
    assert.notEqual(heir.id, id);
    assert.deepEqual(answered(await add('clerk', key), 200).json.id, id);
    const lines = await listAuditRows(db.database.reader, { subjectId: id }, 10);
    assert.deepEqual(
      lines.map(({ action, channel }) => [action, channel]),
      ['member.remove', 'role.grant', 'member.add'].map((action) => [action, 'api']),
    );
  });

  it('an account keeps at least one owner, and nobody removes themselves', async () => {
    const account = await bank.account();
    const { owner } = bank.tenant;
    const own = `/v1/accounts/${account.id}/roles/${owner.id}`;
    const refused = (answer: TestAnswer): void =>
      assert.deepEqual(answered(answer, 422, 'last_owner').details, { account_id: account.id });
    refused(await setRole(bank, account, owner, 'admin'));
    refused(await remove(own));
    answered(await setRole(bank, account, owner, 'owner'), 200);
    const heir = await person(bank);
    const { details } = answered(await remove(`/v1/members/${owner.id}`), 409, 'invalid_state');
    assert.deepEqual(details, { current: 'own_member', allowed: ['other_member'] });
    answered(await setRole(bank, account, heir.member, 'owner'), 200);
    answered(await remove(own, heir.token), 204);
    answered(await remove(own), 403, 'authority_insufficient');
    refused(await remove(`/v1/accounts/${account.id}/roles/${heir.member.id}`, heir.token));
    answered(await remove(`/v1/accounts/${account.id}/roles/${owner.id}`, heir.token), 204);
  });

  it('of two owners who remove each other at once, in any way, one stays', async () => {
    for (let round = 0; round < 8; round += 1) {
      const account = await bank.account();
      const [one, two] = [await person(bank), await person(bank)];
      for (const { member } of [one, two])
        answered(await setRole(bank, account, member, 'owner'), 200);
      answered(
        await remove(`/v1/accounts/${account.id}/roles/${bank.tenant.owner.id}`, one.token),
        204,
      );
      const against = ({ member }: Person, by: Person): Promise<TestAnswer> =>
        round % 3 === 0
          ? remove(`/v1/accounts/${account.id}/roles/${member.id}`, by.token)
          : round % 3 === 1
            ? remove(`/v1/members/${member.id}`, by.token)
            : setRole(bank, account, member, 'viewer', { token: by.token });
      const answers = await Promise.all([against(one, two), against(two, one)]);
      assert.equal(answers.filter(({ status }) => status < 300).length, 1);
      const rows = await db.sql(
        `SELECT 1 FROM member_roles WHERE role='owner' AND account_id=${idLiteral(account.id)}`,
      );
      assert.equal(rows.length, 1);
    }
  });

  it('of two simultaneous removals of the last two owners by themselves, one is refused', async () => {
    const account = await bank.account();
    const heir = await person(bank);
    answered(await setRole(bank, account, heir.member, 'owner'), 200);
    const own = (id: string): string => `/v1/accounts/${account.id}/roles/${id}`;
    const answers = await Promise.all([
      remove(own(bank.tenant.owner.id)),
      remove(own(heir.member.id), heir.token),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 422]);
  });

  it('nobody touches a member who has a role that they lack in some account', async () => {
    const [mine, other] = [await bank.account(), await bank.account()];
    const [local, both] = [await person(bank), await person(bank)];
    answered(await setRole(bank, mine, local.member, 'owner'), 200);
    answered(await setRole(bank, mine, both.member, 'viewer'), 200);
    answered(await setRole(bank, other, both.member, 'viewer'), 200);
    const { token } = local;
    const asked = [
      () => createToken(bank, both.member, { token }),
      () => remove(`/v1/tokens/${both.keyId}`, token),
      () => remove(`/v1/members/${both.member.id}`, token),
    ];
    for (const held of [null, 'viewer', 'operator'] as const) {
      if (held !== null) answered(await setRole(bank, other, local.member, held), 200);
      // An approver may do what an operator may not, and the reverse.
      const role = held === 'operator' ? 'approver' : held === 'viewer' ? 'operator' : 'viewer';
      answered(await setRole(bank, other, both.member, role), 200);
      for (const ask of asked) answered(await ask(), 403, 'authority_insufficient');
    }
    answered(await setRole(bank, mine, both.member, 'admin', { token }), 200);
    answered(
      await setRole(bank, other, both.member, 'admin', { token }),
      403,
      'authority_insufficient',
    );
    answered(await setRole(bank, other, local.member, 'admin'), 200);
    for (const [index, status] of [201, 204, 204].entries())
      answered(await asked[index]!(), status);
  });

  it('an owner who has lost the last role may do nothing more, in the very next request', async () => {
    const account = await bank.account();
    const heir = await person(bank, ['access']);
    answered(await setRole(bank, account, heir.member, 'owner'), 200);
    const { token } = heir;
    answered(await open({}, { token }), 201);
    const opened = list(
      answered(await bank.request('GET', '/v1/accounts', { token }), 200).json.items,
    );
    assert.equal(opened.length, 2);
    // The bank's owner has no role in the account that the heir has opened.
    answered(await remove(`/v1/members/${heir.member.id}`), 403, 'authority_insufficient');
    const own = text(opened[0]?.id);
    answered(await setRole(bank, { id: own }, bank.tenant.owner, 'owner', { token }), 200);
    for (const { id } of opened)
      answered(await remove(`/v1/accounts/${text(id)}/roles/${heir.member.id}`), 204);
    for (const [method, path, body] of [
      ['GET', '/v1/accounts', undefined],
      ['GET', `/v1/accounts/${account.id}`, undefined],
      ['POST', '/v1/accounts', { type: 'person', name: 'A' }],
      ['PATCH', `/v1/accounts/${account.id}`, { metadata: {} }],
      ['GET', '/v1/members', undefined],
      ['POST', '/v1/members', { name: randomUUID() }],
      ['DELETE', `/v1/members/${bank.tenant.owner.id}`, undefined],
      ['PUT', `/v1/accounts/${account.id}/roles/${heir.member.id}`, { role: 'owner' }],
      ['DELETE', `/v1/accounts/${account.id}/roles/${bank.tenant.owner.id}`, undefined],
      ['GET', '/v1/tokens', undefined],
      ['POST', '/v1/tokens', { member_id: heir.member.id, scopes: ['access'], name: 'x' }],
      ['DELETE', `/v1/tokens/${heir.keyId}`, undefined],
    ] as const)
      answered(await bank.request(method, path, { body, token }), 403, 'authority_insufficient');
    const reading = await bank.issue(heir.member, ['read', 'access']);
    const seen = answered(await bank.request('GET', '/v1/accounts', { token: reading }), 200);
    assert.deepEqual(seen.json.items, []);
  });

  it('the quotas of accounts, members and tokens are refused with 422, leave the key free, and operators change them', async () => {
    const { id } = bank.tenant.tenant;
    const member = await bank.member();
    await setQuotas(
      db.database,
      systemClock,
      id,
      { accounts: 1n, members: 2n, tokens: 1n },
      TEST_ACTOR,
    );
    const asked = [
      (key: string) => open({}, { key }),
      (key: string) => bank.request('POST', '/v1/members', { body: { name: 'more' }, key }),
      (key: string) => createToken(bank, member, { key }),
    ];
    const keys = asked.map(() => randomUUID());
    for (const [index, name] of ['accounts', 'members', 'tokens'].entries()) {
      const { details } = answered(await asked[index]!(keys[index]!), 422, 'quota_exceeded');
      assert.equal(details?.quota, name);
      assert.equal(details.used, details.limit);
    }
    await bank.account();
    await setQuotas(
      db.database,
      systemClock,
      id,
      { accounts: null, members: 3n, tokens: 2n },
      TEST_ACTOR,
    );
    for (const [index, ask] of asked.entries()) answered(await ask(keys[index]!), 201);
  });
});
