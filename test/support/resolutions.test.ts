import assert from 'node:assert/strict';
import { assertLedgerSound } from '../helpers/world.js';
import { openPayoutBank, railsOf, submitAndRaise } from '../payouts/support.js';
import { actFields, type Fields, findForm, openDesk, type Visitor } from './desk.js';

const { db, api, desk, maria } = await openDesk();

describe('resolving a payout at the support desk', () => {
  afterEach(() => assertLedgerSound(db.database));

  it('a resolution is applied or rejected by a form that showed it, not by one that showed another', async () => {
    const paying = await openPayoutBank(api);
    const id = await paying.pay('03');
    await submitAndRaise(db, id);
    const page = `/payouts/${id}`;
    const reason = 'statement of today';
    const sofia = await desk.staffed('sofia');
    const by = async (who: Visitor, verb: string, given: Fields) =>
      who.post(`${page}/${verb}`, { ...given, reason, code: await desk.freshCode(who.person) });
    const ask = async (verb: string, given: Fields = {}) =>
      by(maria, verb, { ...(await maria.form(page, verb)), ...given });
    assert.equal((await ask('propose', { outcome: 'failed' })).status, 303);
    const [apply, dismiss] = [await sofia.form(page, 'apply'), await sofia.form(page, 'dismiss')];
    assert.equal((await ask('dismiss')).status, 303);
    assert.equal((await ask('propose', { outcome: 'completed' })).status, 303);
    for (const [verb, seen] of [
      ['apply', apply],
      ['dismiss', dismiss],
    ] as const) {
      const answer = await by(sofia, verb, seen);
      assert.equal(answer.status, 409, answer.text);
      assert.match(
        answer.text,
        /Nothing was changed.*another resolution is proposed in its place/s,
      );
    }
    assert.equal((await paying.get(id)).status, 'in_progress');
    assert.equal((await by(sofia, 'apply', await sofia.form(page, 'apply'))).status, 303);
    assert.equal((await paying.get(id)).status, 'completed');
  });

  it('a resolution is proposed only for the state of the payout that the page showed', async () => {
    const paying = await openPayoutBank(api);
    const id = await paying.pay('03');
    const rails = railsOf(db);
    await rails.submissions.submit(id);
    const page = `/payouts/${id}`;
    const [form, edited] = [await maria.form(page, 'propose'), await maria.form(page, 'propose')];
    const report = { status: 'failed', reference: null, failureCode: 'account_closed' } as const;
    await rails.callbacks.report('simulated', { key: id, ...report, callbackId: `failed-${id}` });
    const wanted = { outcome: 'completed', reason: 'statement of today' };
    for (const [fields, status, text] of [
      [form, 409, /Nothing was changed.*the payout has become failed since you looked at it/s],
      [{ ...edited, state: 'paid 0' }, 400, /state/],
    ] as const) {
      const code = await desk.freshCode(maria.person);
      const answer = await maria.post(`${page}/propose`, { ...fields, ...wanted, code });
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.text, text);
    }
    assert.equal((await paying.get(id)).status, 'failed');
    const { text: failed } = await maria.get(page);
    assert(failed.includes(' went back to ') && failed.includes('<summary>Correct the outcome'));
    assert.match(failed, /Sent to the rail: .*Reported by the rail: failed</s);
  });

  it('a payout is resolved by two people, never by one, with any form', async () => {
    const paying = await openPayoutBank(api);
    const id = await paying.pay('03');
    await submitAndRaise(db, id);
    const page = `/payouts/${id}`;
    const reason = 'statement of today';
    const propose = { reason, outcome: 'completed', code: await desk.freshCode(maria.person) };
    const wrong = await maria.act(page, 'propose', { ...propose, outcome: 'paid' });
    assert.equal(wrong.status, 400, 'it uses up no code');
    assert.equal((await maria.act(page, 'propose', propose)).status, 303);
    const shown = (await maria.get(page)).text;
    assert.match(shown, /a second person, who applies or rejects/);
    assert.match(shown, /sent 1 time, asked 0 times, no answer/);
    assert.equal(findForm(shown, `${page}/apply`), null, 'the button of the second person');
    const sofia = await desk.staffed('sofia');
    const stolen = await sofia.form(page, 'apply');
    assert.match(
      (await sofia.get(page)).text,
      /The outcome will be <strong>completed: the bank has paid it<\/strong>/,
    );
    const code = await desk.freshCode(maria.person);
    assert.equal((await maria.post(`${page}/apply`, { ...stolen, reason, code })).status, 403);
    // Her own session and her own form, which the page does not show her: the act is made for the test.
    const fields = { ...actFields(maria, 'apply', id), resolution: stolen.resolution ?? '' };
    const own2 = await maria.post(`${page}/apply`, {
      ...fields,
      reason,
      code: await desk.freshCode(maria.person),
    });
    assert.equal(own2.status, 403);
    assert.match(own2.text, /a second person does/);
    const applied = { ...stolen, reason, code: await desk.freshCode(sofia.person) };
    assert.equal((await sofia.post(`${page}/apply`, applied)).status, 303);
    assert.equal((await sofia.post(`${page}/apply`, applied)).status, 303, 'a reload');
    assert.equal((await paying.get(id)).status, 'completed');
    assert.deepEqual(
      (await desk.acts(id)).map(({ action, actorClaimed }) => [action, actorClaimed]),
      [
        ['payout.resolve_propose', 'maria'],
        ['payout.resolve_approve_refused', 'maria'],
        ['payout.resolve_approve', 'sofia'],
      ],
    );
  });
});
