import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { staff } from '../../src/db/entities/staff.js';
import { ApiError } from '../../src/core/errors.js';
import { approveAdjustment, proposeAdjustment } from '../../src/funding/service.js';
import { approveResolution } from '../../src/payouts/resolution/approve.js';
import { proposeResolution } from '../../src/payouts/resolution/resolutions.js';
import { approveFactorReset, proposeFactorReset } from '../../src/staff/factor-resets.js';
import { findStaff, setService } from '../../src/staff/people.js';
import type { StaffIdentity } from '../../src/staff/rules.js';
import { identityOf } from '../../src/staff/verification.js';
import { openPayoutBank, railsOf, rowOf, seen } from '../payouts/support.js';
import { startTestApi } from '../helpers/api.js';
import { LEAST } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { addStaff, proven, staffPartsOf } from '../helpers/staff.js';
import { hire } from '../helpers/temporal-world.js';
import { balanceOf, TEST_ACTOR } from '../helpers/world.js';

/** How one person may write a name that is not taken yet. */
const WAYS: Readonly<Record<string, (name: string) => string>> = {
  'upper case': (name) => name.toUpperCase(),
  'an accent': (name) => name.replace('i', 'í'),
  'full width': (name) =>
    name.replace(/[a-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 0x61 + 0xff41)),
  'a Cyrillic а': (name) => name.replace('a', '\u0430'),
  'spaces in a row': (name) => name.replace(' ', '   '),
};

const db = await testDatabase();
const api = await startTestApi(db);
const own = await openPayoutBank(api);
const account = own.source;
const maria = await addStaff(db.database, {
  name: `maria ${process.pid}`,
  rights: ['adjust', 'resolve', 'manage'],
});

describe('one person', () => {
  const funding = () => ({ database: db.database, writer: api.core.writer });
  const denied = (work: Promise<unknown>): Promise<void> =>
    assert.rejects(
      work,
      (failure) => failure instanceof ApiError && failure.refusal.code === 'authority_insufficient',
    );
  const asService = async (): Promise<StaffIdentity> => {
    const wanted = { name: `robot ${randomUUID()}`, rights: maria.rights };
    return identityOf(
      (await setService(staffPartsOf(db.database), wanted, TEST_ACTOR)).service,
      'ops',
    );
  };

  it('adding a person under a name that looks the same keeps that person and their authenticator', async () => {
    for (const [what, way] of Object.entries(WAYS)) {
      const name = way(maria.name);
      const again = await addStaff(db.database, { name, rights: maria.rights });
      assert.equal(again.id, maria.id, what);
      assert.deepEqual(again.factorSecret, maria.factorSecret);
      assert.equal((await findStaff(db.database.reader, name))?.id, maria.id);
    }
    const found = await db.database.reader.select(staff, { foldedName: maria.foldedName });
    assert.deepEqual(
      found.map(({ name }) => name),
      [maria.name],
    );
    await assert.rejects(
      setService(
        staffPartsOf(db.database),
        { name: maria.name.toUpperCase(), rights: ['adjust'] },
        TEST_ACTOR,
      ),
    );
  });

  it('cannot post their own adjustments under any name, nor through a service', async () => {
    const { tenantId, id: accountId } = account;
    const wanted = {
      tenantId,
      accountId,
      direction: 'in',
      amount: { raw: LEAST, asset: 'COPM' },
    } as const;
    const reference = randomUUID();
    const { available } = await balanceOf(db.database, accountId);
    const proposal = { ...wanted, reference, reason: 'a correction', by: proven(maria) };
    const { resource } = await proposeAdjustment(funding(), proposal);
    assert.equal(resource.proposedById, maria.id);
    for (const way of Object.values(WAYS)) {
      const person = (await findStaff(db.database.reader, way(maria.name)))!;
      await denied(
        approveAdjustment(funding(), resource, { ...proven(person), name: way(maria.name) }),
      );
    }
    await denied(approveAdjustment(funding(), resource, await asService()));
    await denied(
      approveAdjustment(funding(), resource, proven(await hire(db.database, ['resolve']))),
    );
    assert.equal((await balanceOf(db.database, accountId)).available, available);
    const leo = await hire(db.database);
    const posted = await approveAdjustment(funding(), resource, proven(leo));
    assert.deepEqual([posted.resource.status, posted.resource.decidedById], ['posted', leo.id]);
    assert.equal((await balanceOf(db.database, accountId)).available, available + LEAST);
  });

  it('cannot apply their own resolutions under any name, nor through a service', async () => {
    const id = await own.pay('03');
    const { submissions, writer, calls } = railsOf(db);
    await submissions.submit(id);
    const deps = { calls, quietMs: () => 0 };
    const wanted = { outcome: 'completed', reason: 'the bank says so', by: proven(maria) } as const;
    await denied(
      proposeResolution(writer, await seen(db, id), { ...wanted, by: await asService() }),
    );
    await denied(
      proposeResolution(writer, await seen(db, id), {
        ...wanted,
        by: proven(await hire(db.database, ['adjust'])),
      }),
    );
    await proposeResolution(writer, await seen(db, id), wanted);
    for (const way of Object.values(WAYS)) {
      const person = (await findStaff(db.database.reader, way(maria.name)))!;
      await denied(
        approveResolution(deps, await seen(db, id), { ...proven(person), name: way(maria.name) }),
      );
    }
    await denied(approveResolution(deps, await seen(db, id), await asService()));
    assert.equal((await rowOf(db, id)).status, 'in_progress');
    assert.equal(
      (await approveResolution(deps, await seen(db, id), proven(await hire(db.database)))).status,
      'completed',
    );
  });

  it('an authenticator is replaced neither by the person concerned nor by the proposer', async () => {
    const deps = staffPartsOf(db.database);
    const [leo, eva, lost] = [
      await hire(db.database),
      await hire(db.database),
      await hire(db.database),
    ];
    await denied(proposeFactorReset(deps, lost, 'lost', proven(lost)));
    await denied(proposeFactorReset(deps, lost, 'lost', await asService()));
    await proposeFactorReset(deps, lost, 'lost the telephone', proven(leo));
    for (const by of [leo, eva])
      await assert.rejects(
        proposeFactorReset(deps, lost, 'lost it too', proven(by)),
        /is proposed already/,
      );
    for (const by of [
      proven(leo),
      { ...proven(leo), name: leo.name.toUpperCase() },
      proven(lost),
      await asService(),
    ])
      await denied(approveFactorReset(deps, lost, by));
    const before = await db.database.reader.find(staff, { id: lost.id });
    assert.deepEqual(before?.factorSecret, lost.factorSecret);
    await approveFactorReset(deps, lost, proven(eva));
    assert.notDeepEqual(
      (await db.database.reader.find(staff, { id: lost.id }))?.factorSecret,
      lost.factorSecret,
    );
  });
});
