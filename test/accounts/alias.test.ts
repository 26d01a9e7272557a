import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { closeAccount } from '../../src/accounts/status.js';
import { reserveAlias, unreserveAlias } from '../../src/accounts/alias.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { type Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';

const DAY_MS = 86_400_000;
const DECIDED = { actor: TEST_ACTOR, reason: null };

/** An alias that no other test has. */
const newAlias = (): string => `$${randomUUID().slice(0, 18)}x`;

const db = await testDatabase();

let now: Instant | null = null;
const api = await startTestApi(db, {}, { clock: () => now ?? systemClock() });
const bank = await openBank(api);

describe('the alias of an account', () => {
  let account: Account;

  beforeEach(async () => {
    now = null;
    account = await bank.account();
  });

  const set = (of: Account, alias: unknown, own = bank): Promise<TestAnswer> =>
    own.request('PUT', `/v1/accounts/${of.id}/alias`, { body: { alias } });
  const release = (of: Account, own = bank): Promise<TestAnswer> =>
    own.request('DELETE', `/v1/accounts/${of.id}/alias`);
  const holder = async (alias: string): Promise<unknown> =>
    (await bank.get(`/v1/accounts/lookup?alias=${encodeURIComponent(alias)}`)).json.account_id;

  it('an alias is stored in lower case and found by a lookup', async () => {
    const alias = newAlias();
    const answer = answered(await set(account, alias.toUpperCase()), 200);
    assert.deepEqual(answer.json, { account_id: account.id, alias });
    assert.equal(await holder(alias), account.id);
    assert.equal((await bank.get(`/v1/accounts/${account.id}`)).json.alias, alias);
  });

  it('putting the same alias again is 200 and changes nothing', async () => {
    const alias = newAlias();
    await set(account, alias);
    const before = await db.sql('SELECT COUNT(*) AS count FROM audit_log');
    answered(await set(account, alias.toUpperCase()), 200);
    assert.deepEqual(await db.sql('SELECT COUNT(*) AS count FROM audit_log'), before);
    assert.equal(await holder(alias), account.id);
  });

  it('is released by DELETE: 204, again 204, and a lookup finds no account', async () => {
    const alias = newAlias();
    await set(account, alias);
    assert.equal(answered(await release(account), 204).text, '');
    answered(await release(account), 204);
    assert.equal(await holder(alias), undefined);
    assert.equal((await bank.get(`/v1/accounts/${account.id}`)).json.alias, null);
  });

  it('that is malformed is 400 invalid_field, and one that is missing 400 missing_field', async () => {
    for (const [alias, code] of [
      ...['ana', `$${'a'.repeat(31)}`, '$\u0430na', '$an\uD800a', '', 5].map(
        (wrong) => [wrong, 'invalid_field'] as const,
      ),
      ...[[undefined, 'missing_field'] as const, [null, 'missing_field'] as const],
    ])
      assert.equal(answered(await set(account, alias), 400, code).details?.field, 'alias');
  });

  it('an alias that another account has is 422 alias_taken, without details', async () => {
    const alias = newAlias();
    await set(account, alias);
    const refused = await set(await bank.account(), alias.toUpperCase());
    assert.equal(answered(refused, 422, 'alias_taken').details, undefined);
    assert.equal(await holder(alias), account.id);
  });

  it('an alias that another tenant has or has released is free', async () => {
    const [alias, released] = [newAlias(), newAlias()];
    const other = await openBank(api);
    const foreign = await other.account();
    answered(await set(foreign, released, other), 200);
    answered(await set(foreign, alias, other), 200);
    answered(await set(account, alias), 200);
    answered(await set(account, released), 200);
  });

  it('a reserved alias is 422 alias_reserved, without details', async () => {
    for (const alias of ['$admin', '$soporte', '$support', '$banco', '$sistema', '$ADMIN'])
      assert.equal(answered(await set(account, alias), 422, 'alias_reserved').details, undefined);
  });

  it('released by its holder is 422 alias_in_quarantine, for the holder too, without details', async () => {
    const alias = newAlias();
    await set(account, alias);
    await release(account);
    for (const one of [account, await bank.account()])
      assert.equal(answered(await set(one, alias), 422, 'alias_in_quarantine').details, undefined);
  });

  it('a released alias is in quarantine until exactly 90 days after its last release', async () => {
    const alias = newAlias();
    await set(account, alias);
    for (const released of ['2031-03-01T10:00:00.123Z', '2031-06-01T10:00:00.000Z']) {
      now = instant(Date.parse(released));
      await release(account);
      now = instant(Date.parse(released) + 90 * DAY_MS - 1);
      answered(await set(account, alias), 422, 'alias_in_quarantine');
      now = instant(now + 1);
      answered(await set(account, alias), 200);
    }
  });

  it('an alias that was replaced by another one is released, and in quarantine', async () => {
    const [first, second] = [newAlias(), newAlias()];
    await set(account, first);
    answered(await set(account, second), 200);
    answered(await set(account, first), 422, 'alias_in_quarantine');
    assert.deepEqual([await holder(first), await holder(second)], [undefined, account.id]);
  });

  it('the alias of a closed account is in quarantine, and a closed account accepts no alias: 409 invalid_state', async () => {
    const alias = newAlias();
    await set(account, alias);
    await closeAccount(db.deps, account.id, DECIDED);
    answered(await set(await bank.account(), alias), 422, 'alias_in_quarantine');
    for (const refused of [await set(account, newAlias()), await release(account)])
      assert.deepEqual(answered(refused, 409, 'invalid_state').details, {
        current: 'closed',
        allowed: ['active', 'frozen'],
      });
  });

  it('an alias is checked in the order reserved, taken, quarantine', async () => {
    const alias = newAlias();
    const [other, third] = [await bank.account(), await bank.account()];
    await set(account, alias);
    await release(account);
    const quarantined = (): Promise<TestAnswer> => set(third, alias);
    answered(await quarantined(), 422, 'alias_in_quarantine');
    // Released once, and taken since: only an operator's past could make it so.
    const hex = other.id.replaceAll('-', '');
    await db.sql(`UPDATE accounts SET alias='${alias}' WHERE id=X'${hex}'`);
    answered(await quarantined(), 422, 'alias_taken');
    await reserveAlias(db.deps, alias, TEST_ACTOR);
    answered(await quarantined(), 422, 'alias_reserved');
    answered(await set(other, alias), 200);
    await unreserveAlias(db.deps, alias, TEST_ACTOR);
    answered(await quarantined(), 422, 'alias_taken');
  });

  it('an alias is checked for its form first, then for its account, then for the rules', async () => {
    const foreign = await (await openBank(api)).account();
    answered(await set(foreign, 'x'), 400, 'invalid_field');
    answered(await set(foreign, '$admin'), 404, 'not_found');
  });

  it('if several accounts request one alias at the same time, one account gets it and all other requests get alias_taken', async () => {
    const rivals = await Promise.all(Array.from({ length: 4 }, () => bank.account()));
    for (let round = 0; round < 10; round += 1) {
      const alias = newAlias();
      const answers = await Promise.all(rivals.map((rival) => set(rival, alias)));
      const codes = answers.map(({ status, code }) => code ?? status).sort();
      assert.deepEqual(codes, [200, 'alias_taken', 'alias_taken', 'alias_taken']);
      const winner = rivals[answers.findIndex(({ status }) => status === 200)];
      assert.equal(await holder(alias), winner?.id);
    }
  });

  it('an alias that one account releases while another requests it is never granted', async () => {
    const other = await bank.account();
    for (let round = 0; round < 10; round += 1) {
      const alias = newAlias();
      answered(await set(account, alias), 200);
      const [released, taken] = await Promise.all([release(account), set(other, alias)]);
      answered(released, 204);
      assert.equal(taken.status, 422);
      assert.ok(['alias_taken', 'alias_in_quarantine'].includes(taken.code ?? ''), taken.text);
      assert.equal(await holder(alias), undefined);
    }
  });
});
