import assert from 'node:assert/strict';
import { parseDetails } from '../../src/access/audit-log.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { type GuardedBank, openGuarded } from '../support/guarded.js';
import { text } from '../support/bank.js';
import { assertLedgerSound } from '../support/world.js';
import { startTestDesk, type TestDesk, type Visitor } from './desk.js';

describe('at the support desk', () => {
  let db: TestDatabase;
  let api: TestApi;
  let desk: TestDesk;
  let own: GuardedBank;
  let maria: Visitor;

  before(async () => {
    db = await testDatabase();
    api = await startTestApi(db);
    desk = await startTestDesk(db);
    own = await openGuarded(api);
    maria = await desk.staffed('maria');
  });

  after(async () => {
    await desk.stop();
    await api.stop();
  });

  const pend = async (): Promise<string> => text((await own.pend()).id);

  it('a waiting transfer is on the first page, and approved with a reason and a code', async () => {
    const id = await pend();
    assert.match((await maria.get('/')).text, new RegExp(`href="/transfers/${id}"`));
    const page = `/transfers/${id}`;
    const code = await desk.freshCode(maria.person);
    const answer = await maria.act(page, 'approve', { reason: 'ticket 118', code });
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, `${page}?done=approve`], answer.text);
    assert.equal((await own.read(id)).status, 'completed');
    const story = (await maria.get(`${page}?done=approve`)).text;
    for (const told of [
      'Done: Approve',
      'Approved</strong>, by maria (support desk)',
      'Ledger: ',
      'Event transfer.completed',
    ])
      assert(story.includes(told), `${told} is missing in ${story}`);
    const acts = await desk.acts(id);
    assert.deepEqual(
      acts.map((act) => [act.action, act.channel, act.actorClaimed, parseDetails(act).reason]),
      [['transfer.approve', 'support', 'maria', 'ticket 118']],
    );
    await assertLedgerSound(db.database);
  });

  it('a form that is sent twice, or twice at once, acts once and says the same', async () => {
    const id = await pend();
    const page = `/transfers/${id}`;
    const fields = {
      ...(await maria.form(page, 'approve')),
      reason: 'ticket 119',
      code: await desk.freshCode(maria.person),
    };
    const both = await Promise.all([maria.post(`${page}/approve`, fields), maria.post(`${page}/approve`, fields)]);
    const again = await maria.post(`${page}/approve`, fields);
    assert.deepEqual(
      [...both, again].map(({ status }) => status),
      [303, 303, 303],
    );
    assert.equal((await desk.acts(id)).length, 1);
    assert.equal((await own.row(id)).approvalsReceived, 1);
    await assertLedgerSound(db.database);
  });
});
