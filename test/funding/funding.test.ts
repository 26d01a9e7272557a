import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ApiError } from '../../src/core/errors.js';
import { MAX_RAW } from '../../src/core/amount.js';
import { type Adjustment, payIns } from '../../src/db/entities/operations.js';
import { type Account, accounts } from '../../src/db/entities/parties.js';
import type { NewAdjustment, NewPayIn } from '../../src/funding/decide.js';
import {
  approveAdjustment,
  listAdjustments,
  proposeAdjustment,
  recordPayIn,
  rejectAdjustment,
} from '../../src/funding/service.js';
import { idLiteral } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import {
  balanceOf,
  makeAccount,
  makeTenant,
  openWriter,
  refusalOf,
  someone,
  type TestTenant,
} from '../helpers/world.js';

const codeOf = async (work: Promise<unknown>): Promise<unknown> => (await refusalOf(work))[0];

const test = await testDatabase();
const deps = { database: test.database, writer: openWriter(test.database).writer };

describe('pay-ins and adjustments', () => {
  let world: TestTenant;
  let account: Account;

  beforeEach(async () => {
    world = await makeTenant(test.database);
    account = await makeAccount(deps, world);
  });

  const payIn = (changes: Partial<NewPayIn> = {}) =>
    recordPayIn(deps, {
      tenantId: world.tenant.id,
      accountId: account.id,
      amount: { raw: 100n, asset: 'COPM' },
      reference: `pay-${randomUUID()}`,
      description: null,
      by: someone('bob'),
      ...changes,
    });
  const propose = (changes: Partial<NewAdjustment> = {}) =>
    proposeAdjustment(deps, {
      tenantId: world.tenant.id,
      accountId: account.id,
      direction: 'in',
      amount: { raw: 100n, asset: 'COPM' },
      reference: `case-${randomUUID()}`,
      reason: 'a correction',
      by: someone('bob'),
      ...changes,
    });
  const available = async () => (await balanceOf(test.database, account.id)).available;
  const systemHas = async (systemRole: 'pay_in' | 'adjustment') => {
    const system = await test.database.reader.find(accounts, {
      tenantId: world.tenant.id,
      systemRole,
    });
    return (await balanceOf(test.database, system!.id)).available;
  };

  it('a pay-in puts its amount into the account, against the pay-in account', async () => {
    await payIn();
    assert.deepEqual([await available(), await systemHas('pay_in')], [100n, -100n]);
  });

  it('a pay-in repeated under its reference with the same content moves money once, even if another person repeats it', async () => {
    const first = await payIn({ reference: 'wire-1' });
    const second = await payIn({ reference: 'wire-1', by: someone('mary') });
    assert.deepEqual([first.replayed, second.replayed], [false, true]);
    assert.deepEqual(second.resource, first.resource);
    assert.equal(await available(), 100n);
  });

  it('many pay-ins at the same time with one reference move money once', async () => {
    const all = await Promise.all(
      Array.from({ length: 30 }, () => payIn({ reference: 'wire-race' })),
    );
    assert.equal(all.filter(({ replayed }) => !replayed).length, 1);
    assert.equal(new Set(all.map(({ resource }) => resource.id)).size, 1);
    assert.equal(await available(), 100n);
  });

  for (const [what, changes] of [
    ['another amount', { amount: { raw: 101n, asset: 'COPM' } }],
    ['another asset', { amount: { raw: 100n, asset: 'DUSD' } }],
    ['another description', { description: 'other' }],
  ] as const)
    it(`a pay-in under a used reference with ${what} is a conflict`, async () => {
      await payIn({ reference: 'wire-2' });
      assert.equal(
        await codeOf(payIn({ reference: 'wire-2', ...changes })),
        'idempotency_key_reused',
      );
      assert.equal(await available(), 100n);
    });

  it('a pay-in or an adjustment is refused if its reference is not a short word or its amount is not positive', async () => {
    for (const reference of ['', 'a b', 'a/post', 'ñ', 'a'.repeat(65), 'a\n'])
      assert.equal(await codeOf(payIn({ reference })), 'invalid_field', reference);
    for (const raw of [0n, -1n]) {
      assert.equal(await codeOf(payIn({ amount: { raw, asset: 'COPM' } })), 'invalid_field');
      assert.equal(await codeOf(propose({ amount: { raw, asset: 'COPM' } })), 'invalid_field');
    }
  });

  it('a pay-in that would take a balance beyond 64 bits is refused, and its reference stays free', async () => {
    await payIn();
    const tooMuch = { amount: { raw: MAX_RAW, asset: 'COPM' }, reference: 'large' } as const;
    assert.equal(await codeOf(payIn(tooMuch)), 'invalid_field');
    await payIn({ reference: 'large' });
    await payIn({ amount: { raw: MAX_RAW - 200n, asset: 'COPM' } });
    assert.equal(await available(), MAX_RAW);
    assert.equal(await codeOf(payIn({ amount: { raw: 1n, asset: 'COPM' } })), 'invalid_field');
    // The pay-in account, on the other side, is full for every account.
    const { id: accountId } = await makeAccount(deps, world);
    const one = { accountId, amount: { raw: 1n, asset: 'COPM' } } as const;
    assert.equal(await codeOf(payIn(one)), 'invalid_field');
  });

  it('funding is refused for an account of another tenant and for a system account', async () => {
    const other = await makeTenant(test.database);
    assert.equal(await codeOf(payIn({ tenantId: other.tenant.id })), 'not_found');
    assert.equal(await codeOf(propose({ tenantId: other.tenant.id })), 'not_found');
    const [system] = await test.database.reader.select(accounts, {
      tenantId: world.tenant.id,
      systemRole: 'pay_in',
    });
    assert.equal(await codeOf(payIn({ accountId: system!.id })), 'not_found');
  });

  it('the pay-in is stored with the person who recorded it', async () => {
    const { resource } = await payIn({ description: '  from the   bank ' });
    assert.deepEqual(await test.database.reader.find(payIns, { id: resource.id }), resource);
    assert.deepEqual([resource.recordedBy, resource.description], ['bob', 'from the bank']);
  });

  it('an adjustment moves no money until another operator posts it', async () => {
    const { resource } = await propose();
    assert.equal(await available(), 0n);
    assert.equal(
      await codeOf(approveAdjustment(deps, resource, someone('bob'))),
      'authority_insufficient',
    );
    const posted = await approveAdjustment(deps, resource, someone('mary'));
    assert.deepEqual([posted.resource.status, posted.resource.decidedBy], ['posted', 'mary']);
    assert.deepEqual([await available(), await systemHas('adjustment')], [100n, -100n]);
  });

  it('an adjustment out takes money only up to the available balance', async () => {
    const { resource } = await propose({ direction: 'out' });
    assert.equal(
      await codeOf(approveAdjustment(deps, resource, someone('mary'))),
      'insufficient_funds',
    );
    await payIn({ amount: { raw: 150n, asset: 'COPM' } });
    await approveAdjustment(deps, resource, someone('mary'));
    assert.deepEqual([await available(), await systemHas('adjustment')], [50n, 100n]);
  });

  it('an adjustment that is approved several times is posted once', async () => {
    const { resource } = await propose();
    const all = await Promise.all(
      ['mary', 'zoe', 'mary', 'zoe'].map((name) =>
        approveAdjustment(deps, resource, someone(name)),
      ),
    );
    assert.equal(all.filter(({ replayed }) => !replayed).length, 1);
    assert.equal(await available(), 100n);
  });

  it('of a simultaneous approval and rejection of an adjustment, exactly one succeeds', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { resource } = await propose();
      const ends = await Promise.allSettled([
        approveAdjustment(deps, resource, someone('mary')),
        rejectAdjustment(deps, resource, someone('zoe')),
      ]);
      assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1);
    }
    const posted = await listAdjustments(test.database.reader, world.tenant.id, 'posted', 100);
    const rejected = await listAdjustments(test.database.reader, world.tenant.id, 'rejected', 100);
    assert.equal(posted.length + rejected.length, 10);
    assert.equal(await available(), BigInt(posted.length) * 100n);
  });

  it('a rejected adjustment is never posted', async () => {
    const { resource } = await propose();
    await rejectAdjustment(deps, resource, someone('bob'));
    assert.equal(await codeOf(approveAdjustment(deps, resource, someone('mary'))), 'invalid_state');
    assert.equal((await rejectAdjustment(deps, resource, someone('mary'))).replayed, true);
    assert.equal(await available(), 0n);
  });

  it('a closed account takes no money in, and an adjustment empties it', async () => {
    await payIn({ amount: { raw: 5n, asset: 'COPM' } });
    const { resource: into } = await propose();
    await test.sql(`UPDATE accounts SET status='closed' WHERE id=${idLiteral(account.id)}`);
    const approve = () => approveAdjustment(deps, into, someone('mary'));
    for (const refused of [payIn, propose, approve])
      assert.equal(await codeOf(refused()), 'invalid_state');
    const { resource: out } = await propose({
      direction: 'out',
      amount: { raw: 5n, asset: 'COPM' },
    });
    await approveAdjustment(deps, out, someone('mary'));
    assert.equal(await available(), 0n);
  });

  it('held funds are not taken by an adjustment, and count towards 64 bits', async () => {
    await payIn();
    const held = (raw: bigint) =>
      `UPDATE balances SET available=available-${raw}, held=held+${raw} WHERE account_id=${idLiteral(account.id)} AND asset='COPM'`;
    await test.sql(held(60n));
    const { resource } = await propose({ direction: 'out', amount: { raw: 41n, asset: 'COPM' } });
    await assert.rejects(approveAdjustment(deps, resource, someone('mary')), (failure) => {
      assert(failure instanceof ApiError && failure.refusal.code === 'insufficient_funds');
      assert.deepEqual(failure.refusal.details, { available: '40', requested: '41' });
      return true;
    });
    const beyond = { amount: { raw: MAX_RAW - 99n, asset: 'COPM' } } as const;
    assert.equal(await codeOf(payIn(beyond)), 'invalid_field');
    const { resource: full } = await propose(beyond);
    const approved = approveAdjustment(deps, full, someone('mary'));
    assert.equal(await codeOf(approved), 'invalid_field');
    await test.sql(held(-60n));
  });

  it('an adjustment of another tenant is not found', async () => {
    const { resource } = await propose();
    const foreign = { ...resource, tenantId: (await makeTenant(test.database)).tenant.id };
    for (const decide of [approveAdjustment, rejectAdjustment])
      assert.equal(await codeOf(decide(deps, foreign, someone('mary'))), 'not_found');
  });

  it('the list of pay-ins and adjustments is newest first and can be narrowed', async () => {
    const [one, two] = [await propose({ reference: 'one' }), await propose({ reference: 'two' })];
    await rejectAdjustment(deps, one.resource, someone('mary'));
    const references = async (status: Adjustment['status'] | null, limit = 100) =>
      (await listAdjustments(test.database.reader, world.tenant.id, status, limit)).map(
        ({ reference }) => reference,
      );
    assert.deepEqual(await references(null), ['two', 'one']);
    assert.deepEqual(await references('proposed'), [two.resource.reference]);
    assert.deepEqual(await references(null, 1), ['two']);
  });
});
