import assert from 'node:assert/strict';
import { createConnection } from 'mysql2/promise';
import { parseDetails } from '../../src/access/audit-log.js';
import { timeOfId, type Uuid } from '../../src/core/ids.js';
import { idLiteral, LEAST, text } from '../helpers/bank.js';
import { revokeSessions } from '../../src/staff/sessions.js';
import { type GuardedBank, openGuarded } from '../helpers/guarded.js';
import { proven } from '../helpers/staff.js';
import { assertLedgerSound } from '../helpers/world.js';
import { openPayoutBank } from '../payouts/support.js';
import { type Answer, findForm, openDesk, startTestDesk, type Visitor } from './desk.js';

const { db, api, desk, maria } = await openDesk();
const own = await openGuarded(api);
const PATH = '/waiting/transfers/approve';
const REASON = 'ticket 118';

type Sent = readonly (readonly [name: string, value: string])[];

describe('a set of items at the support desk', () => {
  afterEach(() => assertLedgerSound(db.database));

  const pending = async (count: number, bank: GuardedBank = own): Promise<readonly Uuid[]> => {
    const ids: Uuid[] = [];
    for (let made = 0; made < count; made += 1)
      ids.push(text((await bank.createPending()).id) as Uuid);
    return ids;
  };

  /** The page that shows the selected items, and its form. */
  async function review(by: Visitor, ids: readonly string[], path = PATH) {
    const query = new URLSearchParams(ids.map((id): [string, string] => ['item', id]));
    const { text: page } = await by.get(`${path}?${query.toString()}`);
    const items = Array.from(page.matchAll(/name="item" value="([^"]*)"/g), ([, id = '']) => id);
    const { item: _, ...hidden } = findForm(page, path)?.fields ?? {};
    return { page, items, hidden: Object.entries(hidden) };
  }

  /** The fields of the form with a reason and a fresh code. */
  async function filled(by: Visitor, ids: readonly string[], path = PATH): Promise<Sent> {
    const { hidden, items } = await review(by, ids, path);
    const code = await desk.freshCode(by.person);
    return [
      ...hidden.map(([name, value]) => [name, value] as const),
      ...items.map((id) => ['item', id] as const),
      ['reason', REASON],
      ['code', code],
    ];
  }

  const send = (by: Visitor, sent: Sent, path = PATH): Promise<Answer> =>
    by.request('POST', path, {
      body: new URLSearchParams(
        sent.map(([name, value]): [string, string] => [name, value]),
      ).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
        origin: 'null',
      },
    });

  const actions = async (id: string): Promise<readonly unknown[]> =>
    (await desk.acts(id)).map((act) => [act.action, act.actorClaimed, parseDetails(act).reason]);
  const approved = [['transfer.approve', maria.person.name, REASON]];
  const checks = async (): Promise<number> =>
    Number((await db.sql('SELECT COUNT(*) AS n FROM staff_checks'))[0]?.n);

  it('a list of the support desk lets a person select its items, and shows their number and sums before anything is decided', async () => {
    const ids = await pending(3);
    const list = await maria.get('/waiting/transfers');
    for (const id of ids) assert(list.text.includes(`name="item" value="${id}" form="set"`));
    assert.doesNotMatch(list.text, /checked/);
    assert.match((await maria.get('/waiting/transfers?select=all')).text, /checked/);
    const { page, items } = await review(maria, ids);
    assert.deepEqual([...items].sort(), [...ids].sort());
    assert(page.includes(`${own.guarded.name} → ${own.receiver.name}`), 'who pays whom');
    assert.match(page, /<strong>3 transfers<\/strong>, in total <strong>30,000.00 COPM<\/strong>/);
    assert.equal(page.split('Available').length, 2, 'one account has one balance');
    const ofTwo = await review(maria, [...ids, ...(await pending(1, await openGuarded(api)))]);
    assert.equal(ofTwo.page.split('data-label="Available"').length, 5);
    const reader = await desk.staffed('reader of sets', ['read']);
    assert.doesNotMatch((await reader.get('/waiting/transfers')).text, /type="checkbox"/);
    const refused = await review(reader, ids);
    assert.equal(refused.items.length, 0);
    assert.match(refused.page, /left out, because reader of sets lacks the right to /);
    assert.doesNotMatch(refused.page, /decided before|Nothing is selected/);
    for (const wrong of ['1', 'x='])
      assert.equal((await maria.get(`${PATH}?item=${wrong}`)).status, 400);
    for (const id of ids) assert.deepEqual(await actions(id), []);
  });

  it('ten approvals take one reason and one code, and each has its own line in the audit log', async () => {
    const ids = await pending(10);
    const sent = await filled(maria, ids);
    const before = await checks();
    const answer = await send(maria, sent);
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.text, /Decided: 10 of 10, in total 100,000.00 COPM\./);
    for (const id of ids) {
      assert.equal((await own.read(id)).status, 'completed');
      assert.deepEqual(await actions(id), approved);
    }
    assert.equal(await checks(), before + 1);
    const [one = ''] = await pending(1);
    const again = sent.filter(([name]) => name !== 'act' && name !== 'item');
    const { hidden } = await review(maria, [one]);
    const act = hidden.find(([name]) => name === 'act')?.[1] ?? '';
    const reused = await send(maria, [...again, ['act', act], ['item', one]]);
    assert.match(reused.text, /the code was used before/);
    assert.match(reused.text, new RegExp(`name="reason"[^>]*value="${REASON}"`));
    assert.equal((await own.read(one)).status, 'pending_approval');
  });

  it('an item that was decided meanwhile is refused with its reason, and all others are approved', async () => {
    const ids = await pending(3);
    const [lost = ''] = ids;
    const sent = await filled(maria, ids);
    await own.act('reject', lost, 'approver');
    const answer = await send(maria, sent);
    assert.equal(answer.status, 200);
    assert.match(answer.text, /Decided: 2 of 3, in total 20,000.00 COPM\..*Refused: 1 of 3/s);
    assert.match(answer.text, /Nothing was changed: it is rejected, and waits for no approval/);
    for (const id of ids.slice(1)) assert.deepEqual(await actions(id), approved);
    assert.equal((await desk.acts(lost)).at(-1)?.action, 'transfer.approve_refused');
    const { page, items } = await review(maria, ids);
    assert.match(page, /left out, because they were decided before, or you proposed them/);
    assert.deepEqual(items, []);
  });

  it('a set that is not the one that was shown decides nothing, and does not use up the code', async () => {
    const ids = await pending(2);
    const [more = ''] = await pending(1);
    const sent = await filled(maria, ids);
    const before = await checks();
    const [first = ''] = ids;
    for (const changed of [
      [...sent, ['item', more] as const],
      sent.filter(([name, value]) => name !== 'item' || value !== first),
    ]) {
      const answer = await send(maria, changed);
      assert.equal(answer.status, 409);
      assert.match(answer.text, /not the items and amounts that were shown\. Nothing was decided/);
    }
    await db.sql(`UPDATE transfers SET raw=raw+1 WHERE id=${idLiteral(first)}`);
    assert.equal((await send(maria, sent)).status, 409, 'an amount that has changed');
    await db.sql(`UPDATE transfers SET raw=raw-1 WHERE id=${idLiteral(first)}`);
    for (const id of [...ids, more]) assert.deepEqual(await actions(id), []);
    assert.equal(await checks(), before);
    assert.equal((await send(maria, sent)).status, 200, 'the set as it was shown');
  });

  it('a set whose session has ended comes back after sign-in with its items and its reason, and says so', async () => {
    const ids = await pending(3);
    const nora = await desk.staffed('nora of sets');
    const sent = await filled(nora, ids);
    await revokeSessions(desk.core, { staffId: nora.person.id }, proven(nora.person));
    assert.equal((await send(nora, sent)).status, 303);
    await nora.signIn(await desk.freshCode(nora.person));
    const [other = ''] = await pending(1);
    assert.deepEqual((await review(nora, [other])).items, [other], 'a new selection is replaced');
    const { page, items } = await review(nora, []);
    assert.deepEqual([...items].sort(), [...ids].sort());
    assert.match(page, /role="alert">This form was not accepted, because your session had ended/);
    assert.match(page, new RegExp(`name="reason"[^>]*value="${REASON}"`));
    for (const id of ids) assert.deepEqual(await actions(id), []);
    assert.match((await send(nora, await filled(nora, items))).text, /Decided: 3 of 3/);
    assert.match(
      (await review(nora, [])).page,
      /Nothing is selected\. Select the items in the list/,
    );
  });

  it('a wrong code decides nothing, is reported once with the form and its reason, and leaves one line in the audit log for the whole set', async () => {
    const ids = await pending(2);
    const sent = (await filled(maria, ids)).filter(([name]) => name !== 'code');
    const [, act = ''] = sent.find(([name]) => name === 'act') ?? [];
    const setId = act.split('.')[0] ?? '';
    for (let again = 0; again < 2; again += 1) {
      const answer = await send(maria, [...sent, ['code', '000000']]);
      assert.match(answer.text, /Nothing was changed:<\/strong> the code is wrong/);
      assert.equal(answer.text.split('the code is wrong').length, 2, 'one message');
      assert.match(answer.text, new RegExp(`name="reason"[^>]*value="${REASON}"`));
      for (const id of ids) assert(answer.text.includes(`name="item" value="${id}"`));
    }
    const lines = await desk.acts(setId);
    assert.deepEqual(
      lines.map(({ action, tenantId }) => [action, tenantId]),
      [['transfer.approve_refused', null]],
    );
    for (const id of ids) assert.deepEqual(await actions(id), []);
    assert(timeOfId(setId as Uuid) > 0);
  });

  it('a set that is sent twice, even at the same time, decides each item once and shows the same results', async () => {
    const ids = await pending(4);
    const sent = await filled(maria, ids);
    const both = await Promise.all([send(maria, sent), send(maria, sent)]);
    const again = await send(maria, sent);
    for (const { status, text: shown } of [...both, again])
      assert.deepEqual([status, /Decided: 4 of 4/.test(shown)], [200, true]);
    for (const id of ids) assert.deepEqual(await actions(id), approved);
  });

  it('a desk that ends in the middle of a set has decided a part of it, and the same form decides only the rest', async () => {
    const other = await openGuarded(api);
    const [quick, slow] = [await pending(2), await pending(2, other)];
    const hasty = await startTestDesk(db, { COMMAND_TIMEOUT_MS: '2000' });
    const lock = await createConnection({ uri: db.adminUrl });
    const leo = await hasty.staffed('leo of sets');
    const sent = await filled(leo, [...quick, ...slow]);
    try {
      await lock.query('START TRANSACTION');
      await lock.query(
        `SELECT id FROM accounts WHERE id=${idLiteral(other.guarded.id)} FOR UPDATE`,
      );
      const first = await send(leo, sent);
      assert.equal(first.status, 503, first.text);
      assert.match(first.text, /It is not known whether \d of them were decided/);
    } finally {
      await lock.query('ROLLBACK');
      await lock.end();
      await hasty.stop();
    }
    const successor = await startTestDesk(db);
    try {
      const { cookies, person } = leo;
      const moved = Object.assign(Object.create(leo) as Visitor, {
        url: successor.url,
        cookies,
        person,
      });
      const second = await send(moved, sent);
      assert.equal(second.status, 200, second.text);
      assert.match(second.text, /Decided: 4 of 4/);
      for (const id of [...quick, ...slow])
        assert.deepEqual(await actions(id), [['transfer.approve', person.name, REASON]]);
      for (const id of slow) assert.equal((await other.read(id)).status, 'completed');
    } finally {
      await successor.stop();
    }
  });

  it('several items can be rejected with one reason, and payouts be approved like transfers', async () => {
    const ids = await pending(2);
    const path = '/waiting/transfers/reject';
    const answer = await send(maria, await filled(maria, ids, path), path);
    assert.match(answer.text, /Decided: 2 of 2/);
    for (const id of ids) assert.equal((await own.read(id)).status, 'rejected');
    const paying = await openPayoutBank(api);
    await paying.guard();
    const payouts = [await paying.createPending(), await paying.createPending()];
    const of = '/waiting/payouts/approve';
    const paid = await send(maria, await filled(maria, payouts, of), of);
    assert.match(paid.text, /Decided: 2 of 2/);
    for (const id of payouts) assert.equal((await desk.acts(id)).at(-1)?.action, 'payout.approve');
  });

  it('a refund that a person proposed is not among those that the same person can approve', async () => {
    const paid = answeredId(
      await own.bank.send({ from: own.guarded, to: own.receiver, raw: LEAST }),
    );
    const page = `/transfers/${paid}`;
    const code = await desk.freshCode(maria.person);
    assert.equal((await maria.act(page, 'refund', { reason: REASON, code })).status, 303);
    const [{ id = '' } = {}] = await db.sql(
      `SELECT LOWER(HEX(id)) AS id FROM transfers WHERE refund_of_id=${idLiteral(paid)}`,
    );
    const refund = String(id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    const [pendingId = ''] = await pending(1);
    assert.deepEqual((await review(maria, [refund, pendingId])).items, [pendingId]);
    const leo = await desk.staffed('leo who may');
    assert.equal((await review(leo, [refund])).items.length, 1);
  });
});

function answeredId(answer: Awaited<ReturnType<GuardedBank['bank']['send']>>): Uuid {
  assert.equal(answer.status, 201);
  return text(answer.json.id) as Uuid;
}
