import assert from 'node:assert/strict';
import { listAuditRows } from '../../src/access/audit-log.js';
import { addMember } from '../../src/members/members.js';
import { keyIdOf } from '../../src/access/token-text.js';
import { listTokens, revokeToken } from '../../src/members/tokens.js';
import { systemClock } from '../../src/core/instant.js';
import { created } from '../access/own-access-support.js';
import { startTestApi } from '../helpers/api.js';
import { answered, type Bank, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { until } from '../helpers/temporal.js';
import { assertLedgerSound, makeToken, TEST_ACTOR } from '../helpers/world.js';
import { commandLine, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const db = await testDatabase();
const api = await startTestApi(db);
const people = new SignedInPeople(db);
await people.signIn('maria', ['manage']);

describe('the tokens of a member', () => {
  let bank: Bank;

  beforeEach(async () => {
    bank = await openBank(api);
  });
  after(async () => {
    people.remove();
    await api.stop();
  });

  const { ops, rows } = commandLine(() => people.env);

  it('one command revokes all tokens of a member and no others, and the audit log has each', async () => {
    const { id: tenantId, name } = bank.tenant.tenant;
    const member = await addMember(db.database, systemClock, tenantId, 'leaky', TEST_ACTOR);
    const made = await Promise.all([1, 2, 3].map(() => makeToken(db.database, member)));
    const ended = await revokeToken(db.database, systemClock, made[0]!.token.keyId, TEST_ACTOR);
    const revoke = words`tokens revoke --tenant ${name} --member leaky --yes`;
    const revoked = (await rows(...revoke)).map((token) => token.key_id);
    const live = made.slice(1).map(({ token }) => token.keyId);
    assert.deepEqual(revoked.sort(), live.sort());
    const known = await listTokens(db.database.reader, tenantId);
    for (const { token } of made)
      assert.notEqual(known.find(({ keyId }) => keyId === token.keyId)?.revokedAt, null);
    assert.deepEqual(known.find(({ keyId }) => keyId === ended.keyId)?.revokedAt, ended.revokedAt);
    answered(await bank.request('GET', '/v1/accounts'), 200);
    for (const { text: token } of made) {
      const use = () => bank.request('GET', '/v1/accounts', { token });
      await until('it is refused', async () => (await use()).status === 401);
      answered(await use(), 401, 'unauthorized');
    }
    const acts = await listAuditRows(db.database.reader, { tenantId, action: 'token.revoke' }, 10);
    assert.deepEqual(
      acts
        .filter(({ actorClaimed }) => actorClaimed === 'maria')
        .map((act) => act.subjectId)
        .sort(),
      live,
    );

    assert.deepEqual(await rows(...revoke), []);
  });

  it('a token is revoked with those that it created', async () => {
    await bank.account();
    const { token } = await created(bank, await bank.member());
    const keyId = keyIdOf(bank.token) ?? '';
    const use = () => bank.request('GET', '/v1/accounts', { token });
    answered(await use(), 200);
    assert.equal((await ops('tokens', 'revoke', keyId, '--cascade', '--yes')).code, 0);
    await until('it is refused', async () => (await use()).status === 401);
  });

  it('a token that operators rotate is one of operators, also after its creator was revoked', async () => {
    await bank.account();
    const { keyId } = await created(bank, await bank.member());
    const creator = keyIdOf(bank.token) ?? '';
    await db.change(
      `UPDATE tokens SET revoked_at=created_at-INTERVAL 1 MINUTE WHERE key_id='${creator}'`,
    );
    await db.change(
      `UPDATE tokens SET created_at=created_at-INTERVAL 2 MINUTE WHERE key_id='${keyId}'`,
    );
    const { stdout } = await ops('tokens', 'rotate', keyId, '--yes', '--json');
    assert.equal((JSON.parse(stdout) as Record<string, unknown>).created_by_key, null);
    await assertLedgerSound(db.database);
  });

  it('are selected by a key id, or by a tenant and a member, and not by both', async () => {
    const { name } = bank.tenant.tenant;
    for (const args of [
      [],
      ['--member', 'owner'],
      ['--tenant', name],
      ['abc', '--tenant', name, '--member', 'owner'],
    ])
      assert.equal((await ops('tokens', 'revoke', ...args, '--yes')).code, 2, args.join(' '));
  });
});
