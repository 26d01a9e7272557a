import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { parseDetails } from '../../src/access/audit-log.js';
import { formatAmount } from '../../src/core/amount.js';
import type { Account } from '../../src/db/entities/parties.js';
import { setFeeAccount } from '../../src/operations/fees.js';
import { answered, type Json, LEAST, list, object, text } from '../helpers/bank.js';
import { type GuardedBank, openGuarded } from '../helpers/guarded.js';
import { assertLedgerSound, setFee, TEST_ACTOR } from '../helpers/world.js';
import { actFields, type DeskWorld, findForm, openDesk, type Visitor } from './desk.js';

const RAW = 5n * LEAST;

describe('a refund at the support desk', () => {
  let world: DeskWorld;
  let own: GuardedBank;
  let sofia: Visitor;
  let payer: Account;

  before(async () => {
    world = await openDesk();
    own = await openGuarded(world.api);
    payer = await own.account({ funds: { COPM: 1_000n * LEAST } });
    sofia = await world.desk.staffed('sofia');
  });
  afterEach(() => assertLedgerSound(world.db.database));

  const refundsOf = async (id: string): Promise<Json[]> =>
    list((await own.bank.get(`/v1/transfers?refund_of=${id}`)).json.items);
  const propose = async (page: string, amount: string): Promise<string> => {
    const { desk, maria } = world;
    const code = await desk.freshCode(maria.person);
    const wrong = await maria.act(page, 'refund', { amount: '1.000', reason: 'ticket 118', code });
    assert.match(wrong.text, /amount is not valid: write it as/);
    const answer = await maria.act(page, 'refund', { amount, reason: 'ticket 118', code });
    assert.equal(answer.status, 303, answer.text);
    return (await maria.get(answer.headers.get('location') ?? '')).text;
  };

  it('of a transfer is proposed by one person and approved by another, whatever the policy', async () => {
    const { desk, maria } = world;
    const id = text((await own.bank.sent({ from: payer, to: own.guarded, raw: RAW })).id);
    const proposed = await propose(`/transfers/${id}`, '1,000.00');
    const [refund] = await refundsOf(id);
    assert.deepEqual(
      [refund?.status, refund?.description, object(refund?.amount).raw],
      ['pending_approval', 'ticket 118', `${LEAST}`],
    );
    for (const shown of ['Proposed.', 'Refunds that wait', `/transfers/${text(refund?.id)}`])
      assert(proposed.includes(shown), `${shown} is missing in ${proposed}`);
    const page = `/transfers/${text(refund?.id)}`;
    const { text: own1 } = await maria.get(page);
    assert(own1.includes('support: maria'), own1);
    assert.equal(findForm(own1, `${page}/approve`), null, 'the button of the second person');
    const forced = {
      ...actFields(maria, 'approve', text(refund?.id)),
      reason: 'alone',
      code: await desk.freshCode(maria.person),
    };
    assert.equal((await maria.post(`${page}/approve`, forced)).status, 403);
    assert((await sofia.get('/')).text.includes(page));
    const code = await desk.freshCode(sofia.person);
    const approved = await sofia.act(page, 'approve', { reason: 'as agreed', code });
    assert.equal(approved.status, 303, approved.text);
    assert.equal((await own.read(refund?.id)).status, 'completed');
    const { text: after } = await maria.get(`/transfers/${id}`);
    assert(after.includes('Refunded') && !after.includes('Refunds that wait'), after);
    assert((await maria.get(page)).text.includes(`href="/transfers/${id}"`));
    assert.deepEqual(
      (await desk.acts(id)).map(({ action, actorClaimed }) => [action, actorClaimed]),
      [['transfer.refund', 'maria']],
    );
  });

  it('that was proposed can be approved by a member, or canceled by the proposer', async () => {
    const { maria } = world;
    const id = text((await own.bank.sent({ from: payer, to: own.guarded, raw: RAW })).id);
    await propose(`/transfers/${id}`, '1.00');
    const [first] = await refundsOf(id);
    answered(await own.act('approve', first?.id, 'approver'), 200);
    await propose(`/transfers/${id}`, '');
    const [second] = await refundsOf(id);
    assert.equal(object(second?.amount).raw, `${RAW - 100n}`);
    const canceled = await maria.act(`/transfers/${text(second?.id)}`, 'cancel', { reason: 'no' });
    assert.equal(canceled.status, 303, canceled.text);
    assert.equal((await own.read(second?.id)).status, 'rejected');
    assert.deepEqual((await own.read(id)).refunded, { raw: '100', asset: 'COPM' });
  });

  it('of a transfer captured in part is proposed on a page with the fee that was charged', async () => {
    const { database, deps } = world.db;
    const { id: tenantId } = own.bank.tenant.tenant;
    await setFeeAccount(deps, tenantId, (await own.account()).id, TEST_ACTOR);
    await setFee(database, { tenantId, basisPoints: 1_000n });
    const { id } = await own.bank.sent({
      ...{ from: payer, to: own.guarded, raw: RAW },
      capture: 'manual',
    });
    const body = { amount: { raw: `${LEAST}`, asset: 'COPM' } };
    answered(await own.bank.request('POST', `/v1/transfers/${text(id)}/capture`, { body }), 200);
    const { text: page } = await world.maria.get(`/transfers/${text(id)}`);
    const [, fee] = />Fee<[^0-9]*([0-9.,]+ COPM)/.exec(page) ?? [];
    assert.equal(fee, formatAmount({ raw: LEAST / 10n, asset: 'COPM' }));
  });

  it('of a bonus is proposed on its page, which the search finds, and refused for more than is left', async () => {
    const { desk, maria } = world;
    const body = {
      ...{ source_account: payer.id, recipient: { account_id: own.guarded.id } },
      ...{ amount: { raw: `${RAW}`, asset: 'COPM' }, reference: randomUUID() },
    };
    const made = answered(await own.bank.request('POST', '/v1/bonuses', { body }), 201);
    const id = text(made.json.id);
    const found = await maria.get(`/search?text=${id}`);
    assert.equal(found.headers.get('location'), `/bonuses/${id}`);
    await propose(`/bonuses/${id}`, '5,000.00');
    const [refund] = await refundsOf(id);
    assert.deepEqual(refund?.refund_of, { type: 'bonus', id });
    const { text: page } = await maria.get(`/bonuses/${id}`);
    assert.equal(findForm(page, `/bonuses/${id}/refund`), null, 'nothing is left');
    const form = { ...actFields(maria, 'refund', id), amount: '0.01', reason: 'more' };
    const more = { ...form, code: await desk.freshCode(maria.person) };
    const refused = await maria.post(`/bonuses/${id}/refund`, more);
    assert.match(refused.text, /0\.00 COPM can still be refunded/);
    const last = (await desk.acts(id)).at(-1);
    assert(last?.action === 'transfer.refund_refused');
    const message = '0.01 COPM were requested, 0.00 COPM can still be refunded';
    assert.deepEqual(parseDetails(last), { reason: 'more', refused: message });
    assert.equal((await refundsOf(id)).length, 1);
  });
});
