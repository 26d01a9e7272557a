import assert from 'node:assert/strict';
import { ASSETS } from '../../src/core/amount.js';
import { listTenantAccounts, readAccountDetails } from '../../src/accounts/read-accounts.js';
import { listFeeSchedules, removeFeeSchedule, setFeeAccount } from '../../src/operations/fees.js';
import { type NewAccount, openAccount } from '../../src/accounts/open-accounts.js';
import { freezeAccount, unfreezeAccount } from '../../src/accounts/status.js';
import { newId } from '../../src/core/ids.js';
import { balances } from '../../src/db/entities/ledger.js';
import { accounts, tenants } from '../../src/db/entities/parties.js';
import { testDatabase } from '../helpers/database.js';
import {
  feeSchedule,
  makeAccount,
  makeTenant,
  openWriter,
  refusalOf,
  setFee,
  type TestTenant,
  TEST_ACTOR,
} from '../helpers/world.js';

const DECIDED = { actor: TEST_ACTOR, reason: null };

const test = await testDatabase();

describe('accounts managed by operators', () => {
  let world: TestTenant;

  before(async () => {
    world = await makeTenant(test.database);
  });

  const open = (wanted: Partial<NewAccount> = {}) =>
    openAccount(
      test.deps,
      {
        ...{
          tenantId: world.tenant.id,
          type: 'person',
          name: 'Ana María Pérez',
          alias: null,
          phone: null,
          grants: [],
        },
        ...wanted,
      },
      TEST_ACTOR,
    );
  const deps = () => ({ database: test.database, writer: openWriter(test.database).writer });
  const statusOf = async (id: Awaited<ReturnType<typeof open>>['id']) =>
    (await test.database.reader.find(accounts, { id }))?.status;

  it('a new account is active, unverified, has zero balances in both assets, and may not be overdrawn', async () => {
    const { id } = await open({ alias: '$Ana.One', phone: '(300) 555-0001' });
    const stored = await test.database.reader.find(accounts, { id });
    assert.deepEqual(
      [stored?.status, stored?.verifiedAt, stored?.alias, stored?.phone],
      ['active', null, '$ana.one', '+573005550001'],
    );
    const rows = await test.database.reader.select(
      balances,
      { accountId: id },
      { orderBy: ['asset'] },
    );
    assert.deepEqual(
      rows.map((row) => [row.asset, row.available, row.held, row.overdraft]),
      ASSETS.map((asset) => [asset, 0n, 0n, false]),
    );
  });

  it('an account is opened with the roles of its members', async () => {
    const { id } = await open({ grants: [{ memberId: world.owner.id, role: 'admin' }] });
    const { members } = await readAccountDetails(test.database.reader, id);
    assert.deepEqual(members, [{ name: 'owner', role: 'admin' }]);
  });

  it('an alias or phone, in any spelling, belongs to one account of the tenant, and may be used in another tenant', async () => {
    const other = await makeTenant(test.database);
    const both = { alias: '$taken', phone: '3005550002' };
    await open(both);
    await open({ ...both, tenantId: other.tenant.id });
    assert.equal((await refusalOf(open({ alias: '$TAKEN' })))[0], 'alias_taken');
    assert.equal((await refusalOf(open({ phone: '+57 300 555 0002' })))[0], 'phone_taken');
  });

  it('an account is not opened with a malformed alias or phone, without a name, or for an unknown tenant or member', async () => {
    const { owner } = await makeTenant(test.database);
    for (const [wanted, refusal] of [
      [{ alias: '$a' }, ['invalid_field', 'alias', 'malformed']],
      [{ phone: '12' }, ['invalid_field', 'phone', 'malformed']],
      [{ name: ' ' }, ['invalid_field', 'name', 'too_short']],
      [{ tenantId: newId() }, ['not_found', undefined, undefined]],
      ...[newId(), owner.id].map(
        (memberId) =>
          [
            { grants: [{ memberId, role: 'owner' as const }] },
            ['not_found', undefined, undefined],
          ] as const,
      ),
    ] as const)
      assert.deepEqual(await refusalOf(open(wanted), 'field', 'reason'), refusal);
  });

  it('a frozen account can be unfrozen; freezing or unfreezing it twice changes nothing', async () => {
    const { id } = await open();
    assert.equal((await freezeAccount(test.deps, id, DECIDED)).changed, true);
    assert.equal((await freezeAccount(test.deps, id, DECIDED)).changed, false);
    assert.equal(await statusOf(id), 'frozen');
    assert.equal((await unfreezeAccount(test.deps, id, DECIDED)).changed, true);
    assert.equal((await unfreezeAccount(test.deps, id, DECIDED)).changed, false);
    assert.equal(await statusOf(id), 'active');
  });

  it('a system account is not found', async () => {
    const system = await test.database.reader.find(accounts, {
      tenantId: world.tenant.id,
      systemRole: 'pay_in',
    });
    for (const change of [freezeAccount, unfreezeAccount])
      assert.equal((await refusalOf(change(test.deps, system!.id, DECIDED)))[0], 'not_found');
    const listed = await listTenantAccounts(test.database.reader, world.tenant.id, 1_000);
    assert.ok(listed.length > 0 && listed.every(({ type }) => type !== 'system'));
  });

  it('a closed account is neither frozen nor unfrozen', async () => {
    const { id } = await open();
    await test.sql(`UPDATE accounts SET status='closed' WHERE id=X'${id.replaceAll('-', '')}'`);
    for (const change of [freezeAccount, unfreezeAccount])
      assert.equal((await refusalOf(change(test.deps, id, DECIDED)))[0], 'invalid_state');
  });

  it('a fee can be set only if the tenant has a fee account', async () => {
    const own = await makeTenant(test.database);
    const { id: tenantId } = own.tenant;
    const terms = { basisPoints: 10n, floorRaw: 100n, capRaw: 500_000n };
    const schedule = feeSchedule({ tenantId, operation: 'payout', ...terms });
    assert.equal((await refusalOf(setFee(test.database, schedule)))[0], 'invalid_state');
    const foreign = await open();
    const refused = refusalOf(setFeeAccount(test.deps, tenantId, foreign.id, TEST_ACTOR));
    assert.equal((await refused)[0], 'not_found');
    const { id } = await makeAccount(deps(), own);
    await setFeeAccount(test.deps, tenantId, id, TEST_ACTOR);
    const stored = await test.database.reader.find(tenants, { id: tenantId });
    assert.equal(stored?.feeAccountId, id);
    await setFee(test.database, { ...schedule, basisPoints: 5n });
    await setFee(test.database, schedule);
    assert.deepEqual(await listFeeSchedules(test.database.reader, own.tenant.id), [schedule]);
    const remove = () => removeFeeSchedule(test.deps, schedule, TEST_ACTOR);
    assert.equal(await remove(), true);
    assert.equal(await remove(), false);
  });

  it('a fee with a cap below its floor, more than the whole amount or more than 64 bits is refused', async () => {
    for (const [changes, field] of [
      [{ floorRaw: 2n, capRaw: 1n }, 'cap'],
      [{ basisPoints: 10_001n }, 'basis_points'],
      [{ flatRaw: 2n ** 63n }, 'flat'],
    ] as const) {
      const setting = setFee(test.database, { tenantId: world.tenant.id, ...changes });
      assert.deepEqual(await refusalOf(setting, 'field'), ['invalid_field', field]);
    }
  });
});
