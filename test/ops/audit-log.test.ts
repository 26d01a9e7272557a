import assert from 'node:assert/strict';
import { parse } from 'csv-parse/sync';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { startTestApi } from '../helpers/api.js';
import { idLiteral, type Json, LEAST, object, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { openGuarded } from '../helpers/guarded.js';
import { addStaff } from '../helpers/staff.js';
import { assertLedgerSound } from '../helpers/world.js';
import { noteAbout } from './notes.js';
import { commandLine, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const test = await testDatabase();
const api = await startTestApi(test);
const own = await openGuarded(api);
const people = new SignedInPeople(test);
const tenant = own.bank.tenant.tenant.name;

describe('the audit log at the command line', () => {
  after(async () => {
    await test.change(`DELETE FROM outbox WHERE tenant_id=${idLiteral(own.bank.tenant.tenant.id)}`);
    people.remove();
    await api.stop();
    await assertLedgerSound(test.database);
  });

  const { ops, rows, fails } = commandLine(() => people.env);
  const ids = (found: readonly Json[]): unknown[] => found.map((row) => row.id);

  it('has the amount and recipient of a transfer, times with seconds, and details as JSON in CSV', async () => {
    const to = await own.account({ name: 'Clara Rojas', type: 'person' });
    const id = text((await own.createPending({ raw: 4_321_000n, to })).id);
    await own.act('reject', id, 'approver');
    const log = words`audit-log --subject ${id}`;
    const [line] = await rows(...log);
    assert.equal(line?.subject, '43,210.00 COPM to Clara R.');
    assert.match((await ops(...log)).stdout, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ /m);
    const { stdout } = await ops(...log, '--csv');
    const [cells] = z
      .array(z.object({ details: z.string() }))
      .parse(parse(stdout.replace(/^\uFEFF/, ''), { columns: true }));
    assert.deepEqual(JSON.parse(cells?.details ?? ''), line.details);
  });

  it('names the member who acted, and shows the notes of the staff', async () => {
    const id = text((await own.createPending()).id);
    await own.act('reject', id, 'approver');
    await noteAbout(test, own.bank.tenant.tenant.id, 'transfer', id);
    const [note, reject] = await rows('audit-log', '--subject', id);
    assert.deepEqual(object(note?.details), { note: 'They called.\nTwice.' });
    assert.deepEqual([note?.by, reject?.by], [note?.actor, 'approver']);
    assert.match((await ops('audit-log', '--subject', id)).stdout, /approver/);
    const of = ['audit-log', '--subject', id, '--actor'];
    const approver = text(reject?.actor);
    await openGuarded(api);
    for (const named of [['approver', '--tenant', tenant], [approver]])
      assert.deepEqual(ids(await rows(...of, ...named)), [reject?.id]);
    await fails(1, /approver is the name of \d+ actors: .*member:\S+ of /, ...of, 'approver');
    const staff = text(note?.actor);
    for (const named of [staff, `staff:${staff}`])
      assert.deepEqual(ids(await rows(...of, named)), [note?.id]);
  });

  it('names similar actions and people, and the id of what it names instead, if it has nothing of them', async () => {
    const log = (...filter: readonly string[]) => ['audit-log', '--tenant', tenant, ...filter];
    for (const [given, meant] of [
      ['transfer.aprove', 'did you mean transfer.approve'],
      ['freeze', 'did you mean account.freeze, account.unfreeze'],
      ['transfer.nothing_like_it', 'did you mean transfer\\.'],
      ['nonsense', 'the shell completes actions'],
    ] as const)
      await fails(
        2,
        new RegExp(`--action: ${given} is not an action: ${meant}`),
        ...log('--action', given),
      );
    for (const action of ['restore.begin', 'transfer.approve_refused'])
      assert.deepEqual(await rows(...log('--action', action)), []);
    const ofTransfers = await rows(...log('--action', 'transfer.*'));
    assert.deepEqual(
      new Set(ofTransfers.map(({ action }) => action)),
      new Set(['transfer.reject']),
    );
    const { name } = await addStaff(test.database, {
      name: `carla ${randomUUID()}`,
      rights: ['read'],
    });
    assert.deepEqual(await rows(...log('--actor', name)), []);
    await fails(
      1,
      new RegExp(`: did you mean ${name}`),
      ...log('--actor', name.replace('l', 'll')),
    );
    await fails(
      1,
      /"nobody at all" is neither .*: .* staff list/,
      ...log('--actor', 'nobody at all'),
    );
    const { from, to } = { from: own.guarded, to: own.receiver };
    const { id } = await own.bank.sent({ from, to, raw: LEAST });
    assert.deepEqual(await rows(...log('--subject', text(id))), []);
    await fails(1, /neither the audit log nor a resource has/, ...log('--subject', randomUUID()));
  });
});
