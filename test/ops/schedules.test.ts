import assert from 'node:assert/strict';
import { startTestApi } from '../helpers/api.js';
import { openBank, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { makeDue, runAll, scheduled } from '../transfers/schedules/support.js';
import { commandLine, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const db = await testDatabase();
const people = new SignedInPeople(db);
const { one, rows, fails } = commandLine(() => people.env);

describe('the commands for schedules', () => {
  before(() => people.signIn('maria'));
  after(() => people.remove());

  it('list and show a schedule, and pause, resume and cancel it in the name of the person', async () => {
    const bank = await openBank(await startTestApi(db));
    const id = text((await scheduled(bank)).id);
    await makeDue(db, id, 1.5);
    await runAll(bank, id);
    const shown = await one('schedules', 'show', id);
    assert.deepEqual(
      [shown.status, shown.every, shown.runs, shown.workflow_id],
      ['active', '1 day', 1, `schedule/${id}`],
    );
    const list = words`schedules list --tenant ${bank.tenant.tenant.id} --status`;
    assert.deepEqual(
      (await rows(...list, 'active')).map((row) => row.id),
      [id],
    );
    const why = ['--reason', 'ticket 7'];
    for (const [action, status] of [
      ['pause', 'paused'],
      ['resume', 'active'],
      ['cancel', 'canceled'],
    ] as const)
      assert.equal((await one('schedules', action, id, ...why, '--yes')).status, status);
    const { status_set: set } = await one('schedules', 'show', id);
    const { action, by, reason } = set as Readonly<Record<string, unknown>>;
    assert.deepEqual([action, by, reason], ['schedule.cancel', 'maria', 'ticket 7']);
    await fails(1, /it is canceled/, 'schedules', 'pause', id, ...why, '--yes');
    assert.deepEqual(await rows(...list, 'active'), []);
  });
});
