import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addMember, listMembers, removeMember } from '../../src/members/members.js';
import { grantRole, grantRoleEverywhere, removeRole } from '../../src/members/roles.js';
import { addTenant } from '../../src/accounts/tenants.js';
import { issueToken, listTokens, revokeToken } from '../../src/members/tokens.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { memberRoles } from '../../src/db/entities/parties.js';
import { testDatabase } from '../helpers/database.js';
import {
  makeAccount,
  makeTenant,
  makeToken,
  openWriter,
  refusalOf,
  TEST_ACTOR,
} from '../helpers/world.js';

const test = await testDatabase();
const world = await makeTenant(test.database);
const reasonOf = (work: Promise<unknown>) => refusalOf(work, 'reason');

describe('tenants, members and tokens', () => {
  const { database } = test;
  const deps = () => ({ database, writer: openWriter(database).writer });

  const add = (wanted: Partial<{ name: string; network: string | null; timeZone: string }>) =>
    addTenant(
      database,
      systemClock,
      { name: randomUUID() + ' Ltd', network: null, timeZone: 'UTC', ...wanted },
      TEST_ACTOR,
    );

  it('a name belongs to one tenant, and a refused creation stores nothing', async () => {
    const before = await test.sql('SELECT COUNT(*) AS count FROM accounts');
    assert.deepEqual(await reasonOf(add({ name: world.tenant.name })), ['invalid_field', 'taken']);
    assert.deepEqual(await test.sql('SELECT COUNT(*) AS count FROM accounts'), before);
  });

  it('a tenant with a malformed name, network or time zone is refused', async () => {
    for (const [wanted, reason] of [
      [{ name: '  ' }, 'too_short'],
      [{ name: 'a'.repeat(81) }, 'too_long'],
      [{ name: 'a\nb' }, 'control_character'],
      [{ name: randomUUID() }, 'looks_like_an_id'],
      [{ timeZone: 'America/Macondo' }, 'unknown'],
      [{ network: 'Andes' }, 'pattern'],
    ] as const)
      assert.deepEqual(await reasonOf(add(wanted)), ['invalid_field', reason]);
  });

  it('a member has only the role that was granted last in an account', async () => {
    const { tenant, owner } = world;
    const account = await makeAccount(deps(), world);
    const member = await addMember(database, systemClock, tenant.id, 'clerk', TEST_ACTOR);
    await grantRole(database, systemClock, member, account.id, 'viewer', TEST_ACTOR);
    await grantRole(database, systemClock, member, account.id, 'operator', TEST_ACTOR);
    const roles = await database.reader.select(memberRoles, {
      accountId: account.id,
      memberId: member.id,
    });
    assert.deepEqual(
      roles.map(({ role }) => role),
      ['operator'],
    );
    assert.equal(await removeRole(database, systemClock, member, account.id, TEST_ACTOR), 1);
    assert.equal(await removeRole(database, systemClock, member, null, TEST_ACTOR), 0);
    const kept = await database.reader.find(memberRoles, {
      accountId: account.id,
      memberId: owner.id,
    });
    assert.equal(kept?.role, 'owner');
  });

  it('a role in all accounts applies to each account of the tenant, and to no other', async () => {
    const other = await makeTenant(database);
    const foreign = await makeAccount(deps(), world);
    const clerk = await addMember(database, systemClock, other.tenant.id, 'clerk', TEST_ACTOR);
    const own = [await makeAccount(deps(), other), await makeAccount(deps(), other)];
    assert.equal(await grantRoleEverywhere(database, systemClock, clerk, 'admin', TEST_ACTOR), 2);
    const roles = await database.reader.select(memberRoles, { memberId: clerk.id });
    assert.deepEqual(
      new Set(roles.map(({ accountId }) => accountId)),
      new Set(own.map(({ id }) => id)),
    );
    assert.ok(roles.every(({ role }) => role === 'admin'));
    assert.deepEqual(
      await reasonOf(grantRole(database, systemClock, clerk, foreign.id, 'viewer', TEST_ACTOR)),
      ['not_found', undefined],
    );
    const [, listed] = await listMembers(database.reader, other.tenant.id);
    assert.deepEqual([...(listed?.roles ?? [])], [['admin', 2]]);
  });

  it('an account that has an owner keeps one, whatever operators do', async () => {
    const other = await makeTenant(database);
    const { id } = await makeAccount(deps(), other);
    const last = ['last_owner', undefined];
    const { owner } = other;
    const grant = (role: 'admin') => grantRole(database, systemClock, owner, id, role, TEST_ACTOR);
    assert.deepEqual(await reasonOf(grant('admin')), last);
    const everywhere = grantRoleEverywhere(database, systemClock, owner, 'admin', TEST_ACTOR);
    assert.deepEqual(await reasonOf(everywhere), last);
    for (const account of [id, null])
      assert.deepEqual(
        await reasonOf(removeRole(database, systemClock, owner, account, TEST_ACTOR)),
        last,
      );
    assert.deepEqual(await reasonOf(removeMember(database, systemClock, owner, TEST_ACTOR)), last);
    const heir = await addMember(database, systemClock, other.tenant.id, 'heir', TEST_ACTOR);
    await grantRole(database, systemClock, heir, id, 'owner', TEST_ACTOR);
    await removeMember(database, systemClock, owner, TEST_ACTOR);
    const kept = await database.reader.select(memberRoles, { accountId: id });
    assert.deepEqual(
      kept.map(({ memberId }) => memberId),
      [heir.id],
    );
  });

  it('a member name belongs to one member of the tenant', async () => {
    const again = addMember(database, systemClock, world.tenant.id, world.owner.name, TEST_ACTOR);
    assert.deepEqual(await reasonOf(again), ['invalid_field', 'taken']);
  });

  it('a token stores its scopes without repetition, its address ranges and its expiry', async () => {
    const expiresAt = instant(systemClock() + 60_000);
    const wanted = {
      name: 'server',
      scopes: ['read', 'read'],
      expiresAt,
      cidrs: ['10.1.1.1/8', '10.0.0.0/8'],
    } as const;
    const { token } = await issueToken(database, systemClock, world.owner, wanted, TEST_ACTOR);
    const stored = (await listTokens(database.reader, world.tenant.id)).find(
      ({ keyId }) => keyId === token.keyId,
    );
    assert.deepEqual(stored, token);
    assert.deepEqual(
      [token.scopes, token.cidrs, token.expiresAt],
      [['read'], '10.0.0.0/8', expiresAt],
    );
  });

  it('a token without a scope, with an expiry in the past or a malformed address range is refused', async () => {
    for (const [wanted, reason] of [
      [{ scopes: [] }, 'empty'],
      [{ expiresAt: instant(0) }, 'in_the_past'],
      [{ cidrs: ['10.0.0.0/99'] }, 'not an address range: 10.0.0.0/99'],
    ] as const) {
      const full = { name: 'x', scopes: ['read'] as const, expiresAt: null, cidrs: [], ...wanted };
      const issued = issueToken(database, systemClock, world.owner, full, TEST_ACTOR);
      assert.deepEqual(await reasonOf(issued), ['invalid_field', reason]);
    }
  });

  it('revoking a token again changes nothing', async () => {
    const { token } = await makeToken(database, world.owner);
    const first = await revokeToken(database, systemClock, token.keyId, TEST_ACTOR);
    assert.deepEqual(await revokeToken(database, systemClock, token.keyId, TEST_ACTOR), first);
    assert.deepEqual(
      await reasonOf(revokeToken(database, systemClock, 'a'.repeat(16), TEST_ACTOR)),
      ['not_found', undefined],
    );
  });
});
