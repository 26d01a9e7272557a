import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Authenticator } from '../../src/access/authenticator.js';
import {
  addMember,
  grantRole,
  grantRoleEverywhere,
  listMembers,
  removeRole,
} from '../../src/access/members.js';
import { addTenant } from '../../src/access/tenants.js';
import { issueToken, listTokens, revokeToken } from '../../src/access/tokens.js';
import { ApiError } from '../../src/core/errors.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { ASSETS } from '../../src/core/amount.js';
import { eventCounters } from '../../src/db/entities/events.js';
import { balances } from '../../src/db/entities/ledger.js';
import { accounts, memberRoles, SYSTEM_ROLES, tenants } from '../../src/db/entities/parties.js';
import { testDatabase } from '../support/database.js';
import {
  makeAccount,
  makeTenant,
  makeToken,
  openWriter,
  type TestTenant,
  TEST_ACTOR,
} from '../support/world.js';

const HERE = '203.0.113.7';

/** The code and the reason with which it is refused. */
async function refusalOf(work: Promise<unknown>): Promise<readonly unknown[]> {
  const failure = await work.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof ApiError, String(failure));
  return [failure.refusal.code, failure.refusal.details?.reason];
}

const test = await testDatabase();

describe('tenants, members and tokens', () => {
  let world: TestTenant;

  before(async () => {
    world = await makeTenant(test.database);
  });

  const add = (wanted: Partial<{ name: string; network: string | null; timeZone: string }>) =>
    addTenant(
      test.database,
      systemClock,
      { name: randomUUID() + ' Ltd', network: null, timeZone: 'UTC', ...wanted },
      TEST_ACTOR,
    );

  it('a tenant has its system accounts, which may be overdrawn, and its event counter', async () => {
    const { tenant } = world;
    const own = await test.database.reader.select(accounts, {
      tenantId: tenant.id,
      type: 'system',
    });
    assert.deepEqual(new Set(own.map(({ systemRole }) => systemRole)), new Set(SYSTEM_ROLES));
    const rows = await test.database.reader.select(balances, {
      accountId: own.map(({ id }) => id),
    });
    assert.equal(rows.length, SYSTEM_ROLES.length * ASSETS.length);
    assert.ok(
      rows.every(({ overdraft, available, held }) => overdraft && available === 0n && held === 0n),
    );
    const counter = await test.database.reader.find(eventCounters, { tenantId: tenant.id });
    assert.equal(counter?.lastSequence, 0n);
  });

  it('a name belongs to one tenant, and a refused one leaves nothing behind', async () => {
    const before = await test.sql('SELECT COUNT(*) AS count FROM accounts');
    assert.deepEqual(await refusalOf(add({ name: world.tenant.name })), ['invalid_field', 'taken']);
    assert.deepEqual(await test.sql('SELECT COUNT(*) AS count FROM accounts'), before);
  });

  for (const [what, wanted, reason] of [
    ['an empty name', { name: '  ' }, 'too_short'],
    ['a long name', { name: 'a'.repeat(81) }, 'too_long'],
    ['a line break in the name', { name: 'a\nb' }, 'control_character'],
    ['a name that looks like an id', { name: randomUUID() }, 'looks_like_an_id'],
    ['a time zone that there is not', { timeZone: 'America/Macondo' }, 'unknown'],
    ['a network in capitals', { network: 'Andes' }, 'pattern'],
  ] as const)
    it(`a tenant with ${what} is refused`, async () =>
      assert.deepEqual(await refusalOf(add(wanted)), ['invalid_field', reason]));

  it('a tenant keeps its network and time zone', async () => {
    const { id } = await add({ network: 'andes', timeZone: 'America/Mexico_City' });
    const stored = await test.database.reader.find(tenants, { id });
    assert.deepEqual([stored?.network, stored?.timeZone], ['andes', 'America/Mexico_City']);
  });

  it('a member has one role in an account: the last that was granted', async () => {
    const { tenant, owner } = world;
    const account = await makeAccount(
      { database: test.database, writer: openWriter(test.database).writer },
      world,
    );
    const member = await addMember(test.database, systemClock, tenant.id, 'clerk', TEST_ACTOR);
    await grantRole(test.database, systemClock, member, account.id, 'viewer', TEST_ACTOR);
    await grantRole(test.database, systemClock, member, account.id, 'operator', TEST_ACTOR);
    const roles = await test.database.reader.select(memberRoles, {
      accountId: account.id,
      memberId: member.id,
    });
    assert.deepEqual(
      roles.map(({ role }) => role),
      ['operator'],
    );
    assert.equal(await removeRole(test.database, systemClock, member, account.id, TEST_ACTOR), 1);
    assert.equal(await removeRole(test.database, systemClock, member, null, TEST_ACTOR), 0);
    const kept = await test.database.reader.find(memberRoles, {
      accountId: account.id,
      memberId: owner.id,
    });
    assert.equal(kept?.role, 'owner');
  });

  it('a role in all accounts reaches each of the tenant, and no other account', async () => {
    const other = await makeTenant(test.database);
    const writer = openWriter(test.database).writer;
    const foreign = await makeAccount({ database: test.database, writer }, world);
    const own = [
      await makeAccount({ database: test.database, writer }, other),
      await makeAccount({ database: test.database, writer }, other),
    ];
    assert.equal(
      await grantRoleEverywhere(test.database, systemClock, other.owner, 'admin', TEST_ACTOR),
      2,
    );
    const roles = await test.database.reader.select(memberRoles, { memberId: other.owner.id });
    assert.deepEqual(
      new Set(roles.map(({ accountId }) => accountId)),
      new Set(own.map(({ id }) => id)),
    );
    assert.ok(roles.every(({ role }) => role === 'admin'));
    assert.deepEqual(
      await refusalOf(
        grantRole(test.database, systemClock, other.owner, foreign.id, 'viewer', TEST_ACTOR),
      ),
      ['not_found', undefined],
    );
    const [listed] = await listMembers(test.database.reader, other.tenant.id);
    assert.deepEqual([...(listed?.roles ?? [])], [['admin', 2]]);
  });

  it('nobody has a role in a system account', async () => {
    const system = await test.database.reader.find(accounts, {
      tenantId: world.tenant.id,
      systemRole: 'pay_in',
    });
    assert.deepEqual(
      await refusalOf(
        grantRole(test.database, systemClock, world.owner, system!.id, 'viewer', TEST_ACTOR),
      ),
      ['not_found', undefined],
    );
  });

  it('a member name belongs to one member of the tenant', async () => {
    const again = addMember(
      test.database,
      systemClock,
      world.tenant.id,
      world.owner.name,
      TEST_ACTOR,
    );
    assert.deepEqual(await refusalOf(again), ['invalid_field', 'taken']);
  });

  it('a token is stored without its secret, and speaks for its member', async () => {
    const { text, token } = await makeToken(test.database, world.owner, ['read', 'lookup']);
    const stored = JSON.stringify(await test.sql('SELECT * FROM tokens'));
    assert.ok(!stored.includes(text.slice(-40)));
    const caller = await new Authenticator(test.database.reader, systemClock).authenticate(
      text,
      HERE,
    );
    assert.deepEqual(caller, {
      tenantId: world.tenant.id,
      memberId: world.owner.id,
      tokenKeyId: token.keyId,
      scopes: ['read', 'lookup'],
    });
  });

  it('a token keeps its scopes once, its ranges and its end', async () => {
    const expiresAt = instant(systemClock() + 60_000);
    const wanted = {
      name: 'server',
      scopes: ['read', 'read'],
      expiresAt,
      cidrs: ['10.1.1.1/8', '10.0.0.0/8'],
    } as const;
    const { token } = await issueToken(test.database, systemClock, world.owner, wanted, TEST_ACTOR);
    const stored = (await listTokens(test.database.reader, world.tenant.id)).find(
      ({ keyId }) => keyId === token.keyId,
    );
    assert.deepEqual(stored, token);
    assert.deepEqual(
      [token.scopes, token.cidrs, token.expiresAt],
      [['read'], '10.0.0.0/8', expiresAt],
    );
  });

  for (const [what, wanted, reason] of [
    ['no scope', { scopes: [] }, 'empty'],
    ['an end in the past', { expiresAt: instant(0) }, 'in_the_past'],
    ['a range that is none', { cidrs: ['10.0.0.0/99'] }, 'not an address range: 10.0.0.0/99'],
  ] as const)
    it(`a token with ${what} is refused`, async () => {
      const full = { name: 'x', scopes: ['read'] as const, expiresAt: null, cidrs: [], ...wanted };
      const issued = issueToken(test.database, systemClock, world.owner, full, TEST_ACTOR);
      assert.deepEqual(await refusalOf(issued), ['invalid_field', reason]);
    });

  it('a revoked token is refused within a second, by every process', async () => {
    const { text, token } = await makeToken(test.database, world.owner);
    const processes = [1, 2].map(() => new Authenticator(test.database.reader, systemClock));
    for (const one of processes) assert.notEqual(await one.authenticate(text, HERE), null);
    await revokeToken(test.database, systemClock, token.keyId, TEST_ACTOR);
    const revokedAt = performance.now();
    for (const one of processes) {
      for (
        let asked = revokedAt;
        (await one.authenticate(text, HERE)) !== null;
        asked = performance.now()
      ) {
        assert.ok(asked - revokedAt < 1_000, 'it was still let in after a second');
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  });

  it('revoking a token again changes nothing', async () => {
    const { token } = await makeToken(test.database, world.owner);
    const first = await revokeToken(test.database, systemClock, token.keyId, TEST_ACTOR);
    assert.deepEqual(await revokeToken(test.database, systemClock, token.keyId, TEST_ACTOR), first);
    assert.deepEqual(
      await refusalOf(revokeToken(test.database, systemClock, 'a'.repeat(16), TEST_ACTOR)),
      ['not_found', undefined],
    );
  });
});
