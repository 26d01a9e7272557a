import assert from 'node:assert/strict';
import { listAuditRows, operatorActor, parseDetails } from '../../src/access/audit-log.js';
import { deactivateStaff, findStaff, listStaff } from '../../src/staff/people.js';
import { ApiError } from '../../src/core/errors.js';
import { systemClock } from '../../src/core/instant.js';
import type { Staff, StaffRight } from '../../src/db/entities/staff.js';
import { testDatabase } from '../support/database.js';
import { addStaff } from '../support/staff.js';

const ACTOR = operatorActor('maria');

const db = await testDatabase();

describe('support staff', () => {
  let name: string;
  let count = 0;

  beforeEach(() => {
    name = `Sofía ${(count += 1)} ${process.pid}`;
  });

  const set = (rights: readonly StaffRight[], called = name): Promise<Staff> =>
    addStaff(db.database, { name: called, rights }, ACTOR);
  const known = (): Promise<Staff | undefined> => findStaff(db.database.reader, name);
  const acts = async ({ id }: Staff): Promise<unknown[]> =>
    (await listAuditRows(db.database.reader, { subjectId: id }, 20))
      .reverse()
      .map((act) => [act.action, act.actorClaimed, act.channel, act.tenantId, parseDetails(act)]);

  it('support staff are added with their rights, found by name and listed', async () => {
    const added = await set(['approve']);
    assert.deepEqual([added.name, added.rights, added.active], [name, ['approve'], true]);
    assert.deepEqual(await known(), added);
    assert.deepEqual(
      (await listStaff(db.database.reader)).filter((person) => person.name === name),
      [added],
    );
  });

  it('support staff who are there get exactly the rights that are given, and stay the same person', async () => {
    const added = await set(['approve', 'cancel']);
    const changed = await set(['cancel']);
    assert.deepEqual(changed, { ...added, rights: ['cancel'] });
    assert.deepEqual(await known(), changed);
  });

  it('support staff are deactivated once, stay visible, and are active again when they are set again', async () => {
    const added = await set(['approve']);
    assert.equal(await deactivateStaff(db.database, systemClock, added, ACTOR), true);
    assert.equal(await deactivateStaff(db.database, systemClock, added, ACTOR), false);
    assert.deepEqual(await known(), { ...added, active: false });
    assert.deepEqual(await set(['cancel']), { ...added, rights: ['cancel'] });
    assert.equal((await known())?.active, true);
  });

  it('support staff leave a line in the audit log for each change, of no tenant, and none where nothing changed', async () => {
    const added = await set(['approve', 'cancel']);
    await deactivateStaff(db.database, systemClock, added, ACTOR);
    await deactivateStaff(db.database, systemClock, added, ACTOR);
    await set(['cancel']);
    assert.deepEqual(await acts(added), [
      ['staff.set', 'maria', 'ops', null, { name, kind: 'person', rights: 'approve,cancel' }],
      ['staff.deactivate', 'maria', 'ops', null, { name }],
      ['staff.set', 'maria', 'ops', null, { name, kind: 'person', rights: 'cancel' }],
    ]);
  });

  it('support staff need a name of 1 to 80 characters and at least one right', async () => {
    for (const [called, rights, field] of [
      ['', ['approve'], 'name'],
      ['   ', ['approve'], 'name'],
      ['x'.repeat(81), ['approve'], 'name'],
      ['a\nb', ['approve'], 'name'],
      [name, [], 'can'],
    ] as readonly (readonly [string, readonly StaffRight[], string])[]) {
      const failure: unknown = await set(rights, called).catch((error: unknown) => error);
      assert(failure instanceof ApiError, `${called} was added`);
      assert.deepEqual(
        [failure.refusal.code, failure.refusal.details?.field],
        ['invalid_field', field],
      );
    }
    assert.equal(
      (await set(['approve'], `x${'💸'.repeat(70)}${count}${process.pid}`)).active,
      true,
    );
    assert.equal(await known(), undefined);
  });

  it('support staff are known by their stored name: NFC, one space between words', async () => {
    const spelled = await set(['approve'], `  Sofi\u0301a   ${count} ${process.pid} `);
    assert.equal(spelled.name, name);
    assert.equal((await set(['cancel'])).id, spelled.id);
  });

  it('support staff added twice at the same time are one person', async () => {
    const both = await Promise.allSettled([set(['approve']), set(['cancel'])]);
    const ids = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []));
    assert(ids.length >= 1 && new Set(ids).size === 1, JSON.stringify(both));
    assert.equal(
      (await listStaff(db.database.reader)).filter((person) => person.name === name).length,
      1,
    );
  });
});
