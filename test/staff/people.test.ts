import assert from 'node:assert/strict';
import { listAuditRows, operatorActor, parseDetails } from '../../src/access/audit-log.js';
import type { ApiError } from '../../src/core/errors.js';
import { systemClock } from '../../src/core/instant.js';
import type { Staff, StaffRight } from '../../src/db/entities/staff.js';
import { deactivateStaff, findStaff, listStaff } from '../../src/staff/people.js';
import { testDatabase } from '../helpers/database.js';
import { addStaff } from '../helpers/staff.js';

const ACTOR = operatorActor('maria');
const NAME = `Sofía ${process.pid}`;

const db = await testDatabase();

describe('support staff', () => {
  const set = (rights: readonly StaffRight[], name = NAME): Promise<Staff> =>
    addStaff(db.database, { name, rights }, ACTOR);

  it('are added, get exactly the rights given last, and stay the same person when deactivated and set again, with a line in the audit log for each change', async () => {
    const added = await set(['approve', 'cancel']);
    assert.deepEqual([added.name, added.active], [NAME, true]);
    assert.deepEqual(await set(['cancel']), { ...added, rights: ['cancel'] });
    assert.equal(await deactivateStaff(db.database, systemClock, added, ACTOR), true);
    assert.equal(await deactivateStaff(db.database, systemClock, added, ACTOR), false);
    const gone = { ...added, rights: ['cancel'], active: false };
    assert.deepEqual(await findStaff(db.database.reader, NAME), gone);
    // Known by the stored name: in NFC, one space between words.
    const again = await set(['approve'], `  Sofi\u0301a   ${process.pid} `);
    assert.deepEqual(again, { ...added, rights: ['approve'] });
    const listed = (await listStaff(db.database.reader)).filter(({ name }) => name === NAME);
    assert.deepEqual(listed, [again]);
    const lines = await listAuditRows(db.database.reader, { subjectId: added.id }, 20);
    const staffSet = (rights: string, before?: string): unknown[] => {
      const changed = before === undefined ? {} : { rights_before: before };
      const details = { name: NAME, kind: 'person', rights, ...changed };
      return ['staff.set', 'maria', 'ops', null, details];
    };
    assert.deepEqual(
      lines
        .reverse()
        .map((line) => [
          ...[line.action, line.actorClaimed, line.channel, line.tenantId, parseDetails(line)],
        ]),
      [
        ...[staffSet('approve,cancel'), staffSet('cancel', 'approve,cancel')],
        ...[['staff.deactivate', 'maria', 'ops', null, { name: NAME }]],
        staffSet('approve', 'cancel'),
      ],
    );
  });

  it('need a name of 1 to 80 characters and at least one right', async () => {
    for (const [name, rights, field] of [
      ['', ['approve'], 'name'],
      ['   ', ['approve'], 'name'],
      ['x'.repeat(81), ['approve'], 'name'],
      ['a\nb', ['approve'], 'name'],
      [`${NAME} b`, [], 'can'],
    ] as const)
      await assert.rejects(
        set(rights, name),
        ({ refusal }: ApiError) =>
          refusal.code === 'invalid_field' && refusal.details?.field === field,
      );
    assert.equal((await set(['approve'], `x${'💸'.repeat(70)}${process.pid}`)).active, true);
  });
});
