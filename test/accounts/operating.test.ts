import assert from 'node:assert/strict';
import { ASSETS } from '../../src/core/amount.js';
import { setAlias } from '../../src/accounts/alias.js';
import { listAccounts, readAccountDetails } from '../../src/accounts/directory.js';
import { listFeeSchedules, removeFeeSchedule, setFeeAccount } from '../../src/accounts/fee.js';
import { type NewAccount, openAccount } from '../../src/accounts/opening.js';
import { freezeAccount, unfreezeAccount } from '../../src/accounts/status.js';
import { ApiError } from '../../src/core/errors.js';
import { newId } from '../../src/core/ids.js';
import { balances } from '../../src/db/entities/ledger.js';
import { accounts, tenants } from '../../src/db/entities/parties.js';
import { updateSql } from '../../src/db/statements.js';
import { testDatabase } from '../support/database.js';
import {
  feeSchedule,
  fund,
  makeAccount,
  makeTenant,
  openWriter,
  setFee,
  type TestTenant,
  TEST_ACTOR,
} from '../support/world.js';

const DECIDED = { actor: TEST_ACTOR, reason: null };

async function refusalOf(work: Promise<unknown>): Promise<readonly unknown[]> {
  const failure = await work.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof ApiError, String(failure));
  const { code, details } = failure.refusal;
  return [code, details?.field, details?.reason];
}

const test = await testDatabase();

describe('accounts as operators manage them', () => {
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

  it('an account opens active, unverified and with nothing, in both assets, and may not be overdrawn', async () => {
    const { id } = await open({ alias: '$Ana.One', phone: '(300) 555-0001' });
    const stored = await test.database.reader.find(accounts, { id });
    assert.deepEqual(
      [stored?.status, stored?.verifiedAt, stored?.alias, stored?.phone, stored?.seq],
      ['active', null, '$ana.one', '+573005550001', 0n],
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

  it('opening an account names members, who have their roles from the start', async () => {
    const { id } = await open({ grants: [{ memberId: world.owner.id, role: 'admin' }] });
    const { members } = await readAccountDetails(test.database.reader, id);
    assert.deepEqual(members, [{ name: 'owner', role: 'admin' }]);
  });

  it('an alias belongs to one account of the tenant, in whatever case it is written', async () => {
    await open({ alias: '$taken' });
    assert.equal((await refusalOf(open({ alias: '$TAKEN' })))[0], 'alias_taken');
  });

  it('a phone belongs to one account of the tenant, in whatever way it is written', async () => {
    await open({ phone: '3005550002' });
    const refused = await refusalOf(open({ phone: '+57 300 555 0002' }));
    assert.deepEqual(refused, ['invalid_field', 'phone', 'taken']);
  });

  it('the same alias and phone may be used in another tenant', async () => {
    const other = await makeTenant(test.database);
    const both = { alias: '$shared', phone: '3005550003' };
    await open(both);
    await open({ ...both, tenantId: other.tenant.id });
  });

  it('of two simultaneous openings with one alias, one wins and the other is refused', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => open({ alias: '$race' })),
    );
    const lost = outcomes.filter((one) => one.status === 'rejected');
    const codes = lost.map(({ reason }) => reason instanceof ApiError && reason.refusal.code);
    assert.deepEqual(codes, Array(7).fill('alias_taken'));
  });

  for (const [what, wanted, refusal] of [
    ['a malformed alias', { alias: '$a' }, ['invalid_field', 'alias', 'malformed']],
    ['a malformed phone', { phone: '12' }, ['invalid_field', 'phone', 'malformed']],
    ['no name', { name: ' ' }, ['invalid_field', 'name', 'too_short']],
    ['a tenant that is not there', { tenantId: newId() }, ['not_found', undefined, undefined]],
    [
      'a member that is not there',
      { grants: [{ memberId: newId(), role: 'owner' }] },
      ['not_found', undefined, undefined],
    ],
  ] as const)
    it(`an account is not opened with ${what}`, async () =>
      assert.deepEqual(await refusalOf(open(wanted)), refusal));

  it('a member of another tenant gets no role', async () => {
    const { owner } = await makeTenant(test.database);
    const opened = open({ grants: [{ memberId: owner.id, role: 'owner' }] });
    assert.deepEqual(await refusalOf(opened), ['not_found', undefined, undefined]);
  });

  it('a frozen account can be unfrozen; doing either twice changes nothing', async () => {
    const { id } = await open();
    assert.equal((await freezeAccount(test.deps, id, DECIDED)).changed, true);
    assert.equal((await freezeAccount(test.deps, id, DECIDED)).changed, false);
    assert.equal(await statusOf(id), 'frozen');
    assert.equal((await unfreezeAccount(test.deps, id, DECIDED)).changed, true);
    assert.equal((await unfreezeAccount(test.deps, id, DECIDED)).changed, false);
    assert.equal(await statusOf(id), 'active');
  });

  it('freezing an account waits for a posting that holds the account, and loses none of it', async () => {
    const account = await makeAccount(deps(), world, { funds: { COPM: 5n } });
    const both = deps();
    await Promise.all([
      freezeAccount(test.deps, account.id, DECIDED),
      ...Array.from({ length: 20 }, () => fund(both, account, { raw: 1n, asset: 'COPM' })),
      setAlias(test.deps, account.id, '$meanwhile', TEST_ACTOR),
    ]);
    const stored = await test.database.reader.find(accounts, { id: account.id });
    assert.deepEqual([stored?.status, stored?.alias, stored?.seq], ['frozen', '$meanwhile', 21n]);
  });

  it('freezing an account decides by its state once its row is free, not by an earlier one', async () => {
    const { id } = await open();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const closing = test.database.withTransaction(async (transaction) => {
      await transaction.execute(updateSql(accounts, { status: 'closed' }, { id }));
      await held;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const freezing = refusalOf(freezeAccount(test.deps, id, DECIDED));
    await new Promise((resolve) => setTimeout(resolve, 100));
    release();
    await closing;
    assert.equal((await freezing)[0], 'invalid_state');
    assert.equal(await statusOf(id), 'closed');
  });

  it('a system account is not found', async () => {
    const system = await test.database.reader.find(accounts, {
      tenantId: world.tenant.id,
      systemRole: 'pay_in',
    });
    for (const change of [freezeAccount, unfreezeAccount])
      assert.equal((await refusalOf(change(test.deps, system!.id, DECIDED)))[0], 'not_found');
    const listed = await listAccounts(test.database.reader, world.tenant.id, 1_000);
    assert.ok(listed.length > 0 && listed.every(({ type }) => type !== 'system'));
  });

  it('a closed account is neither frozen nor unfrozen', async () => {
    const { id } = await open();
    await test.sql(`UPDATE accounts SET status='closed' WHERE id=X'${id.replaceAll('-', '')}'`);
    for (const change of [freezeAccount, unfreezeAccount])
      assert.equal((await refusalOf(change(test.deps, id, DECIDED)))[0], 'invalid_state');
  });

  it('fees need a fee account of the tenant', async () => {
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

  for (const [what, changes, field] of [
    ['a cap below its floor', { floorRaw: 2n, capRaw: 1n }, 'cap'],
    ['more than the whole amount', { basisPoints: 10_001n }, 'basis_points'],
    ['more than 64 bits', { flatRaw: 2n ** 63n }, 'flat'],
  ] as const)
    it(`a fee with ${what} is refused`, async () => {
      const setting = setFee(test.database, { tenantId: world.tenant.id, ...changes });
      assert.deepEqual((await refusalOf(setting)).slice(0, 2), ['invalid_field', field]);
    });
});
