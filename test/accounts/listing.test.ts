import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { closeAccount, freezeAccount } from '../../src/accounts/status.js';
import { type Account, accounts } from '../../src/db/entities/parties.js';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral, type Json, openBank, text, walk } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';

const DECIDED = { actor: TEST_ACTOR, reason: null };

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);
const opened: Account[] = [];
for (let count = 0; count < 9; count += 1)
  opened.push(
    await bank.account({
      type: count % 3 === 0 ? 'person' : 'business',
      isVerified: count !== 8,
    }),
  );
await freezeAccount(db.deps, opened[1]!.id, DECIDED);
await closeAccount(db.deps, opened[2]!.id, DECIDED);

describe('the accounts of a tenant', () => {
  const idsOf = (items: readonly Json[]): string[] => items.map(({ id }) => text(id));
  const newest = (...indexes: readonly number[]): string[] =>
    indexes.map((index) => opened[index]!.id);
  const all = (): string[] => newest(8, 7, 6, 5, 4, 3, 2, 1, 0);

  it('are listed newest first and once each with any page size, including closed accounts but no system accounts', async () => {
    for (const limit of [1, 4, 9, 100])
      assert.deepEqual(idsOf(await walk(bank, `/v1/accounts?limit=${limit}`)), all());
    const { json } = answered(await bank.get('/v1/accounts?limit=9'), 200);
    const fields = Object.keys(json).sort();
    assert.deepEqual([fields, json.next_cursor], [['items', 'next_cursor'], null]);
  });

  it('can be narrowed by type and by status', async () => {
    assert.deepEqual(idsOf(await walk(bank, '/v1/accounts?type=person&limit=2')), newest(6, 3, 0));
    assert.deepEqual(idsOf(await walk(bank, '/v1/accounts?status=frozen')), newest(1));
    assert.deepEqual(idsOf(await walk(bank, '/v1/accounts?status=closed')), newest(2));
    assert.deepEqual(
      idsOf(await walk(bank, '/v1/accounts?status=active&type=business&limit=1')),
      newest(8, 7, 5, 4),
    );
  });

  it('the list of accounts with a malformed filter is 400 invalid_field', async () => {
    const wrong = 'type=system status=open limit=0 limit=101 limit=x cursor=x name=a type=';
    for (const query of wrong.split(' ')) {
      const { details } = answered(await bank.get(`/v1/accounts?${query}`), 400, 'invalid_field');
      assert.equal(details?.field, query.split('=')[0]);
    }
  });

  it('a cursor is valid only for its own filters and tenant', async () => {
    const cursor = text(answered(await bank.get('/v1/accounts?limit=2'), 200).json.next_cursor);
    const other = await openBank(api);
    for (const refused of [
      await bank.get(`/v1/accounts?type=person&cursor=${cursor}`),
      await other.get(`/v1/accounts?cursor=${cursor}`),
      await bank.get(`/v1/accounts?cursor=${cursor.slice(0, -2)}AA`),
    ])
      assert.equal(answered(refused, 400, 'invalid_field').details?.field, 'cursor');
    answered(await bank.get(`/v1/accounts?limit=7&cursor=${cursor}`), 200);
  });

  it('a single account has the same fields as in the list', async () => {
    const phone = '+573145550123';
    const own = await openBank(api);
    const { id } = await own.account({
      type: 'person',
      name: 'Ana María Pérez',
      alias: '$listed.ana',
      phone,
    });
    const shown = answered(await own.get(`/v1/accounts/${id.toUpperCase()}`), 200).json;
    const { created_at: createdAt, verified_at: verifiedAt, ...others } = shown;
    assert.deepEqual(others, {
      id,
      type: 'person',
      status: 'active',
      name: 'Ana María Pérez',
      display_name: 'Ana M. P.',
      alias: '$listed.ana',
      phone,
      can_send: true,
      metadata: {},
    });
    for (const time of [createdAt, verifiedAt])
      assert.match(text(time), /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
    assert.deepEqual(answered(await own.get('/v1/accounts'), 200).json.items, [shown]);
  });

  it('can send if they are active and verified', async () => {
    const sends = await Promise.all(
      [0, 1, 2, 8].map(
        async (index) => (await bank.get(`/v1/accounts/${opened[index]!.id}`)).json.can_send,
      ),
    );
    assert.deepEqual(sends, [true, false, false, false]);
  });

  it('foreign, missing and system accounts and malformed ids give the same 404, with any role', async () => {
    const foreign = await (await openBank(api)).account();
    const system = await db.database.reader.find(accounts, {
      tenantId: bank.tenant.tenant.id,
      systemRole: 'pay_in',
    });
    // Nothing gives this role, and the API would not check it.
    const row = `account_id=${idLiteral(system!.id)} AND member_id=${idLiteral(bank.tenant.owner.id)}`;
    await db.sql(`INSERT INTO member_roles SET ${row.replace(' AND ', ', ')}, role='owner'`);
    try {
      const listed = idsOf(await walk(bank, '/v1/accounts?limit=100'));
      assert.ok(!listed.includes(system!.id));
      const texts = await Promise.all(
        [foreign.id, randomUUID(), system!.id, 'no-id'].map(
          async (id) => answered(await bank.get(`/v1/accounts/${id}`), 404, 'not_found').text,
        ),
      );
      assert.equal(new Set(texts).size, 1);
    } finally {
      await db.sql(`DELETE FROM member_roles WHERE ${row}`);
    }
  });
});
