import assert from 'node:assert/strict';
import { parseDetails } from '../../src/access/audit-log.js';
import type { Uuid } from '../../src/core/ids.js';
import { batches as batchTable } from '../../src/db/entities/batches.js';
import { webhookEndpoints } from '../../src/db/entities/webhooks.js';
import { BatchWorld, payroll } from '../batches/support.js';
import { openPayoutBank, submitAndRaise } from '../payouts/support.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import { newEndpoint } from '../webhooks/support.js';
import { type Fields, openDesk, type Visitor } from './desk.js';

const REASON = 'ticket 131';

const { db, api, desk, maria } = await openDesk();
const leo = await desk.staffed('leo');

describe('a form of the support desk that is sent again', () => {
  async function batch() {
    const batches = await BatchWorld.open(db);
    await batches.account({ alias: '$ana' });
    const payer = await batches.account({ funds: { COPM: 10n * LEAST } });
    const { id } = await batches.executed(payer, payroll([['$ana', LEAST.toString(), 'COPM']]));
    const pausedBy = async () => (await db.database.reader.find(batchTable, { id }))?.pausedBy;
    return { id, page: `/batches/${id}`, pausedBy };
  }
  async function endpoint() {
    const { id } = await newEndpoint(api);
    const pausedBy = async () =>
      (await db.database.reader.find(webhookEndpoints, { id }))?.pausedBy;
    return { id, page: `/endpoints/${id}`, pausedBy };
  }
  /** Pressed, and its fields kept, as in a tab that never got the answer. */
  async function sent(
    by: Visitor,
    page: string,
    verb: string,
    given: Fields = {},
  ): Promise<Fields> {
    const fields = { ...(await by.form(page, verb)), reason: REASON, ...given };
    const answer = await by.post(`${page}/${verb}`, fields);
    assert.equal(answer.status, 303, answer.text);
    return fields;
  }
  const done = async (id: Uuid): Promise<unknown[]> =>
    (await desk.acts(id))
      .filter(({ channel }) => channel === 'support')
      .map((act) => [act.action, act.actorClaimed, parseDetails(act).unchanged ?? false]);

  for (const [what, make, type] of [
    ['a batch', batch, 'bonus_batch'],
    ['an endpoint', endpoint, 'webhook'],
  ] as const) {
    it(`resumes ${what} once: a later pause stays`, async () => {
      const { id, page, pausedBy } = await make();
      await sent(leo, page, 'pause');
      const fields = await sent(maria, page, 'resume');
      await sent(leo, page, 'pause');
      for (let again = 0; again < 2; again += 1) {
        assert.equal((await maria.post(`${page}/resume`, fields)).status, 303);
        assert.equal(await pausedBy(), leo.person.name);
      }
      assert.equal((await done(id)).length, 3);
    });

    it(`a form of the support desk that found ${what} already resumed has the same result when it is sent again`, async () => {
      const { id, page, pausedBy } = await make();
      await sent(leo, page, 'pause');
      const fields = { ...(await maria.form(page, 'resume')), reason: REASON };
      await sent(leo, page, 'resume');
      assert.equal((await maria.post(`${page}/resume`, fields)).status, 303);
      await sent(leo, page, 'pause');
      assert.equal((await maria.post(`${page}/resume`, fields)).status, 303);
      assert.equal(await pausedBy(), leo.person.name);
      const { text } = await maria.get(page);
      const [byLeo, byMaria] = [leo, maria].map(({ person }) =>
        text.indexOf(`Resumed</strong>, by ${person.name}`),
      );
      assert(0 < byLeo! && byLeo! < byMaria!, 'the story is not in the order of time');
      // The audit log itself is in the order of the forms, by which the actions are named.
      assert.deepEqual(
        (await done(id)).sort(),
        [
          [`${type}.pause`, leo.person.name, false],
          [`${type}.pause`, leo.person.name, false],
          [`${type}.resume`, leo.person.name, false],
          [`${type}.resume`, maria.person.name, true],
        ].sort(),
      );
    });
  }

  it('a refused form of the support desk that is sent again stays refused, even if the action is possible now', async () => {
    const { id, page, pausedBy } = await batch();
    const status = (to: string): Promise<unknown> =>
      db.sql(`UPDATE batches SET status='${to}' WHERE id=${idLiteral(id)}`);
    const fields = { ...(await maria.form(page, 'pause')), reason: REASON };
    await status('ready');
    const first = await maria.post(`${page}/pause`, fields);
    await status('executing');
    const again = await maria.post(`${page}/pause`, fields);
    for (const { status: came, text } of [first, again]) {
      assert.equal(came, 409);
      assert.match(
        text,
        /Nothing was changed.*the batch is ready; this is possible only while it is executing/s,
      );
    }
    assert.equal(await pausedBy(), null);
    assert.equal((await desk.acts(id)).length, 1);
  });

  it('makes one proposal for a payout, also after somebody has rejected it', async () => {
    const paying = await openPayoutBank(api);
    const id = await paying.pay('03');
    await submitAndRaise(db, id);
    const page = `/payouts/${id}`;
    const coded = async (by: Visitor, verb: string, given: Fields = {}): Promise<Fields> =>
      sent(by, page, verb, { ...given, code: await desk.freshCode(by.person) });
    const proposed = await coded(maria, 'propose', { outcome: 'completed' });
    const dismissed = await coded(leo, 'dismiss');
    assert.equal((await maria.post(`${page}/propose`, proposed)).status, 303);
    assert.equal((await leo.post(`${page}/dismiss`, dismissed)).status, 303);
    const made = await db.sql(
      `SELECT status FROM payout_resolutions WHERE payout_id=${idLiteral(id)}`,
    );
    assert.deepEqual(
      made.map(({ status }) => status),
      ['rejected'],
    );
    const other = { ...proposed, outcome: 'failed', code: await desk.freshCode(maria.person) };
    const answer = await maria.post(`${page}/propose`, other);
    assert.equal(answer.status, 409);
    assert.match(answer.text, /Nothing was changed/);
  });
});
